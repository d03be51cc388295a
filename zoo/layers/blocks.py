"""Transformer encoder and decoder blocks (Vaswani et al. 2017, section 3.1)."""

import keras
from keras import ops

from zoo.layers.masks import ExplicitMasks
from zoo.layers.multi_head import MultiHeadAttention
from zoo.layers.sublayers import FeedForward, Residual


class Block(ExplicitMasks):
    """What all blocks share: self-attention and the feed-forward sub-layer, each in a residual.

    Args:
        attention: options of each attention (see `MultiHeadAttention`), such as {"heads": 8}.
        feedforward, activation: see `FeedForward`.
        dropout, norm, normalization, epsilon: see `Residual`.
        role: prefix of the names under which the block's weights go to a tap, such as "encoder/0".
    """

    def __init__(
        self,
        attention,
        feedforward,
        activation="relu",
        dropout=0.0,
        norm="post",
        normalization="layer",
        epsilon=1e-6,
        role="block",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.residual = {"dropout": dropout, "norm": norm, "normalization": normalization, "epsilon": epsilon}
        self.sizes = {"attention": dict(attention), "feedforward": feedforward, "activation": activation, "role": role}
        self.self_attention = self._attention("self", self.sizes["attention"])
        self.self_residual = self._residual("self_residual")
        self.feedforward = FeedForward(feedforward, activation, name="feedforward", dtype=self.dtype_policy)
        self.feedforward_residual = self._residual("feedforward_residual")

    def _attention(self, kind, options):
        role, name = f"{self.sizes['role']}/{kind}", f"{kind}_attention"
        return MultiHeadAttention(**options, role=role, name=name, dtype=self.dtype_policy)

    def _residual(self, name):
        return Residual(**self.residual, name=name, dtype=self.dtype_policy)

    def build(self, shape):
        for layer in (self.self_attention, self.self_residual, self.feedforward, self.feedforward_residual):
            layer.build(shape)

    def _attend(self, x, mask, bias, cache=None, index=0, places=None, slot=None, training=None):
        """The first sub-layer; returns (x, the keys and values that it used)."""
        hidden = self.self_residual.enter(x)
        kept = self.self_attention.project(hidden, start=index)
        if cache is None:
            keys = {"projected": kept}
        else:
            where = (0, 0, index if slot is None else slot, 0)
            new = self.self_attention.keep(kept)
            kept = tuple(ops.slice_update(old, where, row) for old, row in zip(cache, new, strict=True))
            keys = {"kept": kept}
        attended = self.self_attention(
            hidden, mask=mask, bias=bias, start=index, places=places, training=training, **keys
        )
        return self.self_residual.leave(x, attended, training), kept

    def _feed(self, x, training):
        fed = self.feedforward(self.feedforward_residual.enter(x))
        return self.feedforward_residual.leave(x, fed, training)

    def get_config(self):
        return {**super().get_config(), **self.sizes, **self.residual}


@keras.saving.register_keras_serializable("zoo")
class EncoderBlock(Block):
    """Self-attention, then feed-forward, each in a residual (Vaswani et al. 2017, Figure 1, left)."""

    def call(self, x, mask=None, bias=None, training=None):
        """x (B, S, d), mask bool and bias float, both broadcastable to (B, H, S, S) -> (B, S, d)."""
        x, _ = self._attend(x, mask, bias, training=training)
        return self._feed(x, training)


@keras.saving.register_keras_serializable("zoo")
class CausalBlock(Block):
    """The block of a decoder without encoder: the encoder's, over positions that come one by one (GPT)."""

    def call(self, x, mask=None, bias=None, cache=None, index=0, training=None):
        """Runs the block over positions; the arguments and what is returned are `DecoderBlock`'s."""
        x, kept = self._attend(x, mask, bias, cache, index, training=training)
        return self._feed(x, training), kept


@keras.saving.register_keras_serializable("zoo")
class DecoderBlock(Block):
    """Causal self-attention, attention to the encoder, feed-forward (Vaswani et al. 2017, Figure 1, right).

    Training calls it on a whole target, decoding on one position with a cache; the code is the same. Positions that
    act inside the attention (`relation`) are those of self-attention: distances to a source mean nothing.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.cross_attention = self._attention("cross", {**self.sizes["attention"], "relation": None})
        self.cross_residual = self._residual("cross_residual")

    def build(self, shape):
        super().build(shape)
        self.cross_attention.build(shape)
        self.cross_residual.build(shape)

    def call(
        self,
        x,
        projected,
        mask=None,
        cross_mask=None,
        bias=None,
        cache=None,
        index=0,
        places=None,
        slot=None,
        training=None,
    ):
        """Runs the block over target positions.

        Args:
            x: (B, T, d).
            projected: keys and values of the encoder's output, from `cross_attention.project`. (Under the name `cross`
                Keras would fill in `cross_mask` by itself.)
            mask: bool, broadcastable to (B, H, T, keys), for self-attention.
            cross_mask: bool, broadcastable to (B, H, T, S).
            bias: float, broadcastable to (B, H, T, keys), added to the scores of self-attention.
            cache: keys and values of self-attention (B, K, L, d_k), (B, K, L, d_v), written from `slot` on; then
                `projected` is laid out like it, by `MultiHeadAttention.keep`.
            index: int or scalar tensor, the position of x's first row.
            places: positions of the cached keys (L,), where they are not 0, 1, ...
            slot: where in the cache x's first row goes; default `index`.
        Returns:
            (x (B, T, d), the keys and values that self-attention used: the cache for the next position).
        """
        x, kept = self._attend(x, mask, bias, cache, index, places, slot, training)
        hidden = self.cross_residual.enter(x)
        keys = {"projected" if cache is None else "kept": projected}
        attended = self.cross_attention(hidden, mask=cross_mask, training=training, **keys)
        return self._feed(self.cross_residual.leave(x, attended, training), training), kept
