"""What a Transformer block is made of beside its attention: residuals, normalisation, feed-forward."""

import keras
from keras import ops

NORMS = ("post", "pre")
NORMALIZATIONS = ("layer", "rms")
ACTIVATIONS = {
    "relu": ops.relu,
    "gelu": lambda x: ops.gelu(x, approximate=False),
    "gelu-tanh": lambda x: ops.gelu(x, approximate=True),
    "swiglu": ops.silu,
}


def normalizer(kind, epsilon=1e-6, **kwargs):
    """A layer that normalises the last axis.

        layer   g (x - mean) / sqrt(variance + epsilon) + b        Ba et al. 2016
        rms     g x / sqrt(mean of x^2 + epsilon)                  Zhang and Sennrich 2019

    Raises:
        ValueError: another kind.
    """
    if kind not in NORMALIZATIONS:
        raise ValueError(f"normalization={kind!r}: must be one of {', '.join(map(repr, NORMALIZATIONS))}")
    layer = keras.layers.LayerNormalization if kind == "layer" else keras.layers.RMSNormalization
    return layer(epsilon=epsilon, **kwargs)


@keras.saving.register_keras_serializable("zoo")
class Residual(keras.layers.Layer):
    """What surrounds each sub-layer f.

        post   Norm(x + Dropout(f(x)))           Vaswani et al. 2017, sections 3.1 and 5.4
        pre    x + Dropout(f(Norm(x)))           Wang et al. 2019; the stack then ends in a normalisation of its own

    Used as `y = f(residual.enter(x)); x = residual.leave(x, y)`, so that f may take whatever arguments it needs.

    Args:
        dropout: rate on f's output.
        norm: "post" or "pre".
        normalization, epsilon: see `normalizer`.
    """

    def __init__(self, dropout=0.0, norm="post", normalization="layer", epsilon=1e-6, **kwargs):
        super().__init__(**kwargs)
        if norm not in NORMS:
            raise ValueError(f"norm={norm!r}: must be one of {', '.join(map(repr, NORMS))}")
        self.sizes = {"dropout": dropout, "norm": norm, "normalization": normalization, "epsilon": epsilon}
        self.norm = norm
        self.dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy)
        self.normalize = normalizer(normalization, epsilon, name="norm", dtype=self.dtype_policy)

    def build(self, shape):
        self.normalize.build(shape)

    def enter(self, x):
        return self.normalize(x) if self.norm == "pre" else x

    def leave(self, x, y, training=None):
        x = x + self.dropout(y, training=training)
        return self.normalize(x) if self.norm == "post" else x

    def get_config(self):
        return {**super().get_config(), **self.sizes}


@keras.saving.register_keras_serializable("zoo")
class FeedForward(keras.layers.Layer):
    """Two dense layers at each position alike.

        relu        max(0, x W_1 + b_1) W_2 + b_2                     Vaswani et al. 2017, Eq. 2
        gelu        the same with x Phi(x) for max(0, x)              Hendrycks and Gimpel 2016; BERT
        gelu-tanh   Phi approximated with a tanh                      GPT-2
        swiglu      (silu(x W_1) * x V) W_2, no biases                Shazeer 2020, Eq. 6

    Args:
        units: d_ff, the inner width.
        activation: one of the four names.
    Raises:
        ValueError: an activation of another name.
    """

    def __init__(self, units, activation="relu", **kwargs):
        super().__init__(**kwargs)
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation={activation!r}: must be one of {', '.join(map(repr, ACTIVATIONS))}")
        self.units = units
        self.activation = activation
        dense = {"use_bias": activation != "swiglu", "dtype": self.dtype_policy}
        self.inner = keras.layers.Dense(units, activation=ACTIVATIONS[activation], name="inner", **dense)  # W_1
        self.gate = keras.layers.Dense(units, name="gate", **dense) if activation == "swiglu" else None  # V
        self.dense = dense

    def build(self, shape):
        self.inner.build(shape)
        if self.gate is not None:
            self.gate.build(shape)
        self.outer = keras.layers.Dense(shape[-1], name="outer", **self.dense)  # W_2
        self.outer.build((*shape[:-1], self.units))

    def call(self, x):
        hidden = self.inner(x)
        return self.outer(hidden if self.gate is None else hidden * self.gate(x))

    def get_config(self):
        return {**super().get_config(), "units": self.units, "activation": self.activation}
