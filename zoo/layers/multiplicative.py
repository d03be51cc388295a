"""Multiplicative attention and its neighbours (Luong, Pham and Manning 2015)."""

import keras
from keras import ops

from zoo.layers.additive import AdditiveAttention, attend
from zoo.layers.masks import ExplicitMasks, masked_softmax
from zoo.layers.relations import positions_from

SCORES = ("dot", "general", "concat", "location")
LOCAL = (None, "m", "p")


@keras.saving.register_keras_serializable("zoo")
class MultiplicativeAttention(ExplicitMasks):
    """Luong attention: scores the current decoder state against every source state.

        dot       h_t . h_s
        general   h_t . (W_a h_s)
        concat    v_a . tanh(W_a [h_t; h_s])
        location  a_t = softmax(W_a h_t), one output for each of `max_source` positions

    Luong, Pham and Manning 2015, section 3.1 (global attention). a_t = softmax over the source's real positions,
    c_t = sum_s a_t(s) h_s. The paper's experiments fix part of the matrix of `concat`; here all of it is learned, in
    the v_a form. `location` looks at the target state only.

    Local attention (section 3.2) looks at the source positions s in the window [p_t - D, p_t + D] only:

        local-m   p_t = t                                       a_t = softmax over the window
        local-p   p_t = S sigmoid(v_p . tanh(W_p h_t))          a_t(s) = softmax(s) exp(-(s - p_t)^2 / (2 sigma^2))

    with sigma = D/2, S the source's real length, EOS included, and s and t counted from 0. The window ends at the
    sentence's edges. The Gaussian comes after the softmax, so weights of local-p sum to less than 1; a window that lies
    wholly past the source (local-m, t >= S + D) leaves weights of 0. All S scores are made and those outside the window
    hidden: the same values as the paper's, in one product for all positions.

    Args:
        score: one of the four names.
        units: width of v_a, for "concat".
        max_source: longest source, for "location".
        local: None (global attention), "m" (monotonic) or "p" (predictive).
        window: D of local attention.
    Raises:
        ValueError: a score or a local form of another name; a source longer than `max_source` with "location"; with
            "dot", widths of query and memory that differ.
    """

    def __init__(self, score="general", units=None, max_source=None, local=None, window=10, **kwargs):
        super().__init__(**kwargs)
        for name, value, allowed in (("score", score, SCORES), ("local", local, LOCAL)):
            if value not in allowed:
                raise ValueError(f"{name}={value!r}: must be one of {', '.join(map(repr, allowed))}")
        needs = {"concat": ("units", units), "location": ("max_source", max_source)}
        if score in needs and needs[score][1] is None:
            raise ValueError(f"score={score!r} needs {needs[score][0]}, a positive number")
        self.score = score
        self.units = units
        self.max_source = max_source
        self.local = local
        self.window = window

    def build(self, query_shape, memory_shape):
        dense = {"use_bias": False, "dtype": self.dtype_policy}
        if self.score == "dot" and query_shape[-1] != memory_shape[-1]:
            raise ValueError(
                f"score='dot' needs states of one width, got query {query_shape[-1]} and memory {memory_shape[-1]}: "
                "make them equal or use score='general'"
            )
        if self.score == "general":
            self.general = keras.layers.Dense(query_shape[-1], name="general", **dense)  # W_a
            self.general.build(memory_shape)
        elif self.score == "concat":
            self.concat = AdditiveAttention(self.units, bias=False, name="concat", dtype=self.dtype_policy)
            self.concat.build(query_shape, memory_shape)
        elif self.score == "location":
            self.location = keras.layers.Dense(self.max_source, name="location", **dense)  # W_a
            self.location.build(query_shape)
        if self.local == "p":
            self.hidden = keras.layers.Dense(query_shape[-1], activation="tanh", name="position_hidden", **dense)  # W_p
            self.hidden.build(query_shape)
            self.position = keras.layers.Dense(1, activation="sigmoid", name="position", **dense)  # v_p
            self.position.build(query_shape)

    def keys(self, memory):
        """What the scores need of the source: (B, S, d) -> (B, S, k). Depends on the source only: compute it once."""
        if self.score == "general":
            return self.general(memory)
        return self.concat.keys(memory) if self.score == "concat" else memory

    def scores(self, query, keys):
        """score(h_t, h_s): query (B, T, n), keys (B, S, k) -> (B, T, S)."""
        if self.score == "concat":
            return self.concat.scores(query, keys)
        if self.score == "location":
            if keys.shape[1] is not None and keys.shape[1] > self.max_source:
                raise ValueError(
                    f"source length {keys.shape[1]} is past max_source={self.max_source} of score='location': "
                    "shorten the source or build with a larger max_source"
                )
            return self.location(query)[:, :, : ops.shape(keys)[1]]
        return ops.matmul(query, ops.transpose(keys, (0, 2, 1)))

    def center(self, query, mask, start=0):
        """p_t of local attention: query (B, T, n), mask (B, S) -> float32 (B, T, 1)."""
        if self.local == "m":
            positions = ops.cast(positions_from(start, ops.shape(query)[1]), "float32")
            return ops.broadcast_to(positions, ops.shape(query)[:2])[..., None]
        length = ops.sum(ops.cast(mask, "float32"), axis=1)[:, None, None]
        return length * ops.cast(self.position(self.hidden(query)), "float32")

    def call(self, query, memory, keys=None, mask=None, start=0):
        """Attends from query (B, T, n) to memory (B, S, d), all T positions in one product.

        Args:
            keys: what `keys(memory)` gave, where the caller has it already.
            mask: (B, S) bool, True = attend; local attention needs it.
            start: t of the first query: a number, or one for each row (B,); for local-m.
        Returns:
            (context (B, T, d), weights (B, T, S) float32).
        """
        keys = self.keys(memory) if keys is None else keys
        scores = self.scores(query, keys)
        if self.local is None:
            return attend(scores, memory, mask)
        if mask is None:
            raise ValueError(f"local={self.local!r} needs a mask (B, S): a window ends where the sentence does")
        center = self.center(query, mask, start)
        away = ops.arange(ops.shape(memory)[1], dtype="float32") - center
        weights = masked_softmax(scores, (ops.abs(away) <= self.window) & ops.expand_dims(mask, 1))
        if self.local == "p":
            weights = weights * ops.exp(ops.square(away) * (-2.0 / self.window**2))  # sigma = D/2
        return ops.matmul(ops.cast(weights, memory.dtype), memory), weights

    def get_config(self):
        config = {"score": self.score, "units": self.units, "max_source": self.max_source}
        return {**super().get_config(), **config, "local": self.local, "window": self.window}
