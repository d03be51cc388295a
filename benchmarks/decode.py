"""What decoding costs, beside KerasHub and, where installed, Hugging Face and CTranslate2: sentences a second, one run.

    python benchmarks/decode.py            # base sizes, vocabulary 8,000, 32 tokens in and out, random weights
    python benchmarks/decode.py --rows 1 --rounds 9 --only zoo KerasHub

All have a Transformer of the same sizes and write exactly as many tokens, greedily and with four beams. KerasHub's is
its BART, the nearest that it can search with, Hugging Face's is Marian. Engines take turns, and the median counts. The
last column is what the zoo writes as a multiple of the other.
"""

import argparse
import statistics
import time

import keras
import numpy as np

import zoo

SIZES = {"width": 512, "depth": 6, "heads": 8, "feedforward": 2048}
VOCABULARY, LENGTH, BEAMS = 8000, 32, 4


def the_zoo(dtype="float32", jit_compile=False):
    sizes = {"source_vocab": VOCABULARY, "target_vocab": VOCABULARY}
    model = zoo.build("transformer-base", **sizes, **SIZES, dtype=dtype)
    model.compile(jit_compile=jit_compile)

    def run(source, beams):
        if beams == 1:
            found = zoo.greedy(model, source, max_length=LENGTH)
        else:
            found = zoo.beam_search(model, source, beams, n_best=1, max_length=LENGTH, min_length=LENGTH)
        assert (found.lengths == LENGTH).all()

    return run


def ctranslate2_engine(compute_type):
    import tempfile

    import ctranslate2
    from ctranslate2.specs import TransformerSpec

    width, depth, feedforward, random = SIZES["width"], SIZES["depth"], SIZES["feedforward"], np.random.default_rng(1)
    spec = TransformerSpec.from_config((depth, depth), SIZES["heads"], pre_norm=False)

    def dense(layer, inputs, outputs):
        layer.weight = random.normal(size=(outputs, inputs), scale=inputs**-0.5).astype("float32")
        layer.bias = np.zeros(outputs, "float32")

    def norm(layer):
        layer.gamma, layer.beta = np.ones(width, "float32"), np.zeros(width, "float32")

    def table(rows):
        return random.normal(size=(rows, width), scale=width**-0.5).astype("float32")

    spec.encoder.embeddings[0].weight, spec.decoder.embeddings.weight = table(VOCABULARY), table(VOCABULARY)
    dense(spec.decoder.projection, width, VOCABULARY)
    for side in (spec.encoder, spec.decoder):
        side.position_encodings.encodings = table(2 * LENGTH)
        for layer in side.layer:
            parts = [(layer.self_attention, (3 * width, width))]
            if side is spec.decoder:
                parts.append((layer.attention, (width, 2 * width, width)))
            for attention, outputs in parts:
                norm(attention.layer_norm)
                for linear, count in zip(attention.linear, outputs, strict=True):
                    dense(linear, width, count)
            norm(layer.ffn.layer_norm)
            dense(layer.ffn.linear_0, width, feedforward)
            dense(layer.ffn.linear_1, feedforward, width)
    tokens = ["<blank>", "<s>", "</s>", "<unk>", *(f"t{i}" for i in range(4, VOCABULARY))]
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    folder = tempfile.mkdtemp()
    spec.validate()
    spec.optimize()
    spec.save(folder)
    translator = ctranslate2.Translator(folder, compute_type=compute_type, inter_threads=1, intra_threads=2)

    def run(source, beams):
        rows = [[tokens[i] for i in row] for row in source]
        found = translator.translate_batch(
            rows, beam_size=beams, max_decoding_length=LENGTH, min_decoding_length=LENGTH, max_batch_size=len(rows)
        )
        assert all(len(one.hypotheses[0]) == LENGTH for one in found)

    return run


def keras_hub_engine(jit_compile=False):
    import keras_hub

    sizes = {"num_layers": SIZES["depth"], "num_heads": SIZES["heads"], "hidden_dim": SIZES["width"]}
    backbone = keras_hub.models.BartBackbone(
        vocabulary_size=VOCABULARY, intermediate_dim=SIZES["feedforward"], max_sequence_length=LENGTH, **sizes
    )
    models = {}
    for beams in (1, BEAMS):
        models[beams] = keras_hub.models.BartSeq2SeqLM(backbone, preprocessor=None)
        sampler = "greedy" if beams == 1 else keras_hub.samplers.BeamSampler(num_beams=beams)
        models[beams].compile(sampler=sampler, jit_compile=jit_compile)

    def run(source, beams):
        start = np.zeros((len(source), LENGTH), "int32")
        start[:, 0] = 1
        mask = np.zeros_like(start)
        mask[:, 0] = 1
        inputs = {"encoder_token_ids": source, "encoder_padding_mask": np.ones_like(source)}
        inputs.update(decoder_token_ids=start, decoder_padding_mask=mask)
        return models[beams].generate(inputs, stop_token_ids=None)

    return run


def hugging_face_engine(dtype):
    import torch
    from transformers import MarianConfig, MarianMTModel

    torch.manual_seed(1)
    sizes = {}
    for side in ("encoder", "decoder"):
        sizes.update({f"{side}_layers": SIZES["depth"], f"{side}_attention_heads": SIZES["heads"]})
        sizes[f"{side}_ffn_dim"] = SIZES["feedforward"]
    ids = {
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "forced_eos_token_id": None,
        "decoder_start_token_id": 1,
    }
    settings = MarianConfig(
        vocab_size=VOCABULARY, d_model=SIZES["width"], max_position_embeddings=2 * LENGTH, **sizes, **ids
    )
    model = MarianMTModel(settings).eval().to(getattr(torch, dtype))

    def run(source, beams):
        ids = torch.from_numpy(source).long()
        with torch.inference_mode():
            found = model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                num_beams=beams,
                do_sample=False,
                min_new_tokens=LENGTH,
                max_new_tokens=LENGTH,
            )
        assert found.shape[1] == LENGTH + 1

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
    parser.add_argument("--beams", type=int, nargs="+", default=[1, BEAMS], help="1 is greedy")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="engines to run")
    return parser.parse_args()


def main(settings):
    keras.utils.set_random_seed(1)
    makers = {
        "zoo": the_zoo,
        "zoo, XLA": lambda: the_zoo(jit_compile=True),
        "zoo, bfloat16": lambda: the_zoo("bfloat16"),
        "zoo, bfloat16, XLA": lambda: the_zoo("bfloat16", jit_compile=True),
        "KerasHub": keras_hub_engine,
        "KerasHub, XLA": lambda: keras_hub_engine(jit_compile=True),
        "Hugging Face": lambda: hugging_face_engine("float32"),
        "Hugging Face, bfloat16": lambda: hugging_face_engine("bfloat16"),
        "CTranslate2, float32": lambda: ctranslate2_engine("float32"),
        "CTranslate2, int8": lambda: ctranslate2_engine("int8"),
    }
    engines = {}
    for name, make in makers.items():
        if settings.only is None or name in settings.only:
            try:
                engines[name] = make()
            except ImportError as error:
                print(f"{name} is left out: {error}")
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
