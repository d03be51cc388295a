"""Token embeddings, scaled on the way in and usable as the output projection on the way out."""

from contextlib import contextmanager
from contextvars import ContextVar

import keras
from keras import ops

_SCALES = ContextVar("embedding_scales", default=())


@contextmanager
def scaled(factors):
    """Multiplies what the first look-up under it gives, the source's, by factors (B, S): for gradients by token."""
    token = _SCALES.set([factors])
    try:
        yield
    finally:
        _SCALES.reset(token)


@keras.saving.register_keras_serializable("zoo")
class TokenEmbedding(keras.layers.Layer):
    """Looks tokens up in a matrix E (V, d), and projects states back onto it.

        embedded_t = E[y_t] * sqrt(d)        logits = h E^T

    Vaswani et al. 2017, section 3.4: one matrix serves both embeddings and the pre-softmax transformation; the factor
    sqrt(d) belongs to the look-up only, and the initial deviation d^-0.5 makes its result unit-sized.

    Args:
        vocabulary: V, number of tokens.
        width: d.
        scaled: multiply the look-up by sqrt(d); without it (recurrent models) the look-up is E[y_t].
    """

    def __init__(self, vocabulary, width, scaled=True, **kwargs):
        super().__init__(**kwargs)
        self.vocabulary = vocabulary
        self.width = width
        self.scaled = scaled

    def build(self, ids_shape=None):
        self.matrix = self.add_weight(
            name="matrix",
            shape=(self.vocabulary, self.width),
            initializer=keras.initializers.RandomNormal(stddev=self.width**-0.5),
        )

    def call(self, ids):
        """ids (B, T) int -> embedded (B, T, d) in the compute type."""
        embedded = ops.cast(ops.take(self.matrix, ids, axis=0), self.compute_dtype)
        embedded = embedded * self.width**0.5 if self.scaled else embedded
        waiting = _SCALES.get()
        return embedded * ops.cast(waiting.pop(), embedded.dtype)[..., None] if waiting else embedded

    def logits(self, states):
        """states (..., d) -> float32 logits (..., V), against the unscaled matrix."""
        return ops.matmul(ops.cast(states, "float32"), ops.transpose(ops.cast(self.matrix, "float32")))

    def compute_output_shape(self, ids_shape):
        return (*ids_shape, self.width)

    def get_config(self):
        config = {"vocabulary": self.vocabulary, "width": self.width, "scaled": self.scaled}
        return {**super().get_config(), **config}
