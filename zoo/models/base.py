"""What every encoder-decoder of the zoo is: an ordinary Keras model that can also run one target position at a time."""

import keras
from keras import ops

from zoo.layers.tap import closed


class EncoderDecoder(keras.Model):
    """An encoder-decoder over ids, and the step protocol that one greedy, one sampler and one beam search serve.

    `model({"source": (B, S), "target": (B, T)})` gives float32 logits (B, T, V); target starts with BOS, and row t
    predicts the token after target[t]. `start` and `step` give the same rows one at a time.

    A subclass keeps its sizes in `fields`, makes its layers' weights in `build`, and has four methods:

    - `encode(source, training)` -> memory: what the decoder needs of the source, a tree of batch-major tensors;
    - `decode(target, memory, training)` -> logits of a whole target; attention weights go to the tap;
    - `initial_cache(memory, batch, max_length)` -> cache, a tree of batch-major tensors;
    - `step(token (B,), index, memory, cache)` -> (float32 logits (B, V) of the next token, cache, float32 attention
      (B, H, S): the heads of every cross-attention layer, layer after layer; zeros (B, 1, S) where there is none).
    """

    def __init__(self, fields, **kwargs):
        super().__init__(**kwargs)
        self.fields = fields

    @property
    def source_limit(self):
        """Longest source in tokens that the model can take, or None where there is no limit."""
        return None

    def call(self, inputs, training=None):
        # Under a distribution strategy Keras traces a model on the mean of two replicas' ids, which is a float.
        source, target = (ops.cast(inputs[side], "int32") for side in ("source", "target"))
        return self.decode(target, self.encode(source, training=training), training=training)

    def start(self, source, max_length):
        """Encodes a source for decoding.

        Args:
            source: (B, S) int ids, PAD after the last real token.
            max_length: int, how many positions `step` will be called for at most.
        Returns:
            (memory, cache): trees of tensors whose first axis is the batch. Memory stays as it is from step to step.
        """
        source = ops.cast(source, "int32")
        with closed():
            memory = self.encode(source, training=False)
        return memory, self.initial_cache(memory, ops.shape(source)[0], max_length)

    def get_config(self):
        return {**super().get_config(), **self.fields}
