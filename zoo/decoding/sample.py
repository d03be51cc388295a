"""Sampling: outputs drawn from the model's distribution, or from its likelier part."""

from dataclasses import dataclass

import numpy as np
from keras import ops

from zoo.decoding.protocol import (
    Hypotheses,
    check_max_length,
    check_number,
    check_source,
    check_whole,
    generable,
    run_compiled,
)
from zoo.decoding.stepwise import write_stepwise

_COLDEST = 1e-3  # temperature below which probabilities underflow


@dataclass(frozen=True)
class _Options:
    """What is fixed in the graph: how many outputs a source gets, and which filters there are."""

    samples: int
    filters: tuple


def sample(
    model,
    source,
    max_length=None,
    temperature=1.0,
    top_k=None,
    top_p=None,
    min_p=None,
    typical=None,
    seed=0,
    samples=1,
):
    """Draws outputs token by token.

        p'(v) ~ p(v | y_1 ... y_{t-1}, x)^(1/temperature), v not PAD, not BOS, cut down by the filters in this order:

        top_k     the k likeliest tokens                                               Fan et al. 2018
        top_p     the fewest likeliest tokens with p_1 + ... + p_m >= top_p            Holtzman et al. 2020
        min_p     tokens with p(v) >= min_p max p                                      Nguyen et al. 2024
        typical   the fewest tokens nearest to the entropy, |-log p(v) - H|, with p_1 + ... + p_m >= typical
                                                                                       Meister et al. 2023

    Each filter sees what the one before left, scaled to sum to 1. Tokens of equal probability are kept together.

    What a source gets depends on its seed alone, not on the batch that it is in.

    Args:
        model: anything with `start` and `step` (see `zoo.decoding.protocol`).
        source: (B, S) int ids, PAD after the last real token; a row of PAD alone gets empty outputs.
        max_length: most tokens of an output, EOS included; default S + 50.
        temperature: at least 0.001; below 1 sharpens, above 1 flattens.
        top_k, top_p, min_p, typical: filters; None = none.
        seed: a whole number of at least 0, or one for each row (B,). A number s gives row b the seed (s, b).
        samples: N, outputs of each source.
    Returns:
        Hypotheses, the likeliest of a source's outputs first. `log_probs` are the model's own, without temperature and
        filters.
    Raises:
        ValueError: values that cannot be; logits that are NaN, with the step.

    Example::

        zoo.sample(model, source, temperature=0.8, top_p=0.95, seed=7)
    """
    source = check_source(source, model)
    max_length = check_max_length(max_length, source, model)
    check_number("temperature", temperature, f"must be at least {_COLDEST}; for less, use zoo.greedy", _COLDEST)
    samples = check_whole("samples", samples, 1)
    filters = {"top_k": top_k, "top_p": top_p, "min_p": min_p, "typical": typical}
    filters = {name: _check_filter(name, value) for name, value in filters.items() if value is not None}
    numbers = {name: np.float32(value) for name, value in {**filters, "temperature": temperature}.items()}
    uniforms = _uniforms(seed, len(source), samples, max_length)
    options = _Options(samples, tuple(filters))
    found = run_compiled(model, _search, max_length, options, source=source, uniforms=uniforms, **numbers)
    shaped = {name: value.reshape(len(source), samples, *value.shape[1:]) for name, value in found.items()}
    order = np.argsort(-shaped["log_probs"], axis=1, kind="stable")
    ranked = {
        name: np.take_along_axis(value, order.reshape(*order.shape, *[1] * (value.ndim - 2)), axis=1)
        for name, value in shaped.items()
    }
    longest = max(1, ranked["lengths"].max())
    return Hypotheses(**{**ranked, "tokens": ranked["tokens"][:, :, :longest]}, scores=ranked["log_probs"])


def _check_filter(name, value):
    if name == "top_k":
        return check_whole(name, value, 1)
    return check_number(name, value, "must be more than 0 and at most 1, or None", 1e-9, 1.0)


def _uniforms(seed, rows, samples, length):
    """Numbers from [0, 1) for every output and step (B N, L): a row's own generator gives the same for any batch."""
    seeds = np.asarray(seed)
    if seeds.dtype.kind not in "iu" or seeds.shape not in ((), (rows,)) or seeds.min() < 0:
        raise ValueError(f"seed={seed!r}: must be a whole number of at least 0, or one for each of the {rows} rows")
    keys = [(0, int(seeds), row) for row in range(rows)] if seeds.ndim == 0 else [(1, int(s)) for s in seeds]
    drawn = [np.random.default_rng((*key, n)).random(length, "float32") for key in keys for n in range(samples)]
    # The graph's arrays are as long as its cache; what lies past the limit is never read.
    return np.stack(drawn)


def _search(model, cache_length, options, source, limit, uniforms, temperature, **filters):
    def draw(logits, index):
        p = ops.softmax(generable(logits) / temperature, axis=-1)
        for name in options.filters:
            p = FILTERS[name](p, filters[name])
            p = p / ops.sum(p, axis=-1, keepdims=True)
        return _draw(p, ops.take(uniforms, index, axis=1))

    return write_stepwise(model, source, cache_length, limit, draw, options.samples)


def _draw(p, uniform):
    """The first token whose cumulated probability is more than a share `uniform` of the whole: p (B, V) -> (B,)."""
    cumulated = ops.cumsum(p, axis=-1)
    below = cumulated <= uniform[:, None] * cumulated[:, -1:]
    token = ops.sum(ops.cast(below, "int32"), axis=-1)
    # Rounding must never land on a token that is not there.
    last = p.shape[-1] - 1 - ops.argmax(ops.cast(ops.flip(p, axis=-1) > 0, "int32"), axis=-1)
    return ops.minimum(token, ops.cast(last, "int32"))


def _top_k(p, k):
    ranked = ops.flip(ops.sort(p, axis=-1), axis=-1)
    place = ops.minimum(ops.cast(k, "int32"), p.shape[-1]) - 1
    return ops.where(p >= ops.take(ranked, place, axis=-1)[:, None], p, 0.0)


def _top_p(p, share):
    ranked = ops.flip(ops.sort(p, axis=-1), axis=-1)
    before = ops.cumsum(ranked, axis=-1) - ranked
    least = ops.min(ops.where(before < share, ranked, 1.0), axis=-1, keepdims=True)
    return ops.where(p >= least, p, 0.0)


def _min_p(p, share):
    return ops.where(p >= share * ops.max(p, axis=-1, keepdims=True), p, 0.0)


def _typical(p, share):
    surprise = -ops.log(ops.maximum(p, 1e-30))
    entropy = ops.sum(p * surprise, axis=-1, keepdims=True)
    away = ops.where(p > 0, ops.abs(surprise - entropy), np.inf)
    order = ops.argsort(away, axis=-1)
    ranked = ops.take_along_axis(p, order, axis=-1)
    before = ops.cumsum(ranked, axis=-1) - ranked
    farthest = ops.where(before < share, ops.take_along_axis(away, order, axis=-1), -1.0)
    return ops.where(away <= ops.max(ops.where(farthest == np.inf, -1.0, farthest), axis=-1, keepdims=True), p, 0.0)


FILTERS = {"top_k": _top_k, "top_p": _top_p, "min_p": _min_p, "typical": _typical}
