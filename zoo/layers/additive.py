"""Additive attention (Bahdanau, Cho and Bengio 2015)."""

import keras
from keras import ops

from zoo.layers.masks import ExplicitMasks, masked_softmax


def attend(scores, memory, mask=None):
    """Turns scores into weights and sums the memory with them.

        alpha_ij = softmax_j(e_ij)          c_i = sum_j alpha_ij h_j

    Args:
        scores: e (B, T, S).
        memory: h (B, S, d), the values that are summed: raw annotations, not their projections.
        mask: (B, S) bool, True = attend.
    Returns:
        (context (B, T, d) in the memory's type, weights (B, T, S) float32); both 0 where no key is left.
    """
    weights = masked_softmax(scores, None if mask is None else ops.expand_dims(mask, 1))
    return ops.matmul(ops.cast(weights, memory.dtype), memory), weights


@keras.saving.register_keras_serializable("zoo")
class AdditiveAttention(ExplicitMasks):
    """Additive (Bahdanau) attention: scores a query against every source position.

        e_ij = v_a . tanh(W_a s_{i-1} + b_a + U_a h_j)        alpha_i = softmax_j(e_ij)        c_i = sum_j alpha_ij h_j

    Bahdanau, Cho and Bengio 2015, section 3.1 and appendix A.1.2; the paper leaves out the bias b_a "to increase
    readability". The context sums the raw annotations h_j, not U_a h_j. With `coverage`, the score also sees how much
    weight each position has had from the queries before:

        e_ij = v_a . tanh(W_a s_{i-1} + b_a + U_a h_j + w_c c_ij)          c_ij = sum_{i' < i} alpha_i'j

    See, Liu and Manning 2017, Eq. 10 and 11.

    Args:
        units: n', the width of the alignment model.
        bias: whether there is a b_a.
        coverage: whether there is a w_c.

    The layer returns its weights with every call. It never emits them to the tap, because it runs inside recurrent
    loops; the model that owns it does, once, outside the loop.

    Example::

        context, weights = AdditiveAttention(7)(queries, annotations, mask=mask)   # (B, T, d), (B, T, S)
    """

    def __init__(self, units, bias=True, coverage=False, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.bias = bias
        self.query = keras.layers.Dense(units, use_bias=bias, name="query", dtype=self.dtype_policy)  # W_a, b_a
        self.key = keras.layers.Dense(units, use_bias=False, name="key", dtype=self.dtype_policy)  # U_a
        self.energy = keras.layers.Dense(1, use_bias=False, name="energy", dtype=self.dtype_policy)  # v_a
        self.coverage = (
            keras.layers.Dense(units, use_bias=False, name="coverage", dtype=self.dtype_policy) if coverage else None
        )  # w_c

    def build(self, query_shape, memory_shape):
        self.query.build(query_shape)
        self.key.build(memory_shape)
        self.energy.build((None, self.units))
        if self.coverage is not None:
            self.coverage.build((None, 1))

    def keys(self, memory):
        """U_a h_j for every source position: (B, S, d) -> (B, S, n'). Depends on the source only: compute it once."""
        return self.key(memory)

    def scores(self, query, keys, coverage=None):
        """e_ij: query (B, T, n), keys (B, S, n'), coverage (B, T, S) or None -> (B, T, S)."""
        hidden = ops.expand_dims(self.query(query), 2) + ops.expand_dims(keys, 1)
        if coverage is not None:
            hidden = hidden + self.coverage(ops.expand_dims(coverage, -1))
        return ops.squeeze(self.energy(ops.tanh(hidden)), -1)

    def call(self, query, memory, keys=None, mask=None, coverage=None):
        """Attends from query (B, T, n) to memory (B, S, d).

        Args:
            keys: what `keys(memory)` gave, where the caller has it already.
            mask: (B, S) bool, True = attend.
            coverage: c_ij (B, T, S), for a layer with `coverage`.
        Returns:
            (context (B, T, d), weights (B, T, S) float32).
        """
        keys = self.keys(memory) if keys is None else keys
        return attend(self.scores(query, keys, coverage), memory, mask)

    def get_config(self):
        config = {"units": self.units, "bias": self.bias, "coverage": self.coverage is not None}
        return {**super().get_config(), **config}
