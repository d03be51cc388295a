"""Words that an output must hold: places are shared among beginnings that have more of them and that have fewer."""

import numpy as np
from keras import ops

from zoo.decoding.ranking import gather
from zoo.ids import EOS, PAD

_BANK = 1e4  # more than the tokens of all phrases together


def check_phrases(phrases, source, max_length, vocabulary):
    """Returns phrases as int32 (B, C, P), PAD-filled, or None where there are none.

    Args:
        phrases: for each source, a list of phrases, each a list of ids.
    Raises:
        ValueError: another number of lists, an empty phrase, an id that cannot be written, or phrases that are too long
            for `max_length` together.
    """
    if phrases is None:
        return None
    if len(phrases) != len(source):
        raise ValueError(
            f"must_include has {len(phrases)} lists of phrases for {len(source)} sources: give one for each"
        )
    for row, wanted in enumerate(phrases):
        for phrase in wanted:
            if not hasattr(phrase, "__len__"):
                raise ValueError(f"must_include of row {row + 1} has {phrase!r}: a phrase is a list of ids")
            if not len(phrase) or min(phrase) <= EOS or (vocabulary is not None and max(phrase) >= vocabulary):
                raise ValueError(
                    f"must_include of row {row + 1} has {list(phrase)}: a phrase is one or more ids of words"
                )
        if sum(map(len, wanted)) >= max_length:
            raise ValueError(f"must_include of row {row + 1} leaves no room for an EOS within max_length={max_length}")
    if not any(len(wanted) for wanted in phrases):
        return None
    count, longest = max(map(len, phrases)), max(len(phrase) for wanted in phrases for phrase in wanted)
    filled = np.full((len(source), count, longest), PAD, "int32")
    for row, wanted in zip(filled, phrases, strict=True):
        for place, phrase in zip(row, wanted, strict=False):
            place[: len(phrase)] = phrase
    return filled


def begun(tokens, index, phrases):
    """How many tokens of each phrase the row ends in: (B, K, L) with `index` written, (B, C, P) -> (B, K, C) int.

    The most for which the row's last p tokens are the phrase's first p, p less than its length.
    """
    length = phrases.shape[2]
    places = index - length + ops.arange(length)
    last = ops.where(places >= 0, ops.take(tokens, ops.maximum(places, 0), axis=2), PAD)
    sizes = _sizes(phrases)
    most = ops.zeros((*ops.shape(tokens)[:2], phrases.shape[1]), "int32")
    for p in range(1, length):
        same = ops.equal(last[:, :, None, length - p :], phrases[:, None, :, :p])
        most = ops.where(ops.all(same, axis=-1) & (p < sizes), p, most)
    return most


def _sizes(phrases):
    """Tokens of each phrase: (B, C, P) -> (B, 1, C)."""
    return ops.sum(ops.cast(ops.not_equal(phrases, PAD), "int32"), axis=2)[:, None]


def close(choices, met):
    """Hides EOS where a phrase is missing: choices (B, K, V), met (B, K, C)."""
    missing = ops.logical_not(ops.all(met, axis=2))[:, :, None]
    return ops.where(missing & (ops.arange(choices.shape[-1]) == EOS), -np.inf, choices)


def share(ahead, choices, log_probs, live, index, phrases):
    """Adds each beam's next token of each missing phrase to its continuations, and shares places among banks.

    Dynamic beam allocation (Post and Vilar 2018, section 4): a bank holds the continuations with as many tokens of
    phrases; places go round the banks, to the best of each, then to the second best, fuller banks first.

    Args:
        ahead: what `candidates` gave: M continuations.
        choices, log_probs: (B, K, V) and (B, K).
        live: the beams, with "tokens" and "met" (B, K, C).
        phrases: (B, C, P).
    Returns:
        The same as `ahead`, of M + K C continuations, and "met" of each.
    """
    rows, beams, count = ops.shape(live["met"])
    prefix = begun(live["tokens"], index, phrases)
    following = ops.take_along_axis(
        ops.broadcast_to(phrases[:, None], (rows, beams, *phrases.shape[1:])), prefix[..., None], axis=3
    )[..., 0]
    parent = ops.broadcast_to(ops.arange(beams)[None, :, None], (rows, beams, count))
    wanted = ops.logical_not(live["met"]) & ops.not_equal(following, PAD)
    scores = ops.take_along_axis(log_probs[:, :, None] + choices, following, axis=2)
    parent, token, scores = (
        ops.reshape(x, (rows, -1)) for x in (parent, following, ops.where(wanted, scores, -np.inf))
    )
    known = ops.equal(parent[:, :, None], ahead["parent"][:, None]) & ops.equal(
        token[:, :, None], ahead["token"][:, None]
    )
    before = ops.arange(beams * count) < ops.arange(beams * count)[:, None]
    twice = ops.equal(parent[:, :, None], parent[:, None]) & ops.equal(token[:, :, None], token[:, None]) & before
    scores = ops.where(ops.any(known, axis=2) | ops.any(twice, axis=2), -np.inf, scores)

    whole = {name: ops.concatenate(pair, axis=1) for name, pair in {
        "parent": (ahead["parent"], parent), "token": (ahead["token"], token), "log_probs": (ahead["log_probs"], scores)
    }.items()}  # fmt: skip
    sizes = _sizes(phrases)
    had, prefix, following = (gather(x, whole["parent"]) for x in (live["met"], prefix, following))
    taken = ops.equal(whole["token"][:, :, None], following)
    whole["met"] = had | (taken & (prefix + 1 == sizes))
    first = ops.cast(ops.equal(whole["token"][:, :, None], phrases[:, None, :, 0]), "int32")
    bank = ops.sum(ops.where(whole["met"], sizes, ops.where(taken, prefix + 1, first)), axis=2)

    ends = ops.equal(whole["token"], EOS)
    whole["finishing"] = ends
    order = ops.where(ends, -np.inf, whole["log_probs"])
    above = ops.equal(bank[:, None], bank[:, :, None]) & (order[:, None] > order[:, :, None])
    rank = ops.sum(ops.cast(above, "float32"), axis=2)
    place = ops.where(order == -np.inf, -np.inf, ops.cast(bank, "float32") - _BANK * rank)
    going, whole["live"] = ops.top_k(place, beams)
    alive = ops.take_along_axis(whole["log_probs"], whole["live"], axis=1)
    whole["live_log_probs"] = ops.where(going == -np.inf, -np.inf, alive)
    return whole
