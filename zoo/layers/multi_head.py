"""Multi-head scaled dot-product attention (Vaswani et al. 2017)."""

import keras
from keras import ops

from zoo.layers.masks import ExplicitMasks, masked_softmax
from zoo.layers.relations import RelativeTables, positions_from, rotate
from zoo.layers.tap import emit, listening

RELATIONS = (None, "rope", "relative")


@keras.saving.register_keras_serializable("zoo")
class MultiHeadAttention(ExplicitMasks):
    """Attends in several learned subspaces at once.

        Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V                                  (Eq. 1)
        MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O
        head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V)

    Vaswani et al. 2017, section 3.2.2. Each of W^Q, W^K, W^V, W^O is one matrix with the heads side by side. The query
    is scaled before the product, not the scores after it: equal in exact arithmetic, and float16 does not overflow.

    With fewer key heads than heads, neighbouring query heads share one: h / key_heads of them in grouped-query
    attention (Ainslie et al. 2023), all in multi-query attention (`key_heads=1`, Shazeer 2019).

    Args:
        heads: h.
        key_heads: heads of keys and values; None = h. Must divide h.
        key_width: d_k of one head; default width / heads.
        value_width: d_v of one head; default width / heads.
        bias: whether the four projections have biases; the paper's equations have none.
        dropout: rate on the weights while training; the paper has none, BERT and GPT-2 have.
        relation: None; "rope", rotary positions of queries and keys; "relative", vectors for clipped distances.
        clip: k of "relative".
        shared_relation: whether the heads of "relative" share their vectors.
        role: the name under which weights (B, H, T, S) go to an open tap, such as "encoder/0/self".
    Raises:
        ValueError: at build time, when heads do not divide the width and a head's width was not given, key heads do not
            divide heads, or a rotary head has an odd width.

    Example::

        layer = MultiHeadAttention(heads=8)
        attended = layer(states, memory, mask=padding[:, None, None, :])   # (B, T, width)
    """

    def __init__(
        self,
        heads,
        key_heads=None,
        key_width=None,
        value_width=None,
        bias=False,
        dropout=0.0,
        relation=None,
        clip=16,
        shared_relation=False,
        role="attention",
        **kwargs,
    ):
        super().__init__(**kwargs)
        if heads % (key_heads or heads):
            raise ValueError(f"key_heads={key_heads} does not divide heads={heads}: change one")
        if relation not in RELATIONS:
            raise ValueError(f"relation={relation!r}: must be one of {', '.join(map(repr, RELATIONS))}")
        self.sizes = {"heads": heads, "key_heads": key_heads, "key_width": key_width, "value_width": value_width}
        self.options = {"bias": bias, "dropout": dropout, "relation": relation, "clip": clip}
        self.options["shared_relation"] = shared_relation
        self.heads, self.key_heads = heads, key_heads or heads
        self.role = role
        self.dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy)

    def build(self, query_shape, memory_shape=None):
        width = query_shape[-1]
        memory_shape = memory_shape or query_shape
        key_width, value_width = (self._head_width(width, self.sizes[side]) for side in ("key_width", "value_width"))
        self.scale = key_width**-0.5

        def projection(name, units, shape):
            layer = keras.layers.Dense(units, use_bias=self.options["bias"], name=name, dtype=self.dtype_policy)
            layer.build(shape)
            return layer

        self.query = projection("query", self.heads * key_width, query_shape)
        self.key = projection("key", self.key_heads * key_width, memory_shape)
        self.value = projection("value", self.key_heads * value_width, memory_shape)
        self.output_projection = projection("output", width, (None, self.heads * value_width))
        if self.options["relation"] == "rope" and key_width % 2:
            raise ValueError(f"key_width={key_width} of a head is odd: rotary positions turn pairs, make it even")
        if self.options["relation"] == "relative":
            heads = None if self.options["shared_relation"] else self.heads
            sizes = {"key_width": key_width, "value_width": value_width}
            self.relative = RelativeTables(
                self.options["clip"], heads, **sizes, name="relative", dtype=self.dtype_policy
            )
            self.relative.build()

    def _head_width(self, width, given):
        if given is None and width % self.heads:
            raise ValueError(
                f"heads={self.heads} does not divide width={width}: change one, or give key_width and value_width"
            )
        return given or width // self.heads

    def project(self, memory, start=0):
        """Keys and values of the memory (B, S, d) -> ((B, S, K, d_k), (B, S, K, d_v)). Cache them where they recur.

        Args:
            start: position of the memory's first row, for rotary keys.
        """
        keys, values = (self._split(layer(memory), self.key_heads) for layer in (self.key, self.value))
        return (rotate(keys, start) if self.options["relation"] == "rope" else keys), values

    @staticmethod
    def keep(projected):
        """Keys and values as a cache keeps them: (B, S, K, d) -> (B, K, S, d), and back.

        Attention with few queries then multiplies them as they lie, where else each step would turn all of them round.
        """
        return tuple(ops.transpose(x, (0, 2, 1, 3)) for x in projected)

    def call(
        self,
        query,
        memory=None,
        mask=None,
        projected=None,
        kept=None,
        bias=None,
        start=0,
        places=None,
        training=None,
    ):
        """Attends from query (B, T, width) to memory (B, S, d).

        Args:
            memory: (B, S, d), not needed where `projected` or `kept` is given; None without them = the query.
            mask: bool with four axes, each that of (B, H, T, S) or 1; True = attend.
            projected: what `project(memory)` gave.
            kept: what `keep(project(memory))` gave, or a cache of it, in its place: its weights are always made.
            bias: float, added to the scaled scores in the compute type; each axis that of (B, H, T, S) or 1.
            start: position of the query's first row, where the attention has a relation.
            places: positions of the keys (S,), for "relative"; None = 0, 1, ...
        Returns:
            (B, T, width). A position with nothing to attend to gets W^O 0 (+ bias).
        """
        if mask is not None and (len(mask.shape) != 4 or keras.backend.standardize_dtype(mask.dtype) != "bool"):
            raise ValueError(
                f"mask has shape {mask.shape} and type {mask.dtype}: must be bool with four axes (B, H, T, S), "
                "such as padding[:, None, None, :]; True = attend"
            )
        if kept is None:
            keys, values = self.project(query if memory is None else memory) if projected is None else projected
        else:
            keys, values = kept
        query = self._split(self.query(query), self.heads)
        query = (rotate(query, start) if self.options["relation"] == "rope" else query) * self.scale
        if kept is not None or self._explicit(keys, values, training):
            axes = "bskd" if kept is None else "bksd"
            heads = self._attend(query, keys, values, axes, mask, bias, start, places, training)
        else:
            heads = self._fused(query, keys, values, mask, bias)
        shape = ops.shape(heads)
        return self.output_projection(ops.reshape(heads, (shape[0], shape[1], self.heads * heads.shape[-1])))

    def _explicit(self, keys, values, training):
        """Whether the weights have to be made: someone looks, or the fused kernel cannot do it."""
        dropping = training and self.options["dropout"] > 0
        # JAX's fused kernel takes keys and values of one width only, and on CPUs has no gradient in float16.
        half = keras.backend.backend() == "jax" and keras.backend.standardize_dtype(keys.dtype) == "float16"
        other = self.options["relation"] == "relative" or keys.shape[-1] != values.shape[-1] or half
        return listening() or dropping or other

    def _fused(self, query, keys, values, mask, bias):
        """What `_attend` gives, by the backend's kernel."""
        length = ops.shape(query)[1]
        mask, bias = (None if x is None else self._fold_scores(x, length) for x in (mask, bias))
        query = self._fold(query)
        bias = None if bias is None else ops.cast(bias, query.dtype)
        heads = ops.dot_product_attention(query, keys, values, bias=bias, mask=mask, scale=1.0)
        if mask is not None:  # the kernel spreads the weight of an empty row evenly over what is hidden
            alive = ops.transpose(ops.any(mask, axis=-1), (0, 2, 1))
            heads = ops.where(ops.expand_dims(alive, -1), heads, ops.zeros((), heads.dtype))
        return self._unfold(heads, length)

    def _attend(self, query, keys, values, axes, mask, bias, start, places, training):
        """softmax(query keys + bias) values, with its weights: query (B, T, H, d_k) -> (B, T, H, d_v)."""
        shape, relative = ops.shape(query), self.options["relation"] == "relative"
        scores = ops.einsum(f"btkd,{axes}->bkts", self._fold(query), keys)
        length = ops.shape(keys)[axes.index("s")]
        whole = (shape[0], self.heads, shape[1], length)
        scores = ops.reshape(scores, whole) if self.heads > self.key_heads else scores
        if relative:
            places = ops.arange(length) if places is None else places
            labels = self.relative.labels(positions_from(start, shape[1]), places)
            scores = scores + self.relative.scores(query, labels)
        scores = ops.cast(scores, "float32")
        weights = masked_softmax(scores if bias is None else scores + ops.cast(bias, "float32"), mask)

        def every_head(x, order):
            x = ops.transpose(x, order)
            return ops.repeat(x, self.heads // x.shape[1], axis=1)

        order = [axes.index(axis) for axis in "bksd"]
        weights = emit(self.role, weights, lambda: every_head(query, (0, 2, 1, 3)), lambda: every_head(keys, order))
        weights = self.dropout(ops.cast(weights, values.dtype), training=training)
        folded = weights
        if self.heads > self.key_heads:
            folded = ops.reshape(weights, (shape[0], self.key_heads, -1, whole[3]))
        heads = self._unfold(ops.einsum(f"bkts,{axes}->btkd", folded, values), shape[1])
        return heads + self.relative(weights, labels) if relative else heads

    def _fold(self, query):
        """Puts the G query heads that share a key head on the axis of positions: (B, T, H, d) -> (B, G T, K, d).

        So keys and values are never repeated.
        """
        groups, shape = self.heads // self.key_heads, ops.shape(query)
        if groups == 1:
            return query
        query = ops.reshape(query, (shape[0], shape[1], self.key_heads, groups, query.shape[-1]))
        query = ops.transpose(query, (0, 3, 1, 2, 4))
        return ops.reshape(query, (shape[0], groups * shape[1], self.key_heads, query.shape[-1]))

    def _fold_scores(self, x, length):
        """A mask or bias for folded queries: each axis that of (B, H, T, S) or 1 -> that of (B, K, G T, S) or 1."""
        groups = self.heads // self.key_heads
        if groups == 1:
            return x
        if x.shape[1] == 1:
            return x if x.shape[2] == 1 else ops.tile(x, (1, 1, groups, 1))
        shape = ops.shape(x)
        x = ops.broadcast_to(x, (shape[0], self.heads, length, shape[3]))
        return ops.reshape(x, (shape[0], self.key_heads, groups * length, shape[3]))

    def _unfold(self, heads, length):
        """The inverse of `_fold`: (B, G T, K, d) -> (B, T, H, d)."""
        groups, shape = self.heads // self.key_heads, ops.shape(heads)
        if groups == 1:
            return heads
        heads = ops.reshape(heads, (shape[0], groups, length, self.key_heads, heads.shape[-1]))
        heads = ops.transpose(heads, (0, 2, 3, 1, 4))
        return ops.reshape(heads, (shape[0], length, self.heads, heads.shape[-1]))

    def _split(self, projected, heads):
        shape = ops.shape(projected)
        return ops.reshape(projected, (shape[0], shape[1], heads, projected.shape[-1] // heads))

    def compute_output_shape(self, query_shape, **_):
        return query_shape

    def get_config(self):
        return {**super().get_config(), **self.sizes, **self.options, "role": self.role}
