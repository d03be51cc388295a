"""What an output may and must be: tokens that are hidden from the choice at a step."""

from dataclasses import dataclass

import numpy as np
from keras import ops

from zoo.decoding.protocol import check_whole, generable
from zoo.ids import EOS, PAD

_PREFIX_MULTIPLE = 4  # widths of prefixes are rounded up to it, so that few graphs serve them


@dataclass(frozen=True)
class Constraints:
    """Rules for every row of a search.

    Attributes:
        min_length: fewest tokens of an output, EOS included.
        banned: ids that are never written.
        no_repeat_ngrams: n, no n tokens in a row occur twice in an output; 0 = no rule.
    """

    min_length: int = 0
    banned: tuple = ()
    no_repeat_ngrams: int = 0

    def __post_init__(self):
        for name in ("min_length", "no_repeat_ngrams"):
            check_whole(name, getattr(self, name), 0)


def check_banned(banned, vocabulary):
    """Returns banned ids as a sorted tuple.

    Raises:
        ValueError: an id that the vocabulary lacks, or EOS, without which nothing ends.
    """
    banned = tuple(sorted({int(token) for token in banned}))
    for token in banned:
        if vocabulary is not None and not 0 <= token < vocabulary:
            raise ValueError(f"banned token {token}: ids run from 0 to {vocabulary - 1}")
        if token == EOS:
            raise ValueError(f"banned token {EOS} is the EOS, without which no output ends: use min_length instead")
    return banned


def check_prefix(prefix, source, max_length, vocabulary):
    """Returns forced first tokens as int32 (B, P), P a multiple of 4; PAD where there are none.

    Raises:
        ValueError: another number of rows, ids that cannot be written, or a prefix that leaves no room for the EOS.
    """
    if prefix is None:
        return np.full((len(source), _PREFIX_MULTIPLE), PAD, "int32")
    prefix = np.asarray(prefix)
    if prefix.ndim != 2 or len(prefix) != len(source) or not prefix.shape[1] or prefix.dtype.kind not in "iu":
        raise ValueError(
            f"prefix has shape {prefix.shape}: must be whole-numbered ids (B, P), a row for each of the "
            f"{len(source)} sources"
        )
    real = prefix != PAD
    if (real[:, 1:] & ~real[:, :-1]).any():
        raise ValueError("prefix has PAD between its tokens: PAD comes after the last")
    if (real & (prefix <= EOS)).any() or (vocabulary is not None and prefix.max() >= vocabulary):
        raise ValueError(f"prefix has ids from {prefix.min()} to {prefix.max()}: a prefix is ids of words, or PAD")
    longest = int(real.sum(axis=1).max())
    if longest >= max_length:
        raise ValueError(f"prefix of {longest} tokens leaves no room for an EOS within max_length={max_length}")
    width = -(-prefix.shape[1] // _PREFIX_MULTIPLE) * _PREFIX_MULTIPLE
    return np.pad(prefix, ((0, 0), (0, width - prefix.shape[1])), constant_values=PAD).astype("int32")


def allow(log_probs, index, tokens, prefix, constraints):
    """Sets what may not be chosen to -inf; probabilities of the rest stay as they are.

    Args:
        log_probs: (B, K, V).
        index: scalar, the position that is chosen for.
        tokens: (B, K, L) written so far.
        prefix: (B, P) forced first tokens, PAD where there is none. A forced token wins over every other rule.
        constraints: Constraints.
    """
    vocabulary = log_probs.shape[-1]
    every = ops.arange(vocabulary)
    allowed = generable(log_probs)
    if constraints.min_length > 1:
        early = ops.logical_and(index + 1 < constraints.min_length, every == EOS)
        allowed = ops.where(early, -np.inf, allowed)
    if constraints.banned:
        allowed = ops.where(np.isin(np.arange(vocabulary), constraints.banned), -np.inf, allowed)
    if 0 < constraints.no_repeat_ngrams <= tokens.shape[2]:  # longer ones cannot come twice
        repeated = _repeats(index, tokens, vocabulary, constraints.no_repeat_ngrams)
        allowed = ops.where(repeated, -np.inf, allowed)
    column = ops.take(prefix, ops.minimum(index, prefix.shape[1] - 1), axis=1)
    forced = ops.where(index < prefix.shape[1], column, PAD)[:, None, None]
    only = ops.where(every == forced, log_probs, -np.inf)
    return ops.where(forced == PAD, allowed, only)


def _repeats(index, tokens, vocabulary, n):
    """(B, K, V): which tokens would end an n-gram that is in the row already."""
    rows, beams = ops.shape(tokens)[:2]
    starts = max(int(tokens.shape[2]) - n + 1, 1)
    # n-grams at 0 ... L - n that are whole and before `index`
    same = ops.broadcast_to(ops.arange(starts) + n <= index, (rows, beams, starts))
    for i in range(n - 1):
        last = ops.take(tokens, ops.maximum(index - (n - 1) + i, 0), axis=2)
        same = ops.logical_and(same, ops.equal(tokens[:, :, i : i + starts], last[:, :, None]))
    ends = ops.where(same, tokens[:, :, n - 1 : n - 1 + starts], PAD)  # PAD is hidden anyway
    places = [
        ops.broadcast_to(p, (rows, beams, starts))
        for p in (ops.arange(rows)[:, None, None], ops.arange(beams)[None, :, None])
    ]
    where = ops.reshape(ops.stack([*places, ends], axis=-1), (-1, 3))
    counts = ops.scatter(where, ops.ones((rows * beams * starts,), "int32"), (rows, beams, vocabulary))
    return counts > 0
