"""What a model thinks of outputs that are given."""

import numpy as np
from keras import ops

from zoo.decoding.protocol import check_max_length, check_source, first_nan, run_compiled
from zoo.ids import BOS, PAD


def score(model, pairs):
    """Log-probabilities of given outputs, token by token, each given the right tokens before it.

    Args:
        model: anything with `start` and `step` (see `zoo.decoding.protocol`).
        pairs: (source (B, S), outputs (B, T) or (B, N, T)): int ids, outputs without BOS, PAD after their end, such as
            `Hypotheses.tokens`.
    Returns:
        float32 log p of each token, of the outputs' shape, 0 at PAD; natural logarithm. Their sum over the last axis is
        the output's `log_probs`.
    Raises:
        ValueError: arrays of other shapes.

    Example::

        zoo.score(model, (source, found.tokens)).sum(-1)        # found.log_probs
    """
    source, outputs = check_source(pairs[0], model), np.asarray(pairs[1])
    if (
        outputs.ndim not in (2, 3)
        or len(outputs) != len(source)
        or 0 in outputs.shape
        or outputs.dtype.kind not in "iu"
    ):
        raise ValueError(
            f"outputs have shape {outputs.shape} and type {outputs.dtype}: must be whole-numbered ids (B, T) or "
            f"(B, N, T), for {len(source)} sources"
        )
    vocabulary = model.vocabulary("target") if hasattr(model, "vocabulary") else np.inf
    if outputs.min() < 0 or outputs.max() >= vocabulary:
        raise ValueError(
            f"outputs have ids from {outputs.min()} to {outputs.max()}: ids are 0 or more, below {vocabulary}"
        )
    check_max_length(outputs.shape[-1], source, model)
    several = outputs.reshape(len(source), -1, outputs.shape[-1]).astype("int32")
    repeated = np.repeat(source, several.shape[1], axis=0)
    flat = several.reshape(-1, outputs.shape[-1])
    found = run_compiled(model, _search, flat.shape[1], source=repeated, outputs=flat)
    return found["log_probs"].reshape(outputs.shape)


def _search(model, cache_length, options, source, limit, outputs):
    memory, cache = model.start(source, cache_length)
    state = {
        "index": ops.zeros((), "int32"),
        "cache": cache,
        "log_probs": ops.zeros(ops.shape(outputs), "float32"),
        "nan_step": ops.full((), -1, "int32"),
    }

    def advance(state):
        index = state["index"]
        last = ops.take(outputs, ops.maximum(index - 1, 0), axis=1)
        token = ops.where(index > 0, last, BOS)
        logits, cache, _ = model.step(token, index, memory, state["cache"])
        wanted = ops.take(outputs, index, axis=1)
        all_log_probs = ops.log_softmax(ops.cast(logits, "float32"), axis=-1)
        log_probs = ops.take_along_axis(all_log_probs, wanted[:, None], axis=1)
        log_probs = ops.where(wanted[:, None] == PAD, 0.0, log_probs)
        kept = ops.slice_update(state["log_probs"], (0, index), log_probs)
        nan_step = first_nan(state["nan_step"], log_probs, index)
        return {"index": index + 1, "cache": cache, "log_probs": kept, "nan_step": nan_step}

    (state,) = ops.while_loop(lambda state: state["index"] < limit, lambda state: (advance(state),), (state,))
    return {name: state[name] for name in ("log_probs", "nan_step")}
