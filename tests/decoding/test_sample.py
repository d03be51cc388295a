import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

import zoo
from tests.decoding.models import CHAIN, Chain, Tables
from tests.samples import TINY, batch, small
from zoo.decoding.sample import FILTERS
from zoo.ids import EOS

P = np.array([[0.05, 0.4, 0.3, 0.0, 0.15, 0.1]], "float32")


def filtered(name, value, p=P):
    return ops.convert_to_numpy(FILTERS[name](ops.convert_to_tensor(p), np.float32(value)))[0] > 0


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("top_k", 1, [1]),
        ("top_k", 3, [1, 2, 4]),
        ("top_k", 99, [0, 1, 2, 4, 5]),
        ("top_p", 0.39, [1]),
        ("top_p", 0.41, [1, 2]),
        ("top_p", 0.71, [1, 2, 4]),
        ("top_p", 1.0, [0, 1, 2, 4, 5]),
        ("min_p", 1.0, [1]),
        ("min_p", 0.37, [1, 2, 4]),
        # H = 1.3926; |-log p - H|: .05 1.603, .4 .476, .3 .189, .15 .505, .1 .910
        ("typical", 0.2, [2]),
        ("typical", 0.31, [1, 2]),
        ("typical", 0.71, [1, 2, 4]),
        ("typical", 1.0, [0, 1, 2, 4, 5]),
    ],
)
def test_filters_by_hand(name, value, kept):
    np.testing.assert_array_equal(np.flatnonzero(filtered(name, value)), kept)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=9), st.floats(0.05, 1))
def test_filters_equal_their_definitions(weights, share):
    p = np.array([weights], "float32") / np.float32(sum(weights))
    order = np.argsort(-p[0], kind="stable")
    cumulated = np.cumsum(p[0][order].astype("float64"))
    if abs(cumulated - share).min() > 1e-5:
        fewest = int(np.searchsorted(cumulated, share)) + 1
        least = p[0][order[: min(fewest, p.shape[1])]].min()
        np.testing.assert_array_equal(filtered("top_p", share, p), p[0] >= least)
    kept = filtered("typical", share, p)
    assert kept.any()
    if abs(share - 1) > 1e-3:
        surprise = -np.log(p[0].astype("float64"))
        away = abs(surprise - (p[0] * surprise).sum())
        assert away[kept].max() <= away[~kept].min(initial=np.inf) + 1e-5


def test_draws_follow_the_distribution():
    found = zoo.sample(Chain(CHAIN), np.full((1, 1), 5), samples=4000, max_length=1, seed=3)
    share = np.bincount(found.tokens.ravel(), minlength=6) / 4000
    np.testing.assert_allclose(share, [0, 0, 0.1, 0, 0.5, 0.4], atol=0.03)  # four deviations
    cold = zoo.sample(Chain(CHAIN), np.full((1, 1), 5), samples=4000, max_length=1, seed=3, temperature=0.5)
    share = np.bincount(cold.tokens.ravel(), minlength=6) / 4000
    np.testing.assert_allclose(share, np.array([0, 0, 0.01, 0, 0.25, 0.16]) / 0.42, atol=0.03)


rows = st.lists(st.integers(1, 1000), min_size=Tables().width, max_size=Tables().width)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(rows, min_size=3, max_size=3),
    st.lists(st.integers(0, 99), min_size=3, max_size=3),
    st.permutations(range(3)),
)
def test_a_seed_gives_a_text_whatever_the_batch(several, seeds, order):
    model, several = Tables(), np.array(several)
    found = zoo.sample(model, several, max_length=6, seed=seeds)
    turned = zoo.sample(model, several[order], max_length=6, seed=np.array(seeds)[order])
    longer = zoo.sample(model, several, max_length=9, seed=seeds)
    for place, row in enumerate(order):
        tokens = found.tokens[row, 0, : found.lengths[row, 0]]
        np.testing.assert_array_equal(turned.tokens[place, 0, : len(tokens)], tokens)
        np.testing.assert_array_equal(longer.tokens[row, 0, : len(tokens)], tokens)
        assert found.log_probs[row, 0] == pytest.approx(model.forced(several[row], tokens)[0].sum(), abs=1e-4)
        assert (tokens[-1] == EOS) == found.finished[row, 0]


def test_one_number_gives_rows_seeds_of_their_own():
    found = zoo.sample(Chain(CHAIN), np.full((8, 1), 5), samples=5, seed=1, max_length=8)
    again = zoo.sample(Chain(CHAIN), np.full((8, 1), 5), samples=5, seed=1, max_length=8)
    np.testing.assert_array_equal(found.tokens, again.tokens)
    assert len({row.tobytes() for row in found.tokens}) > 1
    assert (np.diff(found.log_probs, axis=1) <= 0).all()
    other = zoo.sample(Chain(CHAIN), np.full((8, 1), 5), samples=5, seed=2, max_length=8)
    assert found.tokens.shape != other.tokens.shape or (found.tokens != other.tokens).any()


@pytest.mark.parametrize("name", TINY)
def test_every_model_samples_what_it_scores(name):
    model, source = small(name), batch()["source"]
    found = zoo.sample(model, source, max_length=6, top_p=0.9, temperature=1.3, samples=2, seed=5)
    np.testing.assert_allclose(zoo.score(model, (source, found.tokens)).sum(-1), found.log_probs, atol=1e-4)
    sharp = zoo.sample(model, source, max_length=6, top_k=1, seed=5)
    np.testing.assert_array_equal(sharp.tokens, zoo.greedy(model, source, max_length=6).tokens)
    empty = np.concatenate([source, np.zeros((1, 7), "int32")])
    assert zoo.sample(model, empty, max_length=6, seed=5).lengths[2, 0] == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"temperature": 0}, "temperature=0: must be at least 0.001; for less, use zoo.greedy"),
        ({"temperature": "1"}, "temperature='1'"),
        ({"top_k": 0}, "top_k=0: must be a whole number"),
        ({"top_k": 1.5}, "top_k=1.5"),
        ({"top_p": 0}, "top_p=0: must be more than 0 and at most 1"),
        ({"min_p": 1.1}, "min_p=1.1"),
        ({"typical": -1}, "typical=-1"),
        ({"samples": 0}, "samples=0"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": [1, 2, 3]}, r"seed=\[1, 2, 3\]: .* each of the 2 rows"),
        ({"seed": 0.5}, "seed=0.5"),
    ],
)
def test_values_that_cannot_be_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        zoo.sample(Chain(CHAIN), np.full((2, 1), 5), **options)


def test_scores_of_what_cannot_be_are_refused():
    model, source = small("seq2seq-tiny"), batch()["source"]
    with pytest.raises(ValueError, match="outputs have ids from 2 to 99: ids are 0 or more, below 53"):
        zoo.score(model, (source, np.array([[99, 2], [5, 2]])))
    for weight in model.weights:
        weight.assign(np.full(weight.shape, np.nan))
    with pytest.raises(ValueError, match="NaN at step 1"):
        zoo.score(model, (source, np.array([[9, 2], [5, 2]])))
