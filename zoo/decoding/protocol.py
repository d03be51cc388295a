"""What the searches ask of a model, what they give back, and how they are compiled.

A search works with any object that has

- `start(source (B, S), max_length) -> (memory, cache)`,
- `step(token (B,), index, memory, cache) -> (logits (B, V), cache, attention (B, H, S))`,

all leaves batch-major: a model of the zoo, an ensemble, an object of one's own. A search may repeat the rows of both
trees and reorder those of `cache`; `memory` stays as it is. An object that cannot be stepped for ever also has
`target_limit(source length) -> most positions, or None`; one with several layers of attention `step_heads`, {role:
heads of it in what `step` returns, in their order}.
"""

from dataclasses import dataclass, field

import keras
import numpy as np
from keras import ops

from zoo.ids import BOS, PAD

CACHE_MULTIPLE = 16  # lengths are rounded up to it, so that a handful of graphs serves every length


@dataclass(frozen=True)
class Hypotheses:
    """What a search found for each of B sources: N outputs, best first; NumPy arrays.

    Attributes:
        tokens: (B, N, T) int32, without BOS, ending in EOS where finished, PAD after that.
        scores: (B, N) float32, what the outputs are ranked by.
        log_probs: (B, N) float32, plain sums of the tokens' log-probabilities, EOS included; natural logarithm.
        lengths: (B, N) int32, tokens of each output, EOS included.
        finished: (B, N) bool, whether the output ended in EOS before `max_length`.
        attention: (B, N, H, T, S) float32, or None where the search was not asked for it.
        maps: {role: attention (B, N, H, T, S) of one layer} where the search was asked for heads, such as
            "decoder/0/cross"; else {}.
    """

    tokens: np.ndarray
    scores: np.ndarray
    log_probs: np.ndarray
    lengths: np.ndarray
    finished: np.ndarray
    attention: np.ndarray | None = None
    maps: dict = field(default_factory=dict)


def check_whole(name, value, least):
    """Returns a whole number, NumPy's too, as an int.

    Raises:
        ValueError: anything else, or less than `least`.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name}={value!r}: must be a whole number of at least {least}")
    return int(value)


def check_number(name, value, rule="must be a number of at least 0", low=0.0, high=np.inf):
    """Returns a finite number from `low` to `high` as a float.

    Raises:
        ValueError: anything else.
    """
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not real or not low <= value <= high or value == np.inf:
        raise ValueError(f"{name}={value!r}: {rule}")
    return float(value)


def check_source(source, model):
    """Returns a source as an int32 array (B, S) that the model can take.

    Raises:
        ValueError: another rank, no rows or no columns, numbers that are not whole, negative or past the vocabulary, a
            source past the model's limits, or a model that writes nothing.
    """
    if not hasattr(model, "step"):
        name = getattr(model, "name", type(model).__name__)
        raise ValueError(f"{name} writes nothing: a search needs a model with start and step")
    source = np.asarray(source)
    if source.ndim != 2 or 0 in source.shape or source.dtype.kind not in "iu":
        raise ValueError(
            f"source has shape {source.shape} and type {source.dtype}: a search needs whole-numbered ids (B, S), "
            "at least one row and one column"
        )
    vocabulary = model.vocabulary("source") if hasattr(model, "vocabulary") else 2**31
    if source.min() < 0 or source.max() >= vocabulary:
        raise ValueError(
            f"source has ids from {source.min()} to {source.max()}: ids are 0 or more, and below {vocabulary}"
        )
    limit = getattr(model, "source_limit", None)
    if limit is not None and longest(source) <= limit:
        source = source[:, :limit]  # more can only be padding
    if hasattr(model, "check_lengths"):  # here too: the graph of another width may not know this one
        model.check_lengths({"source": source})
    if limit is not None and longest(source) > limit:
        raise ValueError(f"source: {longest(source)} tokens, but the model takes at most {limit}: shorten it")
    return source.astype("int32")


def longest(source):
    """Tokens of the longest row, at least 1."""
    return max(1, int((source != PAD).sum(axis=1).max()))


def check_max_length(max_length, source, model):
    """The longest output in tokens: as given, or the source's width + 50 (Vaswani et al. 2017, section 6.1).

    Raises:
        ValueError: below 1, or more than the model can write after that source.
    """
    limit = _target_limit(model, source)
    if max_length is None:
        return min(source.shape[1] + 50, np.inf if limit is None else max(limit, 1))
    max_length = check_whole("max_length", max_length, 1)
    if limit is not None and max_length > limit:
        raise ValueError(
            f"max_length={max_length}: after a source of {longest(source)} tokens the model can write {limit}"
        )
    return max_length


def _target_limit(model, source):
    limit = getattr(model, "target_limit", None)
    return None if limit is None else limit(longest(source))


def generable(logits):
    """Logits (..., V) with those of PAD and BOS at -inf: they mark ends of a row, and are never a model's output.

    For choosing tokens only; probabilities stay those of the whole softmax.
    """
    token = ops.arange(logits.shape[-1])
    return ops.where(ops.logical_or(token == PAD, token == BOS), -np.inf, logits)


def repeat_rows(tree, times):
    """Repeats each row of every leaf: [a, b] twice is [a, a, b, b], so that copies of a source are neighbours.

    For searches that follow several outputs of one source: memory, masks and every state go through it alike.
    """
    return keras.tree.map_structure(lambda leaf: ops.repeat(leaf, times, axis=0), tree)


class _Search(keras.Model):
    """Runs `search(model, cache_length, options, **inputs)` as one graph: Keras compiles `call` on every backend."""

    def __init__(self, model, search, cache_length, options, jit_compile):
        super().__init__(name="search")
        self.model = model
        self.search = search
        self.cache_length = cache_length
        self.options = options
        self.graphs = 0
        self.built = True
        self.compile(optimizer=None, jit_compile=jit_compile)

    def call(self, inputs):
        self.graphs += 1  # runs once for each graph, while it is traced
        return self.search(self.model, self.cache_length, self.options, **inputs)


class _Searches:
    """The compiled searches of one model. Not a container that Keras knows, so it is neither tracked nor saved."""

    def __init__(self):
        self.by_key = {}


def run_compiled(model, search, length, options=None, **inputs):
    """Runs a search over arrays, compiled once for a model, a search, its options, a rounded length and the shapes.

    It is compiled as the model is: by XLA after `model.compile(jit_compile=True)`, which writes the caches in place and
    takes seconds for each shape; else as Keras does by itself, by XLA where there is an accelerator.

    Args:
        search: function(model, cache_length, options, **inputs) of tensors, a dictionary of tensors; the same object on
            every call. "nan_step" in what it gives is the first step whose logits were NaN, or -1.
        length: the longest output; the cache gets the next multiple of `CACHE_MULTIPLE` that the model can take.
        options: hashable, fixed in the graph.
        inputs: NumPy arrays, "source" among them; the search also gets `limit`, the length as a scalar.
    Returns:
        The search's dictionary, of NumPy arrays.
    Raises:
        ValueError: logits that are NaN, with the step.
    """
    searches = model.__dict__.setdefault("_searches", _Searches())
    most = _target_limit(model, inputs["source"])
    rounded = -(-length // CACHE_MULTIPLE) * CACHE_MULTIPLE
    jit_compile = getattr(model, "jit_compile", "auto")
    key = search, rounded if most is None else min(rounded, max(most, 1)), options, jit_compile
    if key not in searches.by_key:
        searches.by_key[key] = _Search(model, *key)
    found = searches.by_key[key].predict_on_batch({**inputs, "limit": np.int32(length)})
    step = int(found.pop("nan_step"))
    if step >= 0:
        raise ValueError(
            f"the model's logits are NaN at step {step + 1} of the search: its weights or inputs are not finite"
        )
    return found


def compiled_graphs(model):
    """How many graphs of searches have been made for a model so far; one may serve many shapes."""
    searches = model.__dict__.get("_searches")
    return sum(search.graphs for search in searches.by_key.values()) if searches else 0


def first_nan(step, logits, index):
    """Carries the first step whose logits hold a NaN: `step` where there has been one, else `index` or -1."""
    return ops.where(ops.logical_and(step < 0, ops.any(ops.isnan(logits))), index, step)
