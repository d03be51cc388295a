"""Models of one's own, small enough to enumerate everything that they can write."""

import itertools

import numpy as np
from hypothesis import strategies as st
from keras import ops

from zoo.ids import BOS, EOS

A, B = 4, 5
# PAD, BOS, EOS, UNK, A, B: p(A) = .5, p(B) = .4, p(EOS) = .1; after A .3, .3, EOS .4; after B .05, .05, EOS .9
CHAIN = [[0] * 6, [0, 0, 0.1, 0, 0.5, 0.4], [0] * 6, [0] * 6, [0, 0, 0.4, 0, 0.3, 0.3], [0, 0, 0.9, 0, 0.05, 0.05]]


class Chain:
    """p(next | last token), by a table; the source only says how many rows there are."""

    def __init__(self, table):
        table = np.array(table, "float32")
        table[table.sum(axis=1) == 0] = 1  # rows that are never asked for
        with np.errstate(divide="ignore"):
            self.log_p = np.log(table)

    def start(self, source, max_length):
        return {"source": source}, {"seen": ops.zeros_like(source[:, 0])}

    def step(self, token, index, memory, cache):
        logits = ops.take(ops.convert_to_tensor(self.log_p), token, axis=0)
        return logits, {"seen": cache["seen"] + 1}, ops.ones_like(memory["source"], dtype="float32")[:, None]


class Tables:
    """Logits by position and last token, read from the source itself: one graph serves every table.

    A source row holds STEPS x VOCABULARY x VOCABULARY ids from 1 to 1000; logits are (id - 500) / 125. The cache holds
    the tokens so far and adds a trace of all of them to the logits, so that a cache that is not reordered shows. The
    attention of step t to position s is softmax over s of (id_s mod 7) x (token + 1) / 7.
    """

    def __init__(self, steps=4, letters=5):
        self.steps, self.letters = steps, letters

    @property
    def width(self):
        return self.steps * self.letters**2

    def start(self, source, max_length):
        table = (ops.cast(source, "float32") - 500.0) / 125.0
        shape = (-1, self.steps, self.letters, self.letters)
        return {"table": ops.reshape(table, shape), "source": source}, {"trace": ops.zeros_like(table[:, 0])}

    def step(self, token, index, memory, cache):
        at = ops.take(memory["table"], ops.minimum(index, self.steps - 1), axis=1)
        logits = ops.take_along_axis(
            at, ops.broadcast_to(token[:, None, None], (ops.shape(token)[0], 1, self.letters)), axis=1
        )
        trace = cache["trace"] * 0.5 + ops.cast(token, "float32")
        logits = logits[:, 0] + ops.sin(trace[:, None] * ops.arange(1, self.letters + 1, dtype="float32"))
        scores = ops.cast(memory["source"] % 7, "float32") * ops.cast(token + 1, "float32")[:, None] / 7.0
        return logits, {"trace": trace}, ops.softmax(scores)[:, None]

    def forced(self, row, tokens):
        """Float64, one token at a time: (log p of each token, attention (T, S), whole distributions (T, V))."""
        table = ((np.array(row, "float64") - 500) / 125).reshape(self.steps, self.letters, self.letters)
        trace, last, log_p, maps, all_p = 0.0, BOS, [], [], []
        for t, token in enumerate(tokens):
            trace = trace * 0.5 + last
            logits = table[min(t, self.steps - 1), last] + np.sin(trace * np.arange(1, self.letters + 1))
            logits = logits - logits.max()
            distribution = logits - np.log(np.exp(logits).sum())
            log_p.append(distribution[token])
            all_p.append(distribution)
            scores = np.array(row) % 7 * (last + 1) / 7
            maps.append(np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum())
            last = token
        return np.array(log_p), np.array(maps), np.array(all_p)

    def outputs(self, max_length):
        """Everything that can be written: whole outputs, and those cut by the limit."""
        letters = range(3, self.letters)
        for length in range(max_length):
            for start in itertools.product(letters, repeat=length):
                yield (*start, EOS)
        yield from itertools.product(letters, repeat=max_length)


def score(log_p, maps, length, alpha, beta):
    """Wu et al., Eq. 14."""
    covered = np.log(np.minimum(maps.sum(axis=0), 1)).sum()
    return log_p / ((5 + length) / 6) ** alpha + beta * covered


MODEL = Tables()
rows = st.lists(st.integers(1, 1000), min_size=MODEL.width, max_size=MODEL.width)


def texts(found, row=0):
    """What was found for a row: tuples of tokens, without padding."""
    return [tuple(t[:n].tolist()) for t, n in zip(found.tokens[row], found.lengths[row], strict=True)]


def enumerate_all(row, max_length, alpha, beta, min_length=0, banned=(), n=0, prefix=()):
    """[(score, log p, tokens)] of all whole outputs that the rules allow, best first; then the same of cut ones."""
    whole, cut = [], []
    for tokens in MODEL.outputs(max_length):
        ends = tokens[-1] == EOS
        grams = [tokens[i : i + n] for i in range(len(tokens) - n + 1)] if n else []
        free = tokens[len(prefix) :]
        if (ends and len(tokens) < min_length) or set(free) & set(banned) or len(set(grams)) < len(grams):
            continue
        if tokens[: len(prefix)] != tuple(prefix):
            continue
        log_p, maps, _ = MODEL.forced(row, tokens)
        ranked = score(log_p.sum(), maps, len(tokens), alpha, beta), log_p.sum(), tokens
        (whole if ends else cut).append(ranked)
    return sorted(whole, reverse=True), sorted(cut, reverse=True)
