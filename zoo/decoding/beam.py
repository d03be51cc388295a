"""Beam search: the likeliest outputs that a few hypotheses a source, followed together, lead to."""

from dataclasses import dataclass

import keras
import numpy as np
from keras import ops

from zoo.decoding.constraints import Constraints, allow, check_banned, check_prefix
from zoo.decoding.lexical import check_phrases, close, share
from zoo.decoding.protocol import (
    Hypotheses,
    check_max_length,
    check_number,
    check_source,
    check_whole,
    first_nan,
    repeat_rows,
    run_compiled,
)
from zoo.decoding.ranking import candidates, finish, gather, keep, penalty, write
from zoo.ids import BOS, PAD

ATTENTION = (False, True, "heads")


@dataclass(frozen=True)
class _Options:
    """What is fixed in the graph."""

    beams: int
    n_best: int
    groups: int
    attention: object
    covering: bool
    prefix: int
    phrases: tuple | None
    constraints: Constraints


def beam_search(
    model,
    source,
    beams=4,
    n_best=None,
    max_length=None,
    length_penalty=0.6,
    coverage_penalty=0.0,
    min_length=0,
    banned=(),
    no_repeat_ngrams=0,
    prefix=None,
    must_include=None,
    groups=1,
    diversity=0.5,
    return_attention=False,
):
    """Follows the `beams` likeliest beginnings of an output at a time, and returns the best whole ones.

        score(y) = log p(y | x) / ((5 + n) / 6)^alpha + beta sum_i log min(sum_j a_ji, 1)

    Vaswani et al. 2017, section 6.1; Wu et al. 2016 (GNMT), Eq. 14. n is the number of the output's tokens, EOS
    included; a_ji the attention from its j-th token to the i-th of the source, mean over heads.

    A beginning that takes EOS while it is among the `beams` best leaves the live set, whose place is filled, and is
    kept with the best `n_best` finished ones. A source is done when the worst of these beats what the best live
    beginning could still get, log p / ((5 + max_length) / 6)^alpha, or at `max_length`. Tokens that a rule hides keep
    their share of the probability: `log_probs` are the model's own.

    With `groups`, beams are split into groups that choose one after another, and a token loses `diversity` for each
    earlier group's beam that has chosen it at this position (Vijayakumar et al. 2018, Hamming diversity).

    Args:
        model: anything with `start` and `step` (see `zoo.decoding.protocol`).
        source: (B, S) int ids, PAD after the last real token; a row of PAD alone gets empty outputs.
        beams: K, beginnings followed for each source; at most the vocabulary.
        n_best: N, outputs returned for each source, different from one another; default K.
        max_length: most tokens of an output, EOS included; default S + 50.
        length_penalty: alpha; 0 compares log-probabilities as they are, more favours longer outputs.
        coverage_penalty: beta; 0 = none.
        min_length: fewest tokens of an output, EOS included.
        banned: ids never written.
        no_repeat_ngrams: n; no n tokens in a row occur twice. 0 = no rule.
        prefix: (B, P) ids that outputs begin with, PAD after the last; part of the output and of its length.
        must_include: for each source, a list of phrases (lists of ids) that an output has to hold before it may end
            (Post and Vilar 2018). Where none does by `max_length`, unfinished ones are returned.
        groups, diversity: see above; `groups` divides `beams`.
        return_attention: True returns the mean over all heads of attention to the source, "heads" each of them, in
            `attention` layer after layer and in `maps` by layer.
    Returns:
        Hypotheses, best first. One that is not finished is returned only where fewer than N finished, and after them:
        its score has no coverage penalty and loses 10,000 (and the most that a coverage penalty can be), once and for
        each phrase of `must_include` that is missing. Where even these are too few, a place has no tokens and the score
        -inf.
    Raises:
        ValueError: values that cannot be; logits that are NaN, with the step.

    Example::

        zoo.beam_search(model, source, beams=4).tokens[:, 0]
    """
    source = check_source(source, model)
    max_length = check_max_length(max_length, source, model)
    vocabulary = model.vocabulary("target") if hasattr(model, "vocabulary") else None
    beams, n_best, groups = _check(beams, beams if n_best is None else n_best, groups, vocabulary)
    numbers = {"alpha": check_number("length_penalty", length_penalty)}
    numbers.update(
        beta=check_number("coverage_penalty", coverage_penalty), diversity=check_number("diversity", diversity)
    )
    if return_attention not in ATTENTION:
        raise ValueError(f"return_attention={return_attention!r}: must be False, True or 'heads'")
    if min_length > max_length:
        raise ValueError(f"min_length={min_length}: must be at most max_length={max_length}")
    constraints = Constraints(min_length, check_banned(banned, vocabulary), no_repeat_ngrams)
    inputs = {name: np.float32(value) for name, value in numbers.items()}
    inputs["prefix"] = check_prefix(prefix, source, max_length, vocabulary)
    phrases = check_phrases(must_include, source, max_length, vocabulary)
    if phrases is not None:
        if groups > 1:
            raise ValueError(f"groups={groups} and must_include do not go together: use one of them")
        if np.isin(phrases, constraints.banned).any():
            raise ValueError(f"must_include asks for a token that is banned: {constraints.banned}")
        inputs["phrases"] = phrases
    shapes = inputs["prefix"].shape[1], None if phrases is None else phrases.shape[1:]
    options = _Options(beams, n_best, groups, return_attention, coverage_penalty > 0, *shapes, constraints)
    found = run_compiled(model, _search, max_length, options, source=source, **inputs)
    longest = max(1, found["lengths"].max())
    attention = found.get("attention")
    if attention is not None:
        attention = attention[:, :, :, :longest]
    return Hypotheses(
        tokens=found["tokens"][:, :, :longest],
        scores=found["scores"],
        log_probs=found["log_probs"],
        lengths=found["lengths"],
        finished=found["finished"],
        attention=attention,
        maps=_by_layer(model, attention) if return_attention == "heads" else {},
    )


def _by_layer(model, attention):
    heads = getattr(model, "step_heads", {"decoder/0/cross": attention.shape[2]})
    return dict(zip(heads, np.split(attention, np.cumsum([*heads.values()])[:-1], axis=2), strict=True))


def _check(beams, n_best, groups, vocabulary):
    beams, n_best = check_whole("beams", beams, 1), check_whole("n_best", n_best, 1)
    groups = check_whole("groups", groups, 1)
    if n_best > beams:
        raise ValueError(f"n_best={n_best}: must be at most beams={beams}")
    if beams % groups:
        raise ValueError(f"groups={groups} does not divide beams={beams}: change one")
    if vocabulary is not None and beams > vocabulary:
        raise ValueError(f"beams={beams}: must be at most the vocabulary, {vocabulary}")
    return beams, n_best, groups


def _search(model, cache_length, options, source, limit, alpha, beta, diversity, prefix, phrases=None):
    beams, rows = options.beams, ops.shape(source)[0]
    memory, cache = (repeat_rows(tree, beams) for tree in model.start(source, cache_length))
    empty = ops.all(ops.equal(source, PAD), axis=1)
    nothing = ops.full((rows, beams, cache_length), PAD, "int32")
    # At first one beam alone is alive, or all would write the same. An empty row has one whole output from the start.
    alive = ops.where(ops.arange(beams) % (beams // options.groups) == 0, 0.0, -np.inf)
    live = {"tokens": nothing, "path": nothing, "log_probs": ops.zeros((rows, 1)) + alive}
    if options.covering:
        live["covered"] = ops.zeros((rows, beams, ops.shape(source)[1]))
    prefix = ops.reshape(prefix, (rows, options.prefix))  # a graph for many shapes has forgotten this one
    if phrases is not None:
        phrases = ops.reshape(phrases, (rows, *options.phrases))
        live["met"] = ops.repeat(ops.all(ops.equal(phrases, PAD), axis=2)[:, None], beams, axis=1)
    kept = {
        "tokens": nothing[:, : options.n_best],
        "path": nothing[:, : options.n_best],
        "log_probs": ops.where(ops.logical_and(empty[:, None], ops.arange(options.n_best) == 0), 0.0, -np.inf),
        "lengths": ops.zeros((rows, options.n_best), "int32"),
    }
    state = {
        "index": ops.zeros((), "int32"),
        "live": live,
        "cache": cache,
        "kept": kept,
        "scores": kept["log_probs"],
        "done": empty,
        "nan_step": ops.full((), -1, "int32"),
    }
    if options.attention:
        state["attention"] = _attention_buffer(model, memory, cache, options, rows, cache_length, source)

    def going(state):
        on = ops.logical_and(state["index"] < limit, state["nan_step"] < 0)
        return ops.logical_and(on, ops.logical_not(ops.all(state["done"])))

    def advance(state):
        index, live = state["index"], state["live"]
        last = ops.take(live["tokens"], ops.maximum(index - 1, 0), axis=2)
        token = ops.reshape(ops.where(index > 0, last, BOS), (-1,))
        logits, cache, attention = model.step(token, index, memory, state["cache"])
        log_probs = ops.log_softmax(ops.cast(logits, "float32"), axis=-1)
        log_probs = ops.reshape(log_probs, (rows, beams, logits.shape[-1]))
        choices = allow(log_probs, index, live["tokens"], prefix, options.constraints)
        if options.covering or options.attention:
            heads = ops.reshape(attention, (rows, beams, *ops.shape(attention)[1:]))
        if options.covering:
            live = {**live, "covered": live["covered"] + ops.mean(heads, axis=2)}
        if phrases is not None:
            choices = close(choices, live["met"])
        ahead = candidates(choices, live["log_probs"], options, diversity)
        if phrases is not None:
            ahead = share(ahead, choices, live["log_probs"], live, index, phrases)
        chosen = gather({name: leaf for name, leaf in live.items() if name != "log_probs"}, ahead["parent"])
        chosen["tokens"] = write(chosen["tokens"], index, ahead["token"])
        chosen["path"] = write(chosen["path"], index, ahead["parent"])
        chosen.update({name: ahead[name] for name in ("log_probs", "parent", "met") if name in ahead})

        kept, scores = keep(state, chosen, ahead, index, source, alpha, beta, options)
        live = gather(chosen, ahead["live"])
        live["log_probs"] = ahead["live_log_probs"]
        flat = ops.reshape(live.pop("parent") + beams * ops.arange(rows)[:, None], (-1,))
        bound = ops.max(live["log_probs"], axis=1) / penalty(limit, alpha)
        after = {
            "index": index + 1,
            "live": live,
            "cache": keras.tree.map_structure(lambda leaf: ops.take(leaf, flat, axis=0), cache),
            "kept": kept,
            "scores": scores,
            "done": ops.logical_or(state["done"], scores[:, -1] >= bound),
            "nan_step": first_nan(state["nan_step"], logits, index),
        }
        if options.attention:
            heads = heads if options.attention == "heads" else ops.mean(heads, axis=2, keepdims=True)
            after["attention"] = ops.slice_update(state["attention"], (0, 0, index, 0, 0), heads[:, :, None])
        return after

    (state,) = ops.while_loop(going, lambda state: (advance(state),), (state,))
    return finish(state, options, alpha, beta, empty, phrases)


def _attention_buffer(model, memory, cache, options, rows, cache_length, source):
    """Room for the attention of every beam at every step (B, K, L, H, S); what is kept is picked from it at the end."""
    heads = 1
    if options.attention == "heads":
        token = ops.full((rows * options.beams,), BOS, "int32")
        heads = model.step(token, 0, memory, cache)[2].shape[1]
    return ops.zeros((rows, options.beams, cache_length, heads, ops.shape(source)[1]))
