"""Cross-entropy over tokens."""

import keras
from keras import ops

from zoo.ids import PAD


def negative_log_likelihood(labels, logits):
    """-log p(label): labels (..., T) int, logits (..., T, V) -> float32 (..., T), in nats, padding not yet hidden."""
    return ops.sparse_categorical_crossentropy(labels, ops.cast(logits, "float32"), from_logits=True)


@keras.saving.register_keras_serializable("zoo")
class TokenCrossEntropy(keras.losses.Loss):
    """Cross-entropy with label smoothing, averaged over real target tokens.

        q = (1 - eps) onehot(y) + eps / V          loss = - sum_v q_v log p_v

    Vaswani et al. 2017, section 5.4 (Szegedy et al. 2016): the mass eps is spread over all V classes, the right one
    included. Perplexity is never exp() of this; see the `Perplexity` metric.

    A label of PAD counts for nothing. Called without weights the loss is the sum over real tokens divided by their
    number, and 0 where there are none. Called with weights it is the sum of weight x token loss: `batches()` gives each
    real token 1 / (real tokens of the global batch), which is the same mean, and stays so when a batch is split over
    replicas.

    Args:
        smoothing: eps, from 0 up to, not including, 1.

    Example::

        model.compile(optimizer, loss=zoo.TokenCrossEntropy(0.1))
    """

    def __init__(self, smoothing=0.1, name="token_cross_entropy", **kwargs):
        super().__init__(name=name, **{**kwargs, "reduction": "sum", "dtype": "float32"})
        if not 0 <= smoothing < 1:
            raise ValueError(f"smoothing={smoothing}: must be from 0 up to, not including, 1")
        self.smoothing = smoothing

    def __call__(self, y_true, y_pred, sample_weight=None):
        real = ops.cast(ops.not_equal(y_true, PAD), "float32")
        if sample_weight is None:
            sample_weight = real / ops.maximum(ops.sum(real), 1.0)
        return super().__call__(y_true, y_pred, sample_weight * real)

    def call(self, y_true, y_pred):
        """labels (B, T) int, logits (B, T, V) -> the loss of each token (B, T)."""
        loss = negative_log_likelihood(y_true, y_pred)
        if self.smoothing:
            # -sum_v q_v log p_v = NLL + eps (logit of the label - mean logit): no second pass of exponentials
            logits = ops.cast(y_pred, "float32")
            chosen = ops.take_along_axis(logits, ops.expand_dims(ops.cast(y_true, "int32"), -1), axis=-1)
            loss = loss + self.smoothing * (ops.squeeze(chosen, -1) - ops.mean(logits, axis=-1))
        return loss

    def get_config(self):
        return {"smoothing": self.smoothing, "name": self.name}
