"""Metrics over real target tokens, exact over batches and replicas of any size."""

import keras
from keras import ops

from zoo.ids import PAD
from zoo.training.losses import negative_log_likelihood


class TokenMean(keras.metrics.Metric):
    """The mean of a value over all real tokens (labels other than PAD) since the last reset.

    Sums and counts are kept apart, so batches count by their tokens, not by their rows.
    """

    def __init__(self, name, **kwargs):
        super().__init__(name=name, **kwargs)
        self.total = self.add_weight(name="total", initializer="zeros")
        self.tokens = self.add_weight(name="tokens", initializer="zeros")

    def values(self, y_true, y_pred):
        """labels (B, T), logits (B, T, V) -> the value of each token (B, T)."""
        raise AttributeError(f"{type(self).__name__} defines no values")

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds a batch; `sample_weight` is not used: which tokens are real is in the labels."""
        real = ops.not_equal(y_true, PAD)
        self.total.assign_add(ops.sum(ops.where(real, self.values(y_true, y_pred), 0.0)))
        self.tokens.assign_add(ops.sum(ops.cast(real, "float32")))

    def result(self):
        return self.total / ops.maximum(self.tokens, 1.0)


@keras.saving.register_keras_serializable("zoo")
class TokenAccuracy(TokenMean):
    """Share of real target tokens that are the likeliest one, given the right tokens before them."""

    def __init__(self, name="accuracy", **kwargs):
        super().__init__(name=name, **kwargs)

    def values(self, y_true, y_pred):
        return ops.cast(ops.equal(ops.argmax(y_pred, axis=-1), ops.cast(y_true, "int32")), "float32")


@keras.saving.register_keras_serializable("zoo")
class Perplexity(TokenMean):
    """exp(mean negative log-likelihood of a real target token): of the plain likelihood, never of a smoothed loss."""

    def __init__(self, name="perplexity", **kwargs):
        super().__init__(name=name, **kwargs)

    def values(self, y_true, y_pred):
        return negative_log_likelihood(y_true, y_pred)

    def result(self):
        return ops.exp(super().result())
