"""Greedy search: at each position the likeliest token."""

from keras import ops

from zoo.decoding.protocol import Hypotheses, check_max_length, check_source, first_nan, generable, run_compiled
from zoo.ids import BOS, EOS, PAD


def greedy(model, source, max_length=None):
    """Decodes each source by taking the likeliest token at every position.

        y_t = argmax_v p(v | y_1 ... y_{t-1}, x),        v not PAD, not BOS

    One compiled loop over the step protocol; it ends when every row has its EOS, or at `max_length`.

    Args:
        model: anything with `start` and `step` (see `zoo.decoding.protocol`).
        source: (B, S) int ids, PAD after the last real token; a row of PAD alone gets an empty output.
        max_length: most tokens of an output, EOS included; default S + 50.
    Returns:
        Hypotheses with N = 1 and T the longest output found; `scores` are `log_probs`.
    Raises:
        ValueError: a source that is not (B, S) ids, `max_length` below 1, or a source that the model cannot take.

    Example::

        zoo.greedy(model, source, max_length=40).tokens[:, 0]
    """
    source = check_source(source, model)
    max_length = check_max_length(max_length, source, model)
    found = run_compiled(model, _search, max_length, source=source)
    longest = max(1, found["lengths"].max())
    return Hypotheses(
        tokens=found["tokens"][:, None, :longest],
        scores=found["log_probs"][:, None],
        log_probs=found["log_probs"][:, None],
        lengths=found["lengths"][:, None],
        finished=found["finished"][:, None],
    )


def _search(model, cache_length, options, source, limit):
    memory, cache = model.start(source, cache_length)
    rows = ops.shape(source)[0]
    state = {
        "index": ops.zeros((), "int32"),
        "token": ops.full((rows,), BOS, "int32"),
        "cache": cache,
        "tokens": ops.full((rows, cache_length), PAD, "int32"),
        "log_probs": ops.zeros((rows,), "float32"),
        "lengths": ops.zeros((rows,), "int32"),
        "finished": ops.all(ops.equal(source, PAD), axis=1),  # an empty row has nothing to say
        "nan_step": ops.full((), -1, "int32"),
    }

    def going(state):
        on = ops.logical_and(state["index"] < limit, state["nan_step"] < 0)
        return ops.logical_and(on, ops.logical_not(ops.all(state["finished"])))

    def advance(state):
        index, finished = state["index"], state["finished"]
        logits, cache, _ = model.step(state["token"], index, memory, state["cache"])
        choices = generable(logits)
        best = ops.max(choices, axis=-1) - ops.logsumexp(logits, axis=-1)
        token = ops.where(finished, PAD, ops.cast(ops.argmax(choices, axis=-1), "int32"))
        return {
            "index": index + 1,
            "token": token,
            "cache": cache,
            "tokens": ops.slice_update(state["tokens"], (0, index), ops.expand_dims(token, 1)),
            "log_probs": state["log_probs"] + ops.where(finished, 0.0, best),
            "lengths": state["lengths"] + ops.cast(ops.logical_not(finished), "int32"),
            "finished": ops.logical_or(finished, ops.equal(token, EOS)),
            "nan_step": first_nan(state["nan_step"], logits, index),
        }

    (state,) = ops.while_loop(going, lambda state: (advance(state),), (state,))
    return {name: state[name] for name in ("tokens", "log_probs", "lengths", "finished", "nan_step")}
