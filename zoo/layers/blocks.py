"""Transformer encoder and decoder blocks (Vaswani et al. 2017, section 3.1)."""

import keras
from keras import ops

from zoo.layers.masks import ExplicitMasks
from zoo.layers.multi_head import MultiHeadAttention

NORMS = ("post", "pre")


@keras.saving.register_keras_serializable("zoo")
class Residual(keras.layers.Layer):
    """What surrounds each sub-layer f.

        post   LayerNorm(x + Dropout(f(x)))           Vaswani et al. 2017, sections 3.1 and 5.4
        pre    x + Dropout(f(LayerNorm(x)))           Wang et al. 2019; the stack then ends in a LayerNorm of its own

    Used as `y = f(residual.enter(x)); x = residual.leave(x, y)`, so that f may take whatever arguments it needs.
    """

    def __init__(self, dropout=0.0, norm="post", **kwargs):
        super().__init__(**kwargs)
        if norm not in NORMS:
            raise ValueError(f"norm={norm!r}: must be one of {', '.join(map(repr, NORMS))}")
        self.norm = norm
        self.rate = dropout
        self.dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy)
        self.normalize = keras.layers.LayerNormalization(epsilon=1e-6, name="norm", dtype=self.dtype_policy)

    def build(self, shape):
        self.normalize.build(shape)

    def enter(self, x):
        return self.normalize(x) if self.norm == "pre" else x

    def leave(self, x, y, training=None):
        x = x + self.dropout(y, training=training)
        return self.normalize(x) if self.norm == "post" else x

    def get_config(self):
        return {**super().get_config(), "dropout": self.rate, "norm": self.norm}


@keras.saving.register_keras_serializable("zoo")
class FeedForward(keras.layers.Layer):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, at each position alike (Vaswani et al. 2017, Eq. 2).

    Args:
        units: d_ff, the inner width.
    """

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.inner = keras.layers.Dense(self.units, activation="relu", name="inner", dtype=self.dtype_policy)
        self.inner.build(shape)
        self.outer = keras.layers.Dense(shape[-1], name="outer", dtype=self.dtype_policy)
        self.outer.build((*shape[:-1], self.units))

    def call(self, x):
        return self.outer(self.inner(x))

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class Block(ExplicitMasks):
    """What encoder and decoder blocks share: their sizes, self-attention and the feed-forward sub-layer.

    Args:
        heads, key_width, value_width, attention_bias: of the attention (see `MultiHeadAttention`).
        feedforward: d_ff.
        dropout: rate on each sub-layer's output.
        norm: "post" or "pre" (see `Residual`).
        role: prefix of the names under which the block's weights go to a tap, such as "encoder/0".
    """

    def __init__(
        self,
        heads,
        feedforward,
        dropout=0.0,
        norm="post",
        key_width=None,
        value_width=None,
        attention_bias=False,
        role="block",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.sizes = {
            "heads": heads,
            "feedforward": feedforward,
            "dropout": dropout,
            "norm": norm,
            "key_width": key_width,
            "value_width": value_width,
            "attention_bias": attention_bias,
            "role": role,
        }
        self.self_attention = self._attention("self")
        self.self_residual = self._residual("self_residual")
        self.feedforward = FeedForward(feedforward, name="feedforward", dtype=self.dtype_policy)
        self.feedforward_residual = self._residual("feedforward_residual")

    def _attention(self, kind):
        return MultiHeadAttention(
            self.sizes["heads"],
            key_width=self.sizes["key_width"],
            value_width=self.sizes["value_width"],
            bias=self.sizes["attention_bias"],
            role=f"{self.sizes['role']}/{kind}",
            name=f"{kind}_attention",
            dtype=self.dtype_policy,
        )

    def _residual(self, name):
        return Residual(self.sizes["dropout"], self.sizes["norm"], name=name, dtype=self.dtype_policy)

    def build(self, shape):
        for layer in (self.self_attention, self.self_residual, self.feedforward, self.feedforward_residual):
            layer.build(shape)

    def _feed(self, x, training):
        fed = self.feedforward(self.feedforward_residual.enter(x))
        return self.feedforward_residual.leave(x, fed, training)

    def get_config(self):
        return {**super().get_config(), **self.sizes}


@keras.saving.register_keras_serializable("zoo")
class EncoderBlock(Block):
    """Self-attention, then feed-forward, each in a residual (Vaswani et al. 2017, Figure 1, left)."""

    def call(self, x, mask=None, training=None):
        """x (B, S, d), mask bool broadcastable to (B, H, S, S) -> (B, S, d)."""
        hidden = self.self_residual.enter(x)
        attended = self.self_attention(hidden, hidden, mask=mask)
        return self._feed(self.self_residual.leave(x, attended, training), training)


@keras.saving.register_keras_serializable("zoo")
class DecoderBlock(Block):
    """Causal self-attention, attention to the encoder, feed-forward (Vaswani et al. 2017, Figure 1, right).

    Training calls it on a whole target, decoding on one position with a cache; the code is the same.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.cross_attention = self._attention("cross")
        self.cross_residual = self._residual("cross_residual")

    def build(self, shape):
        super().build(shape)
        self.cross_attention.build(shape)
        self.cross_residual.build(shape)

    def call(self, x, projected, mask=None, cross_mask=None, cache=None, index=None, training=None):
        """Runs the block over target positions.

        Args:
            x: (B, T, d).
            projected: keys and values of the encoder's output, from `cross_attention.project`. (Under the name `cross`
                Keras would fill in `cross_mask` by itself.)
            mask: bool, broadcastable to (B, H, T, keys), for self-attention.
            cross_mask: bool, broadcastable to (B, H, T, S).
            cache: keys and values of self-attention (B, L, H, d_k), (B, L, H, d_v), written from position `index` on.
            index: int or scalar tensor, the position of x's first row in the cache.
        Returns:
            (x (B, T, d), the keys and values that self-attention used: the cache for the next position).
        """
        hidden = self.self_residual.enter(x)
        kept = self.self_attention.project(hidden)
        if cache is not None:
            kept = tuple(ops.slice_update(old, (0, index, 0, 0), new) for old, new in zip(cache, kept, strict=True))
        attended = self.self_attention(hidden, mask=mask, projected=kept)
        x = self.self_residual.leave(x, attended, training)
        attended = self.cross_attention(self.cross_residual.enter(x), mask=cross_mask, projected=projected)
        x = self.cross_residual.leave(x, attended, training)
        return self._feed(x, training), kept
