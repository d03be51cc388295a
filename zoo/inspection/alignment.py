"""Word alignments read off attention, and how far they are from those that people made."""

import itertools
from dataclasses import dataclass

import numpy as np

_WORD = "▁"  # how SentencePiece marks a word's first piece
_MARKS = ("<pad>", "<s>", "</s>")  # pieces that are no part of the text
READINGS = ("predicted", "read")


@dataclass(frozen=True)
class WordAttention:
    """Attention between words.

    Attributes:
        weights: float64 (target words, source words). A source word has the sum of its pieces' weights, a target word
            the mean of its pieces' rows; what falls on the source's EOS is left out.
    """

    weights: np.ndarray

    def links(self):
        """One source word for each target word, the one with the largest weight: a set of (source, target) indices.

        A target word with no weight at all gets none (Luong et al. 2015, section 5.4, and their Table 6).
        """
        if not self.weights.size:
            return set()
        best = self.weights.argmax(axis=1)
        return {(int(s), t) for t, s in enumerate(best) if self.weights[t, s] > 0}

    def entropy(self):
        """Mean of -sum_s w ln w over target words, in nats, each row scaled to sum to 1; rows of zeros are left out."""
        rows = self.weights[self.weights.sum(axis=1) > 0]
        rows = rows / rows.sum(axis=1, keepdims=True)
        return float(-(rows * np.log(np.where(rows > 0, rows, 1))).sum(axis=1).mean()) if len(rows) else 0.0


def word_attention(view, role, head=0, reading="predicted"):
    """Joins the pieces of a sentence pair into words.

    Args:
        view: AttentionView of a sentence pair.
        role: which map, such as "decoder/0/cross"; its rows are target pieces and its columns source pieces.
        head: which head.
        reading: what a row stands for. "predicted": the piece that is predicted from it. "read": the piece that the
            decoder has just read, which content-based scores often align instead (Luong et al. 2015, footnote 14).
    Returns:
        WordAttention.
    Raises:
        ValueError: a role that is no attention from target to source, a head that is not there, a reading of another
            name.
    """
    crosses = [name for name in view.maps if name.endswith("/cross")]
    if role not in crosses:
        raise ValueError(f"role {role!r}: must be one of {', '.join(crosses)}")
    if head not in range(len(view.maps[role])):
        raise ValueError(f"head {head}: {role} has heads 0 to {len(view.maps[role]) - 1}")
    if reading not in READINGS:
        raise ValueError(f"reading={reading!r}: must be one of {', '.join(map(repr, READINGS))}")
    weights = np.asarray(view.maps[role][head], "float64")
    sources, targets = words_of(view.source_tokens), words_of(view.target_tokens)
    # Row t + 1 is made after reading the piece that row t predicts; after the last piece there may be none.
    rows = weights if reading == "predicted" else np.concatenate([weights[1:], np.zeros_like(weights[:1])])
    summed = _gather(sources) @ rows.T
    means = _gather(targets) @ summed.T
    return WordAttention(means / np.maximum(_gather(targets).sum(axis=1, keepdims=True), 1))


def words_of(pieces):
    """The word that each piece belongs to, counted from 0; -1 for special pieces."""
    words, count = [], -1
    for piece in pieces:
        if piece in _MARKS:
            words.append(-1)
            continue
        count += piece.startswith(_WORD) or count < 0
        words.append(count)
    return words


def alignment_error_rate(predicted, gold):
    """How far links are from gold ones, over a corpus.

        AER = 1 - (|A & S| + |A & P|) / (|A| + |S|),        S a part of P

    Och and Ney 2003, section 3; the measure of Luong et al. 2015, Table 6. A are the predicted links, S the sure and P
    the possible ones, all counted over the whole corpus.

    Args:
        predicted: for each pair, a set of (source word, target word).
        gold: for each pair, an object with `sure` and `possible`, such as those of `Corpus.alignments`.
    Returns:
        0 (all sure links, none that is not possible) to 1; 0 where there is nothing to align.
    Raises:
        ValueError: as many predictions as gold alignments are needed.
    """
    if len(predicted) != len(gold):
        raise ValueError(
            f"there are {len(predicted)} predicted alignments for {len(gold)} gold ones: give one for each"
        )
    right = total = 0
    for links, alignment in zip(predicted, gold, strict=True):
        sure = set(map(tuple, alignment.sure))
        right += len(links & sure) + len(links & (sure | set(map(tuple, alignment.possible))))
        total += len(links) + len(sure)
    return 1 - right / total if total else 0.0


@dataclass(frozen=True)
class AlignmentScore:
    """Of one attention head over a corpus: alignment error rate, and mean entropy of a word's attention in nats."""

    error_rate: float
    entropy: float


def alignment_scores(views, gold):
    """Scores every head of every attention from target to source against gold alignments, in both readings.

    Args:
        views: an AttentionView of each pair, the decoder forced along the gold target (`TextModel.attend_pairs`).
        gold: for each pair, an object with `sure` and `possible`.
    Returns:
        {(role, head, reading): AlignmentScore}; choose the best on one split and report it on another.

    Example::

        scores = zoo.alignment_scores(text.attend_pairs(corpus.dev), corpus.alignments["dev"])
        best = min(scores, key=lambda which: scores[which].error_rate)
    """
    links, entropies = {}, {}
    for view in views:
        crosses = [role for role in view.maps if role.endswith("/cross")]
        for role, reading in itertools.product(crosses, READINGS):
            for head in range(len(view.maps[role])):
                words = word_attention(view, role, head, reading)
                links.setdefault((role, head, reading), []).append(words.links())
                entropies.setdefault((role, head, reading), []).append(words.entropy())
    return {
        which: AlignmentScore(alignment_error_rate(found, gold), float(np.mean(entropies[which])))
        for which, found in links.items()
    }


def _gather(words):
    """(words, pieces): 1 where the piece belongs to the word."""
    return (np.arange(max(words, default=-1) + 1)[:, None] == np.array(words)[None]).astype("float64")
