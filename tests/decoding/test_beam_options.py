"""What may be asked of a beam search, and what may not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

import zoo
from tests.decoding.models import CHAIN, MODEL, A, B, Chain, enumerate_all, rows, texts
from tests.samples import batch, small


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prefix": np.array([[7, 0, 8], [7, 0, 0]])}, "prefix has PAD between its tokens"),
        ({"prefix": np.array([[1], [7]])}, "prefix has ids from 1 to 7"),
        ({"prefix": np.array([[7], [53]])}, "prefix has ids from 7 to 53"),
        ({"max_length": 2.5}, "max_length=2.5: must be a whole number of at least 1"),
        ({"length_penalty": "a"}, "length_penalty='a': must be a number of at least 0"),
        ({"beams": 0}, "beams=0: must be a whole number of at least 1"),
        ({"beams": 2.0}, "beams=2.0: must be a whole number"),
        ({"beams": 54}, "beams=54: must be at most the vocabulary, 53"),
        ({"n_best": 5}, "n_best=5: must be at most beams=4"),
        ({"groups": 3}, "groups=3 does not divide beams=4"),
        ({"length_penalty": -0.1}, "length_penalty=-0.1: must be a number of at least 0"),
        ({"length_penalty": float("nan")}, "length_penalty=nan"),
        ({"coverage_penalty": -1}, "coverage_penalty=-1"),
        ({"diversity": -1}, "diversity=-1"),
        ({"min_length": -1}, "min_length=-1"),
        ({"min_length": 9, "max_length": 8}, "min_length=9: must be at most max_length=8"),
        ({"no_repeat_ngrams": -2}, "no_repeat_ngrams=-2"),
        ({"banned": [53]}, "banned token 53: ids run from 0 to 52"),
        ({"banned": [2]}, "banned token 2 is the EOS"),
        ({"prefix": np.ones((3, 2), int)}, r"prefix has shape \(3, 2\)"),
        ({"prefix": np.full((2, 8), 7), "max_length": 8}, "prefix of 8 tokens leaves no room"),
        ({"return_attention": "all"}, "return_attention='all'"),
        ({"max_length": 0}, "max_length=0"),
    ],
)
def test_values_that_cannot_be_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        zoo.beam_search(small("seq2seq-tiny"), batch()["source"], **options)


def holds(tokens, phrase):
    return any(tokens[i : i + len(phrase)] == tuple(phrase) for i in range(len(tokens)))


@settings(max_examples=60, deadline=None)
@given(rows, st.sampled_from([[[3]], [[4, 3]], [[3, 3, 4]], [[3], [4]], [[4, 4], [3]], []]))
def test_phrases_must_appear(row, phrases):
    found = zoo.beam_search(MODEL, np.array([row, row]), beams=32, n_best=2, max_length=5, must_include=[phrases, []])
    for n in range(2):
        tokens = texts(found)[n]
        assert all(holds(tokens, phrase) for phrase in phrases)
        assert found.log_probs[0, n] == pytest.approx(MODEL.forced(row, tokens)[0].sum(), abs=1e-4)
    whole, _ = enumerate_all(row, 5, 0.6, 0.0)
    best = next(s for s, _, tokens in whole if all(holds(tokens, phrase) for phrase in phrases))
    assert found.scores[0, 0] == pytest.approx(best, abs=1e-4)
    assert found.scores[1, 0] == pytest.approx(whole[0][0], abs=1e-4)  # the other row asked for nothing


@settings(max_examples=30, deadline=None)
@given(rows, st.sampled_from([[[4, 3, 4]], [[3, 3], [4, 4]]]))
def test_phrases_appear_with_few_beams_too(row, phrases):
    found = zoo.beam_search(MODEL, np.array([row]), beams=3, max_length=12, must_include=[phrases], n_best=1)
    assert all(holds(texts(found)[0], phrase) for phrase in phrases)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"must_include": [[[5]]]}, "must_include has 1 lists of phrases for 2 sources"),
        ({"must_include": [[[]], []]}, r"row 1 has \[\]"),
        ({"must_include": [[], [[5, 2]]]}, r"row 2 has \[5, 2\]"),
        ({"must_include": [[[53]], []]}, r"row 1 has \[53\]"),
        ({"must_include": [[4], [5]]}, "row 1 has 4: a phrase is a list of ids"),
        ({"must_include": [[]]}, "must_include has 1 lists of phrases for 2 sources"),
        ({"must_include": [[[5]], []], "banned": [5]}, "a token that is banned"),
        ({"must_include": [[[5, 6, 7]], []], "max_length": 3}, "row 1 leaves no room"),
        ({"must_include": [[[5]], []], "groups": 2}, "groups=2 and must_include do not go together"),
    ],
)
def test_phrases_that_cannot_be_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        zoo.beam_search(small("seq2seq-tiny"), batch()["source"], **options)


def test_prefixes_of_other_widths_and_numpys_numbers():
    model, source = small("seq2seq-tiny"), batch()["source"]
    for width in (1, 2, 3, 5, 9, 4):
        found = zoo.beam_search(
            model, source, 2, max_length=np.int64(11), prefix=np.full((2, width), 7), min_length=np.int64(2)
        )
        assert all(tokens[:width] == (7,) * width for tokens in texts(found))
    zoo.beam_search(model, source, 2, max_length=5, no_repeat_ngrams=20)


def test_a_place_that_nothing_fills_is_not_finished():
    found = zoo.beam_search(MODEL, np.full((1, MODEL.width), 5), beams=2, max_length=4, min_length=3, banned=[3, 4])
    assert found.scores[0].tolist() == [-np.inf] * 2
    assert not found.finished.any()


def test_unfinished_ones_come_last_under_any_penalty():
    """Coverage of 800 positions that nothing looks at costs 11,000."""

    class First(Chain):
        def step(self, token, index, memory, cache):
            logits, cache, _ = super().step(token, index, memory, cache)
            seen = ops.one_hot(ops.zeros_like(token), memory["source"].shape[1] or 800)
            return logits, cache, seen[:, None]

    found = zoo.beam_search(First(CHAIN), np.full((1, 800), 5), beams=4, max_length=4, coverage_penalty=1.0)
    assert found.finished.all()


def test_of_unfinished_ones_those_with_more_of_the_phrases_come_first():
    table = np.zeros((6, 6))
    table[:, A], table[:, B] = 0.99, 0.01
    found = zoo.beam_search(Chain(table), np.array([[5, 2]]), beams=4, max_length=5, must_include=[[[B, B]]])
    assert not found.finished.any()
    assert holds(texts(found)[0], (B, B))


def test_half_precision_logits_are_taken():
    class Half(Chain):
        def step(self, token, index, memory, cache):
            logits, cache, attention = super().step(token, index, memory, cache)
            return ops.cast(logits, "float16"), cache, attention

    source = np.array([[5, 2]])
    for search in (zoo.greedy, zoo.beam_search, zoo.sample):
        found = search(Half(CHAIN), source, max_length=4)
        assert np.isfinite(found.log_probs[0, 0])
    assert np.isfinite(zoo.score(Half(CHAIN), (source, found.tokens))).all()
