"""What each attention mechanism costs, beside the nearest layer of Keras (and of PyTorch, where installed).

    python benchmarks/layers.py            # 32 rows, 64 queries on 64 keys, width 256, 8 heads; float32, no maps

Keras's `Attention` and `AdditiveAttention` have no weights of their own, so they get the same dense projections in
front that the zoo's layers have inside; local-p's peer also gets its two dense layers for the position, rotary's is put
together from KerasHub's `RotaryEmbedding` and Keras's dense layers and `dot_product_attention`. Mechanisms that Keras
lacks are set beside its nearest. All are compiled, without XLA; the two of a pair take turns, and the median counts. A
ratio over 1 says that the zoo is faster.
"""

import statistics
import time

import keras
import keras_hub
import numpy as np
import tensorflow as tf
from keras import layers

import zoo
from zoo.layers.additive import AdditiveAttention
from zoo.layers.multi_head import MultiHeadAttention
from zoo.layers.multiplicative import MultiplicativeAttention
from zoo.layers.relations import BucketedBias, LinearBias

ROWS, LENGTH, WIDTH, HEADS, HEAD, ROUNDS = 32, 64, 256, 8, 32, 30
PLACES = np.arange(LENGTH)
CAUSAL = np.tril(np.ones((LENGTH, LENGTH), bool))[None]


def ours_multi_head(**options):
    layer = MultiHeadAttention(HEADS, bias=True, **options)
    return lambda x: layer(x, x, mask=CAUSAL[:, None])


def biased(positions):
    layer = MultiHeadAttention(HEADS, bias=True)
    return lambda x: layer(x, x, mask=CAUSAL[:, None], bias=positions(PLACES, PLACES))


def windowed(window):
    layer = MultiHeadAttention(HEADS, bias=True)
    near = abs(PLACES[:, None] - PLACES) < window
    return lambda x: layer(x, x, mask=CAUSAL[:, None] & near)


def first(layer):
    return lambda x: layer(x, x, mask=tf.ones((ROWS, LENGTH), "bool"))[0]


def keras_multi_head():
    layer = layers.MultiHeadAttention(HEADS, HEAD)
    return lambda x: layer(x, x, attention_mask=CAUSAL)


def keras_grouped(key_heads):
    layer = layers.GroupQueryAttention(HEAD, HEADS, key_heads)
    return lambda x: layer(x, x, attention_mask=CAUSAL)


def keras_additive():
    query, key, layer = layers.Dense(WIDTH), layers.Dense(WIDTH, use_bias=False), layers.AdditiveAttention()
    mask = tf.ones((ROWS, LENGTH), "bool")
    return lambda x: layer([query(x), x, key(x)], mask=[mask, mask])


def keras_dot(general):
    key, layer = layers.Dense(WIDTH, use_bias=False), layers.Attention()
    mask = tf.ones((ROWS, LENGTH), "bool")
    return lambda x: layer([x, x, key(x) if general else x], mask=[mask, mask])


def keras_with_position():
    attend, hidden, position = keras_dot(True), layers.Dense(WIDTH, "tanh"), layers.Dense(1, "sigmoid")
    return lambda x: attend(x) * position(hidden(x))


def keras_hub_rotary():
    turn = keras_hub.layers.RotaryEmbedding()
    query, key, value, output = (layers.Dense(WIDTH) for _ in range(4))

    def split(dense, x):
        return tf.reshape(dense(x), (ROWS, LENGTH, HEADS, HEAD))

    def attend(x):
        heads = keras.ops.dot_product_attention(
            turn(split(query, x)), turn(split(key, x)), split(value, x), mask=CAUSAL[:, None]
        )
        return output(tf.reshape(heads, (ROWS, LENGTH, WIDTH)))

    return attend


PAIRS = {
    "additive": (lambda: first(AdditiveAttention(WIDTH)), keras_additive),
    "dot": (lambda: first(MultiplicativeAttention("dot")), lambda: keras_dot(False)),
    "general": (lambda: first(MultiplicativeAttention("general")), lambda: keras_dot(True)),
    "concat": (lambda: first(MultiplicativeAttention("concat", units=WIDTH)), keras_additive),
    "local-m general": (lambda: first(MultiplicativeAttention("general", local="m")), lambda: keras_dot(True)),
    "local-p general": (lambda: first(MultiplicativeAttention("general", local="p")), keras_with_position),
    "multi-head": (ours_multi_head, keras_multi_head),
    "grouped, 2 key heads": (lambda: ours_multi_head(key_heads=2), lambda: keras_grouped(2)),
    "multi-query": (lambda: ours_multi_head(key_heads=1), lambda: keras_grouped(1)),
    "rotary": (lambda: ours_multi_head(relation="rope"), keras_hub_rotary),
    "relative, k = 16": (lambda: ours_multi_head(relation="relative"), keras_multi_head),
    "ALiBi": (lambda: biased(LinearBias(HEADS)), keras_multi_head),
    "T5 bias": (lambda: biased(BucketedBias(HEADS, two_sided=False)), keras_multi_head),
    "window, 16": (lambda: windowed(16), keras_multi_head),
}


class Case:
    """One layer as two compiled functions: forward, and forward with all gradients."""

    def __init__(self, layer):
        self.forward = tf.function(layer)

        @tf.function
        def both(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(layer(x) ** 2)
            return tape.gradient(loss, [x, *tape.watched_variables()], unconnected_gradients="zero")

        self.both = both


def torch_case():
    """PyTorch's layer in the same two forms, or None."""
    try:
        import torch
    except ImportError:
        return None
    layer = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    mask = torch.from_numpy(~CAUSAL[0])

    def attend(x):
        return layer(x, x, x, attn_mask=mask, need_weights=False)[0]

    class Torch:
        def forward(self, x):
            with torch.no_grad():
                return attend(torch.from_numpy(x.numpy()))

        def both(self, x):
            x = torch.from_numpy(x.numpy()).requires_grad_()
            (attend(x) ** 2).sum().backward()
            return x.grad

    return Torch()


def medians(cases, x):
    """Milliseconds of each case's two functions, taken in turns."""
    times = {(name, kind): [] for name in cases for kind in ("forward", "both")}
    for _ in range(2 + ROUNDS):
        for name, kind in times:
            start = time.perf_counter()
            np.asarray(tf.nest.flatten(getattr(cases[name], kind)(x))[0])
            times[name, kind].append(time.perf_counter() - start)
    return {which: 1000 * statistics.median(values[2:]) for which, values in times.items()}


def main():
    keras.utils.set_random_seed(1)
    x = tf.random.normal((ROWS, LENGTH, WIDTH))
    columns = "mechanism", "beside", "forward ms", "ratio", "forward + backward ms", "ratio"
    rows = []
    for name, (ours, theirs) in PAIRS.items():
        cases = {"zoo": Case(ours()), "Keras": Case(theirs())}
        if name == "multi-head" and torch_case():
            cases["PyTorch"] = torch_case()
        times = medians(cases, x)
        for other in list(cases)[1:]:
            cells = []
            for kind in ("forward", "both"):
                cells += [f"{times['zoo', kind]:.1f}", f"{times[other, kind] / times['zoo', kind]:.2f}"]
            rows.append((name, other, *cells))
    print(zoo.markdown_table(columns, rows))


if __name__ == "__main__":
    main()
