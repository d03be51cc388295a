"""What decoding costs, beside KerasHub: sentences per second in one run.

    python benchmarks/decode.py            # base sizes, vocabulary 8,000, 32 tokens in and out, random weights
    python benchmarks/decode.py --rows 1 --rounds 9

Both have a Transformer of the same sizes and write exactly as many tokens, with one beam and with four. KerasHub's is
its BART, the nearest that it can search with. Engines take turns, and the median counts. The last column is what the
zoo writes as a multiple of the other.
"""

import argparse
import statistics
import time

import keras
import numpy as np

import zoo

SIZES = {"width": 512, "depth": 6, "heads": 8, "feedforward": 2048}
VOCABULARY, LENGTH, BEAMS = 8000, 32, 4


def the_zoo(dtype):
    sizes = {"source_vocab": VOCABULARY, "target_vocab": VOCABULARY}
    model = zoo.build("transformer-base", **sizes, **SIZES, dtype=dtype)

    def run(source, beams):
        return zoo.beam_search(model, source, beams, n_best=1, max_length=LENGTH, min_length=LENGTH)

    return run


def keras_hub_engine():
    import keras_hub

    sizes = {"num_layers": SIZES["depth"], "num_heads": SIZES["heads"], "hidden_dim": SIZES["width"]}
    backbone = keras_hub.models.BartBackbone(
        vocabulary_size=VOCABULARY, intermediate_dim=SIZES["feedforward"], max_sequence_length=LENGTH, **sizes
    )
    models = {}
    for beams in (1, BEAMS):
        models[beams] = keras_hub.models.BartSeq2SeqLM(backbone, preprocessor=None)
        sampler = "greedy" if beams == 1 else keras_hub.samplers.BeamSampler(num_beams=beams)
        models[beams].compile(sampler=sampler)

    def run(source, beams):
        start = np.zeros((len(source), LENGTH), "int32")
        start[:, 0] = 1
        mask = np.zeros_like(start)
        mask[:, 0] = 1
        inputs = {"encoder_token_ids": source, "encoder_padding_mask": np.ones_like(source)}
        inputs.update(decoder_token_ids=start, decoder_padding_mask=mask)
        return models[beams].generate(inputs, stop_token_ids=None)

    return run


def rates(engines, source, beams, rounds):
    times = {name: [] for name in engines}
    for _ in range(1 + rounds):
        for name, run in engines.items():
            start = time.perf_counter()
            run(source, beams)
            times[name].append(time.perf_counter() - start)
    return {name: len(source) / statistics.median(values[1:]) for name, values in times.items()}


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 32], help="sentences at a time")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, BEAMS])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="engines to run")
    return parser.parse_args()


def main(settings):
    keras.utils.set_random_seed(1)
    makers = {
        "zoo": lambda: the_zoo("float32"),
        "zoo, bfloat16": lambda: the_zoo("bfloat16"),
        "KerasHub": keras_hub_engine,
    }
    engines = {name: make() for name, make in makers.items() if settings.only is None or name in settings.only}
    random, rows = np.random.default_rng(1), []
    for count in settings.rows:
        source = random.integers(4, VOCABULARY, (count, LENGTH)).astype("int32")
        for beams in settings.beams:
            found = rates(engines, source, beams, settings.rounds)
            for name, rate in found.items():
                ratio = f"{found['zoo'] / rate:.2f}" if "zoo" in found else ""
                rows.append((count, beams, name, f"{rate:.2f}", ratio))
                print(rows[-1], flush=True)
    print(zoo.markdown_table(("sentences", "beams", "engine", "sentences/s", "zoo / it"), rows))


if __name__ == "__main__":
    main(options())
