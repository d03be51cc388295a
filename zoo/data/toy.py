"""The embedded corpus ``toy-en-tr``: English to Turkish pairs from a grammar, with gold word alignments.

The Turkish is a function of the English, so a model can reach a perfect score, and the word order, the suffixes and
the dropped pronouns of Turkish make the alignment anything but monotone. Everything is lower case; "?" is a word.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from zoo.data.alignment import Alignment
from zoo.data.toy_clauses import Clause, Sentence
from zoo.data.toy_lexicon import NOUNS, PREPOSITIONS, VERBS
from zoo.data.toy_phrases import NounPhrase, Place, VerbPhrase
from zoo.data.toy_sampler import Sampler

SHORTEST = 3
LONGEST = 25


@dataclass(frozen=True)
class Split:
    """Pairs of (English, Turkish) sentences and, at the same positions, their alignments."""

    pairs: list[tuple[str, str]]
    alignments: list[Alignment]

    def __len__(self) -> int:
        return len(self.pairs)


@dataclass(frozen=True)
class Corpus:
    """The three splits; no English sentence stands in two of them or twice in one."""

    train: Split
    dev: Split
    test: Split


def mat_sentence() -> Sentence:
    """Build the tree of ("the cat sat on the mat", "kedi paspasın üstüne oturdu"), which is always in train."""
    mat = Place(PREPOSITIONS["on"], NounPhrase(NOUNS["mat"]))
    return Sentence(Clause(NounPhrase(NOUNS["cat"]), VerbPhrase(VERBS["sit"], places=(mat,))))


def distinct_pairs(random: Random, seen: set[str]) -> Iterator[tuple[str, str, Alignment]]:
    """Yield pairs without end, each English sentence once and none of those in ``seen``, which grows."""
    sampler = Sampler(random)
    while True:
        english, turkish, alignment = sampler.sentence().derive()
        if english not in seen and SHORTEST <= len(english.split()) <= LONGEST:
            seen.add(english)
            yield english, turkish, alignment


def generate(seed: int = 1, train: int = 24000, dev: int = 500, test: int = 500) -> Corpus:
    """Generate the corpus; the same arguments give the same corpus on every machine.

    The three splits are samples of one distribution: pairs are drawn in one stream and dealt out in turn, except
    that the sentence of the mat is the last of train.
    """
    if train < 1 or dev < 0 or test < 0:
        raise ValueError(f"Split sizes must be train >= 1, dev >= 0 and test >= 0, got {train}, {dev} and {test}.")
    mat = mat_sentence().derive()
    stream = distinct_pairs(Random(seed), {mat[0]})
    drawn = [next(stream) for _ in range(train - 1 + dev + test)]
    # Late draws avoid all earlier ones, so short sentences thin out along the stream: a shuffle evens the splits.
    shuffle(drawn, Random(f"{seed} splits"))
    parts = ([*drawn[dev + test :], mat], drawn[:dev], drawn[dev : dev + test])
    return Corpus(*(Split([(e, t) for e, t, _ in part], [links for _, _, links in part]) for part in parts))


def shuffle(items: list, random: Random) -> None:
    """Shuffle in place by Fisher and Yates, on ``randrange`` alone."""
    for last in range(len(items) - 1, 0, -1):
        other = random.randrange(last + 1)
        items[last], items[other] = items[other], items[last]
