"""Multi-head scaled dot-product attention (Vaswani et al. 2017)."""

import keras
from keras import ops

from zoo.layers.masks import ExplicitMasks, masked_softmax
from zoo.layers.tap import emit, listening


@keras.saving.register_keras_serializable("zoo")
class MultiHeadAttention(ExplicitMasks):
    """Attends in several learned subspaces at once.

        Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V                                  (Eq. 1)
        MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O
        head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V)

    Vaswani et al. 2017, section 3.2.2. Each of W^Q, W^K, W^V, W^O is one matrix with the heads side by side. The query
    is scaled before the product, not the scores after it: equal in exact arithmetic, and float16 does not overflow.

    Args:
        heads: h.
        key_width: d_k of one head; default width / heads.
        value_width: d_v of one head; default width / heads.
        bias: whether the four projections have biases; the paper's equations have none.
        role: the name under which weights (B, H, T, S) go to an open tap, such as "encoder/0/self".
    Raises:
        ValueError: at build time, when heads do not divide the width and a head's width was not given.

    Example::

        layer = MultiHeadAttention(heads=8)
        attended = layer(states, memory, mask=padding[:, None, None, :])   # (B, T, width)
    """

    def __init__(self, heads, key_width=None, value_width=None, bias=False, role="attention", **kwargs):
        super().__init__(**kwargs)
        self.heads = heads
        self.key_width = key_width
        self.value_width = value_width
        self.bias = bias
        self.role = role

    def build(self, query_shape, memory_shape=None):
        width = query_shape[-1]
        memory_shape = memory_shape or query_shape
        key_width, value_width = (self.head_width(width, given) for given in (self.key_width, self.value_width))
        self.scale = key_width**-0.5

        def projection(name, units, shape):
            layer = keras.layers.Dense(units, use_bias=self.bias, name=name, dtype=self.dtype_policy)
            layer.build(shape)
            return layer

        self.query = projection("query", self.heads * key_width, query_shape)
        self.key = projection("key", self.heads * key_width, memory_shape)
        self.value = projection("value", self.heads * value_width, memory_shape)
        self.output_projection = projection("output", width, (None, self.heads * value_width))

    def head_width(self, width, given):
        if given is None and width % self.heads:
            raise ValueError(
                f"heads={self.heads} does not divide width={width}: change one, or give key_width and value_width"
            )
        return given or width // self.heads

    def project(self, memory):
        """Keys and values of the memory (B, S, d) -> ((B, S, H, d_k), (B, S, H, d_v)). Cache them where they recur."""
        return self._split(self.key(memory)), self._split(self.value(memory))

    def call(self, query, memory=None, mask=None, projected=None):
        """Attends from query (B, T, width) to memory (B, S, d).

        Args:
            memory: (B, S, d); not needed where `projected` is given.
            mask: bool with four axes, each that of (B, H, T, S) or 1; True = attend.
            projected: what `project(memory)` gave, or a cache of it.
        Returns:
            (B, T, width). A position with nothing to attend to gets W^O 0 (+ bias).
        """
        if mask is not None and (len(mask.shape) != 4 or keras.backend.standardize_dtype(mask.dtype) != "bool"):
            raise ValueError(
                f"mask has shape {mask.shape} and type {mask.dtype}: must be bool with four axes (B, H, T, S), "
                "such as padding[:, None, None, :]; True = attend"
            )
        keys, values = self.project(memory) if projected is None else projected
        query = self._split(self.query(query)) * self.scale
        # JAX's fused kernel takes keys and values of one width only.
        if listening() or keys.shape[-1] != values.shape[-1]:
            weights = masked_softmax(ops.einsum("bthd,bshd->bhts", query, keys), mask)
            emit(self.role, weights)
            heads = ops.einsum("bhts,bshd->bthd", ops.cast(weights, values.dtype), values)
        else:
            heads = ops.dot_product_attention(query, keys, values, mask=mask, scale=1.0)
            if mask is not None:  # the fused kernel spreads the weight of such a row evenly over what is hidden
                alive = ops.transpose(ops.any(mask, axis=-1), (0, 2, 1))
                heads = ops.where(ops.expand_dims(alive, -1), heads, ops.zeros((), heads.dtype))
        shape = ops.shape(heads)
        return self.output_projection(ops.reshape(heads, (shape[0], shape[1], self.heads * heads.shape[-1])))

    def _split(self, projected):
        shape = ops.shape(projected)
        return ops.reshape(projected, (shape[0], shape[1], self.heads, projected.shape[-1] // self.heads))

    def compute_output_shape(self, query_shape, **_):
        return query_shape

    def get_config(self):
        config = {"heads": self.heads, "key_width": self.key_width, "value_width": self.value_width}
        return {**super().get_config(), **config, "bias": self.bias, "role": self.role}
