"""The generated toy corpus: sizes, distinctness, determinism, lengths and links."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from random import Random

import pytest

from zoo.data import toy, toy_lexicon
from zoo.data.toy_lexicon import ADJECTIVES, NOUNS, PREPOSITIONS, VERBS
from zoo.data.toy_sampler import Sampler


@pytest.fixture(scope="module")
def corpus():
    return toy.generate()


def splits(corpus):
    return corpus.train, corpus.dev, corpus.test


def test_sizes_and_the_mat_in_train(corpus):
    assert [len(split) for split in splits(corpus)] == [24000, 500, 500]
    assert all(len(split.pairs) == len(split.alignments) for split in splits(corpus))
    mat = ("the cat sat on the mat", "kedi paspasın üstüne oturdu")
    assert corpus.train.pairs.count(mat) == 1
    place = corpus.train.pairs.index(mat)
    assert corpus.train.alignments[place].sure == ((1, 0), (2, 3), (3, 2), (5, 1))
    assert toy.generate(seed=2, train=1, dev=0, test=0).train.pairs == [mat]


def test_all_english_sentences_are_distinct(corpus):
    english = [pair[0] for split in splits(corpus) for pair in split.pairs]
    assert len(english) == len(set(english)) == 25000


def test_an_english_sentence_has_one_translation():
    sampler = Sampler(Random(7))
    found = {}
    for _ in range(6000):
        english, turkish, alignment = sampler.sentence().derive()
        assert found.setdefault(english, (turkish, alignment)) == (turkish, alignment)
    assert len(found) < 6000  # some sentences did come twice, so the comparison was made


def digest(seed):
    corpus = toy.generate(seed, train=400, dev=50, test=50)
    return hashlib.sha256(repr(corpus).encode()).hexdigest()


def test_same_seed_same_corpus_in_another_process():
    program = (
        "import hashlib; from zoo.data import toy; corpus = toy.generate(5, train=400, dev=50, test=50);"
        "print(hashlib.sha256(repr(corpus).encode()).hexdigest())"
    )
    other = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    environment = {**os.environ, "PYTHONHASHSEED": other}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest(5)
    assert digest(5) != digest(6)


def test_lengths_are_spread(corpus):
    lengths = Counter(len(english.split()) for english, _ in corpus.train.pairs)
    assert set(lengths) == set(range(3, 26))
    assert all(lengths[length] >= 120 for length in range(3, 20))
    ordered = sorted(lengths.elements())
    assert ordered[len(ordered) // 3] <= 6 and ordered[2 * len(ordered) // 3] >= 9
    assert sum(length >= 15 for length in ordered) >= 1000


def test_splits_follow_one_distribution(corpus):
    means = [sum(len(e.split()) for e, _ in split.pairs) / len(split) for split in splits(corpus)]
    assert max(means) - min(means) < 0.8
    known = {word for english, _ in corpus.train.pairs for word in english.split()}
    assert all(set(english.split()) <= known for split in splits(corpus)[1:] for english, _ in split.pairs)


def test_text_is_plain_lower_case(corpus):
    letters = set("abcçdefgğhıijklmnoöprsştuüvyzqwx' ?")
    for split in splits(corpus):
        for pair in split.pairs:
            for side in pair:
                assert set(side) <= letters
                assert side == " ".join(side.split())
                assert "?" not in side or (side.endswith(" ?") and side.count("?") == 1)
            assert pair[0].endswith("?") == pair[1].endswith("?")
            assert "'" not in pair[1]


def test_links_are_in_range_and_cover_the_words(corpus):
    # English words that have no counterpart of their own may lack a sure link, but never any link at all.
    helpers = {"the", "that", "not", "did", "will", "is", "are", "am", "was", "were", "to", "for", "at", "in", "of",
               "he", "she"}  # fmt: skip
    for split in splits(corpus):
        for (english, turkish), alignment in zip(split.pairs, split.alignments, strict=True):
            source, target = english.split(), turkish.split()
            assert set(alignment.sure) <= set(alignment.possible)
            assert all(0 <= s < len(source) and 0 <= t < len(target) for s, t in alignment.possible)
            assert {t for _, t in alignment.sure} == set(range(len(target)))
            assert {s for s, _ in alignment.possible} == set(range(len(source)))
            sure = {s for s, _ in alignment.sure}
            assert {source[s] for s in range(len(source)) if s not in sure} <= helpers


def test_every_lexicon_word_occurs_often(corpus):
    counts = Counter(word for english, _ in corpus.train.pairs for word in english.split())
    words = [noun.english for noun in NOUNS.values()] + [adjective.english for adjective in ADJECTIVES.values()]
    counted = [noun for noun in NOUNS.values() if {"being", "portable"} & set(noun.tags) and "kin" not in noun.tags]
    words += [noun.plural for noun in counted]
    words += [form for verb in VERBS.values() for form in (verb.base, verb.past)]
    words += [verb.ing for verb in VERBS.values() if verb.progressive]
    words += [word for preposition in PREPOSITIONS for word in preposition.split()]
    words += [*toy_lexicon.NUMBERS, *toy_lexicon.POSSESSORS, *toy_lexicon.CONNECTORS, *toy_lexicon.TIMES]
    words += [*toy_lexicon.PRONOUNS, *toy_lexicon.QUESTION_WORDS, "where", "me", "him", "us", "them", "this", "an"]
    assert {word: counts[word] for word in words if counts[word] < 25} == {}
    assert len(NOUNS) + len(VERBS) + len(ADJECTIVES) <= 90


@pytest.mark.parametrize("sizes", [{"train": 0}, {"dev": -1}, {"test": -1}])
def test_bad_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match="Split sizes must be train >= 1"):
        toy.generate(**sizes)
