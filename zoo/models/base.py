"""What the models of the zoo are: ordinary Keras models, those that generate can also run one position at a time."""

import keras
from keras import ops

from zoo.layers.tap import closed

_KERAS = ("name", "dtype", "trainable")


def _limited(method):
    """`fit()` and its like, refusing inputs that are too long before anything is compiled."""

    def call(self, x=None, *args, **kwargs):
        self.check_lengths(x)
        return getattr(super(ZooModel, self), method)(x, *args, **kwargs)

    return call


def _lengths(x):
    """{input: its length, where that is known}, of a dictionary (B, T), or of a dataset whose inputs are one."""
    spec = getattr(x, "element_spec", x)
    spec = spec[0] if isinstance(spec, tuple | list) and spec else spec
    shapes = {name: tensor.shape for name, tensor in spec.items()} if isinstance(spec, dict) else {}
    return {name: shape[1] for name, shape in shapes.items() if len(shape) > 1 and shape[1] is not None}


class ZooModel(keras.Model):
    """A Keras model whose sizes are data: `fields`, complete and checked by the registry.

    A subclass makes its layers in `__init__`, their weights in `build`, and names its longest inputs in `limits`.
    """

    def __init__(self, **fields):
        keras_fields = {name: fields.pop(name) for name in _KERAS if name in fields}
        super().__init__(**keras_fields)
        self.fields = fields

    def get_config(self):
        return {**super().get_config(), **self.fields}

    @property
    def limits(self):
        """{input: the most tokens of it that the model takes}; "source + target" is a limit of the two together."""
        return {}

    def check_lengths(self, x):
        """Refuses inputs past the model's limits: tensors, arrays, or a dataset of them.

        Raises:
            ValueError: naming the input, its length and the limit.
        """
        lengths = _lengths(x)
        for name, limit in self.limits.items():
            length = sum(lengths.get(part, 0) for part in name.split(" + "))
            if length > limit:
                raise ValueError(
                    f"{name}: {length} tokens, but {self.name} takes at most {limit}: shorten the input, or build the "
                    "model for more"
                )

    fit = _limited("fit")
    evaluate = _limited("evaluate")
    predict = _limited("predict")
    train_on_batch = _limited("train_on_batch")
    test_on_batch = _limited("test_on_batch")
    predict_on_batch = _limited("predict_on_batch")

    def initialize(self, rules):
        """Gives weights the initial values of a paper, once they are made.

        Args:
            rules: (ending of a weight's path, initializer) pairs; the first that fits is used, "" fits all. None for an
                initializer leaves the weight as its layer made it.
        """
        for weight in self.weights:
            initializer = next((rule for ending, rule in rules if weight.path.endswith(ending)), None)
            if initializer is not None:
                weight.assign(initializer(weight.shape, dtype=weight.dtype))


class Generator(ZooModel):
    """A model that writes a target, and the step protocol that one greedy, one sampler and one beam search serve.

    `model({"source": (B, S), "target": (B, T)})` gives float32 logits (B, T, V); target starts with BOS, and row t
    predicts the token after target[t]. `start` and `step` give the same rows one at a time.

    A subclass has four methods:

    - `encode(source, training)` -> memory: what the decoder needs of the source, a tree of batch-major tensors;
    - `decode(target, memory, training)` -> logits of a whole target; attention weights go to the tap;
    - `initial_cache(memory, batch, max_length)` -> cache, a tree of batch-major tensors;
    - `step(token (B,), index, memory, cache)` -> (float32 logits (B, V) of the next token, cache, float32 attention
      (B, H, S): the heads of every cross-attention layer, layer after layer; zeros (B, 1, S) where there is none).
    """

    @property
    def step_heads(self):
        """{role: heads} of the attention that `step` returns, in its order."""
        return {"decoder/0/cross": 1}

    def vocabulary(self, side):
        """Number of tokens of "source" or "target"."""
        return self.fields[f"{side}_vocab"]

    @property
    def source_limit(self):
        """Longest source in tokens that the model can take, or None where there is no limit."""
        return self.limits.get("source")

    def target_limit(self, source_length):
        """Most positions that `step` can be called for after a source of so many real tokens, or None."""
        return self.limits.get("target")

    def call(self, inputs, training=None):
        self.check_lengths(inputs)
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
        Raises:
            ValueError: a source or a `max_length` that the model cannot take.
        """
        self.check_start(source, max_length)
        source = ops.cast(source, "int32")
        with closed():
            memory = self.settle(self.encode(source, training=False))
        return memory, self.initial_cache(memory, ops.shape(source)[0], max_length)

    def settle(self, memory):
        """What `encode` gave, laid out for many steps."""
        return memory

    def check_start(self, source, max_length):
        """Refuses a source (B, S), or a number of positions after it, that the model cannot take: see `start`."""
        self.check_lengths({"source": source})
        # A length that only the graph knows was looked at by the search, before it ran.
        limit = None if source.shape[1] is None else self.target_limit(source.shape[1])
        if limit is not None and max_length > limit:
            raise ValueError(
                f"max_length={max_length}: after a source of {source.shape[1]} tokens {self.name} can write at most "
                f"{limit}: shorten one of them, or build the model for more"
            )
