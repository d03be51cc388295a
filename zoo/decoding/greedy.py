"""Greedy search: at each position the likeliest token."""

from keras import ops

from zoo.decoding.protocol import Hypotheses, check_max_length, check_source, generable, run_compiled
from zoo.decoding.stepwise import write_stepwise


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
    def likeliest(logits, index):
        return ops.cast(ops.argmax(generable(logits), axis=-1), "int32")

    return write_stepwise(model, source, cache_length, limit, likeliest)
