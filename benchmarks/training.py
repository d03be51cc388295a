"""What a training step costs, beside KerasHub's blocks at the same sizes: ratios of one run, smaller is faster.

    python benchmarks/training.py            # transformer-small sizes, 32 pairs of 24 tokens, vocabulary 4,000

Both models are an embedding, the encoder, the decoder and logits over the same matrix; both train with the zoo's loss
and Adam, compiled without XLA. Their steps alternate, and the median counts.
"""

import argparse
import statistics
import time

import zoo

ROUNDS = 12


def ours(width, depth, heads, feedforward, vocabulary):
    sizes = {"width": width, "depth": depth, "heads": heads, "feedforward": feedforward}
    return zoo.build("transformer-base", source_vocab=vocabulary, target_vocab=vocabulary, **sizes)


def keras_hub_model(width, depth, heads, feedforward, vocabulary):
    import keras
    import keras_hub.layers as hub

    source, target = (keras.Input((None,), dtype="int32", name=name) for name in ("source", "target"))
    tokens = hub.ReversibleEmbedding(vocabulary, width, tie_weights=True)
    positions = hub.SinePositionEncoding()
    sizes = {"intermediate_dim": feedforward, "num_heads": heads, "dropout": 0.1}
    x, y = (embedded + positions(embedded) for embedded in (tokens(source), tokens(target)))
    mask = keras.ops.not_equal(source, 0)
    for _ in range(depth):
        x = hub.TransformerEncoder(**sizes)(x, padding_mask=mask)
    for _ in range(depth):
        y = hub.TransformerDecoder(**sizes)(y, x, encoder_padding_mask=mask)
    return keras.Model({"source": source, "target": target}, tokens(y, reverse=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in {"width": 256, "depth": 3, "heads": 4, "feedforward": 1024, "vocabulary": 4000}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    sizes = vars(parser.parse_args())
    zoo.quiet()
    import keras
    import numpy as np

    random = np.random.default_rng(1)
    source, target, labels = (random.integers(4, sizes["vocabulary"], (32, 24)).astype("int32") for _ in range(3))
    models = {"zoo": ours(**sizes), "KerasHub": keras_hub_model(**sizes)}
    times = {name: [] for name in models}
    for model in models.values():
        model.compile(keras.optimizers.Adam(1e-4), loss=zoo.TokenCrossEntropy(0.1), jit_compile=False)
        model.train_on_batch({"source": source, "target": target}, labels)
    for _ in range(ROUNDS):
        for name, model in models.items():
            start = time.perf_counter()
            model.train_on_batch({"source": source, "target": target}, labels)
            times[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, model in models.items():
        ratio = medians[name] / medians["zoo"]
        print(f"{name:<9} {model.count_params():>11,} parameters  {1000 * medians[name]:7.1f} ms a step  x{ratio:.2f}")


if __name__ == "__main__":
    main()
