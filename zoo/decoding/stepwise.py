"""The loop of the searches that follow one output at a time: what greedy search and sampling share."""

from keras import ops

from zoo.decoding.protocol import first_nan, repeat_rows
from zoo.ids import BOS, EOS, PAD


def write_stepwise(model, source, cache_length, limit, choose, copies=1):
    """Writes `copies` outputs for each source, token by token, until each has its EOS or `limit` is reached.

    Args:
        model: anything with `start` and `step`.
        source: (B, S).
        cache_length: int, room for an output.
        limit: scalar tensor, most tokens of an output.
        choose: function(float32 logits (B copies, V), index) -> int32 tokens (B copies,).
    Returns:
        {"tokens" (B copies, cache_length), "log_probs", "lengths", "finished" (B copies,), "nan_step" ()}.
    """
    memory, cache = model.start(source, cache_length)
    if copies > 1:
        memory, cache = repeat_rows(memory, copies), repeat_rows(cache, copies)
    rows = ops.shape(source)[0] * copies
    state = {
        "index": ops.zeros((), "int32"),
        "token": ops.full((rows,), BOS, "int32"),
        "cache": cache,
        "tokens": ops.full((rows, cache_length), PAD, "int32"),
        "log_probs": ops.zeros((rows,), "float32"),
        "lengths": ops.zeros((rows,), "int32"),
        "finished": ops.repeat(ops.all(ops.equal(source, PAD), axis=1), copies),  # an empty row has nothing to say
        "nan_step": ops.full((), -1, "int32"),
    }

    def going(state):
        on = ops.logical_and(state["index"] < limit, state["nan_step"] < 0)
        return ops.logical_and(on, ops.logical_not(ops.all(state["finished"])))

    def advance(state):
        index, finished = state["index"], state["finished"]
        logits, cache, _ = model.step(state["token"], index, memory, state["cache"])
        logits = ops.cast(logits, "float32")
        token = choose(logits, index)
        own = ops.take_along_axis(logits, token[:, None], axis=1)[:, 0] - ops.logsumexp(logits, axis=-1)
        token = ops.where(finished, PAD, token)
        return {
            "index": index + 1,
            "token": token,
            "cache": cache,
            "tokens": ops.slice_update(state["tokens"], (0, index), ops.expand_dims(token, 1)),
            "log_probs": state["log_probs"] + ops.where(finished, 0.0, own),
            "lengths": state["lengths"] + ops.cast(ops.logical_not(finished), "int32"),
            "finished": ops.logical_or(finished, ops.equal(token, EOS)),
            "nan_step": first_nan(state["nan_step"], logits, index),
        }

    (state,) = ops.while_loop(going, lambda state: (advance(state),), (state,))
    return {name: state[name] for name in ("tokens", "log_probs", "lengths", "finished", "nan_step")}
