import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

import zoo
from tests.decoding.models import CHAIN, MODEL, A, B, Chain, enumerate_all, rows, texts
from tests.samples import TINY, batch, small
from zoo.ids import BOS, EOS, PAD


def test_a_chain_by_hand():
    """Greedy takes A and ends with .2; two beams see that B ends with .36."""
    source = np.array([[5, 2]])
    found = zoo.beam_search(Chain(CHAIN), source, beams=2, length_penalty=0.0)
    assert texts(found)[0] == (B, EOS)
    assert found.log_probs[0, 0] == pytest.approx(-1.021651, abs=1e-5)
    penalised = zoo.beam_search(Chain(CHAIN), source, beams=2, length_penalty=0.6)
    assert texts(penalised)[0] == (B, EOS)
    assert penalised.scores[0, 0] == pytest.approx(-0.931396, abs=1e-5)
    one = zoo.beam_search(Chain(CHAIN), source, beams=1, length_penalty=0.0)
    assert texts(one) == [(A, EOS)]
    assert one.log_probs[0, 0] == pytest.approx(-1.609438, abs=1e-5)


def test_nothing_follows_the_end_and_no_two_are_alike():
    found = zoo.beam_search(Chain(CHAIN), np.array([[5, 2]]), beams=3, max_length=6)
    assert len(set(texts(found))) == 3
    for tokens in texts(found):
        assert tokens.index(EOS) == len(tokens) - 1
    assert (found.tokens[0][np.arange(found.tokens.shape[2]) >= found.lengths[0][:, None]] == PAD).all()


def test_beams_begin_apart():
    """First step .5, .3, .2: were all beams alive, both would take the first."""
    table = np.zeros((6, 6))
    table[BOS, 3:] = [0.5, 0.3, 0.2]
    table[3:, EOS] = 1
    found = zoo.beam_search(Chain(table), np.array([[5, 2]]), beams=2, length_penalty=0.0)
    assert texts(found) == [(3, EOS), (4, EOS)]


def test_the_best_wins_not_the_first_to_end():
    """Alpha .6: ending after 2 tokens with -1.0 gives -.911658; the one that ends after 6 with -1.2 gives -.834135."""
    short, long = np.exp(-1.0), np.exp(-1.2)

    class Race(Chain):
        def step(self, token, index, memory, cache):
            first, sure = np.full(6, 1e-30), np.full((6, 6), 1e-30)
            first[A], first[B], first[3] = short, long, 1 - short - long
            sure[A, EOS] = sure[B, B] = sure[3, 3] = 1
            end = np.full(6, 1e-30)
            end[EOS] = 1
            p = ops.where(index == 0, first[None], ops.take(ops.convert_to_tensor(sure, "float32"), token, axis=0))
            p = ops.where(ops.logical_and(index == 5, ops.equal(token, B))[:, None], end[None], p)
            return ops.log(ops.cast(p, "float32")), cache, ops.ones_like(memory["source"], dtype="float32")[:, None]

    found = zoo.beam_search(Race(CHAIN), np.array([[5, 2]]), beams=3, n_best=2, max_length=10, length_penalty=0.6)
    assert texts(found) == [(B, B, B, B, B, EOS), (A, EOS)]
    np.testing.assert_allclose(found.scores[0], [-0.834135, -0.911658], atol=1e-5)


@pytest.mark.parametrize(("alpha", "length"), [(0.0, 3), (0.6, 10)])
def test_the_penaltys_sign_and_zero(alpha, length):
    """n = 10 with -4.0 against n = 3 with -3.2: raw scores favour the short one, alpha .6 the long one."""
    p_long, p_short = np.exp(-4.0), np.exp(-3.2)

    class Two(Chain):
        def step(self, token, index, memory, cache):
            first = np.full(6, 1e-30)
            first[A], first[B], first[3] = p_short, p_long, 1 - p_short - p_long
            rest = np.full((6, 6), 1e-30)
            rest[A, A] = rest[B, B] = rest[3, 3] = 1
            end = np.full(6, 1e-30)
            end[EOS] = 1
            p = ops.where(index == 0, first[None], ops.take(ops.convert_to_tensor(rest, "float32"), token, axis=0))
            for letter, last in ((A, 2), (B, 9)):
                p = ops.where(ops.logical_and(index == last, ops.equal(token, letter))[:, None], end[None], p)
            return ops.log(ops.cast(p, "float32")), cache, ops.ones_like(memory["source"], dtype="float32")[:, None]

    found = zoo.beam_search(Two(CHAIN), np.array([[5, 2]]), beams=3, n_best=1, max_length=10, length_penalty=alpha)
    assert found.lengths[0, 0] == length
    assert found.scores[0, 0] == pytest.approx(-2.308320 if alpha else -3.2, abs=1e-5)


def test_nothing_finished_by_the_limit_is_flagged_not_lost():
    table = np.zeros((6, 6))
    table[:, A] = 1
    found = zoo.beam_search(Chain(table), np.array([[7, 8, 2]]), beams=2)
    assert found.tokens.shape[2] == 53
    assert texts(found)[0] == (A,) * 53
    assert not found.finished[0, 0]


def test_finished_ones_come_before_better_unfinished_ones():
    table = np.zeros((6, 6))
    table[BOS, A], table[BOS, B] = 0.9, 0.1
    table[A, A], table[B, EOS] = 1, 1
    found = zoo.beam_search(Chain(table), np.array([[7, 2]]), beams=2, max_length=4)
    assert texts(found) == [(B, EOS), (A, A, A, A)]
    assert found.finished.tolist() == [[True, False]]
    assert found.log_probs[0, 1] > found.log_probs[0, 0]
    np.testing.assert_allclose(found.scores[0, 1], found.log_probs[0, 1] / 1.5**0.6 - 1e4)


@settings(max_examples=100, deadline=None)
@given(rows, st.sampled_from([0.0, 0.6, 1.0]), st.sampled_from([0.0, 0.2]))
def test_wide_beams_find_what_enumeration_finds(row, alpha, beta):
    found = zoo.beam_search(
        MODEL, np.array([row]), beams=32, max_length=4, length_penalty=alpha, coverage_penalty=beta, n_best=5
    )
    whole, _ = enumerate_all(row, 4, alpha, beta)
    np.testing.assert_allclose(found.scores[0], [s for s, _, _ in whole[:5]], atol=1e-4)
    np.testing.assert_allclose(found.log_probs[0], [p for _, p, _ in whole[:5]], atol=1e-4)
    gaps = np.diff([s for s, _, _ in whole[:6]])
    if (gaps < -1e-4).all():
        assert texts(found) == [tokens for _, _, tokens in whole[:5]]


@settings(max_examples=100, deadline=None)
@given(
    rows,
    st.sampled_from(
        [(0, (), 0, ()), (3, (), 0, ()), (0, (4,), 0, ()), (0, (), 1, ()), (0, (), 2, (4, 4)), (2, (3,), 0, (3,))]
    ),
)
def test_rules_hide_exactly_what_they_say(row, rules):
    min_length, banned, n, prefix = rules
    found = zoo.beam_search(
        MODEL,
        np.array([row]),
        beams=32,
        n_best=1,
        max_length=4,
        min_length=min_length,
        banned=banned,
        no_repeat_ngrams=n,
        prefix=np.array([prefix]) if prefix else None,
    )
    whole, cut = enumerate_all(row, 4, 0.6, 0.0, min_length, banned, n, prefix)
    best = (whole or cut)[0]
    assert found.scores[0, 0] == pytest.approx(best[0] - (0 if whole else 1e4), abs=1e-4 if whole else 2e-3)
    assert found.finished[0, 0] == bool(whole)


@settings(max_examples=50, deadline=None)
@given(rows)
def test_one_beam_is_greedy(row):
    one = zoo.beam_search(MODEL, np.array([row]), beams=1, max_length=6, length_penalty=0.0)
    greedy = zoo.greedy(MODEL, np.array([row]), max_length=6)
    assert texts(one) == texts(greedy)
    np.testing.assert_allclose(one.log_probs, greedy.log_probs, atol=1e-5)


@settings(max_examples=50, deadline=None)
@given(st.lists(rows, min_size=3, max_size=3), st.permutations(range(3)))
def test_a_row_does_not_depend_on_its_batch(several, order):
    together = zoo.beam_search(MODEL, np.array(several), beams=3, max_length=6)
    turned = zoo.beam_search(MODEL, np.array(several)[order], beams=3, max_length=6)
    for place, row in enumerate(order):
        assert texts(turned, place) == texts(together, row)
        np.testing.assert_allclose(turned.scores[place], together.scores[row], atol=1e-5)
    alone = zoo.beam_search(MODEL, np.array(several[:1]), beams=3, max_length=6)
    assert texts(alone) == texts(together)


@settings(max_examples=50, deadline=None)
@given(rows, st.sampled_from([1, 2]))
def test_attention_follows_the_winners_ancestry(row, beams):
    found = zoo.beam_search(MODEL, np.array([row]), beams=2 * beams, max_length=6, return_attention=True)
    assert found.attention.shape[:3] == (1, 2 * beams, 1)
    for n, tokens in enumerate(texts(found)):
        log_p, maps, _ = MODEL.forced(row, tokens)
        np.testing.assert_allclose(found.attention[0, n, 0, : len(tokens)], maps, atol=1e-5)
        assert (found.attention[0, n, 0, len(tokens) :] == 0).all()
        assert found.log_probs[0, n] == pytest.approx(log_p.sum(), abs=1e-4)
        expected = log_p.sum() / ((5 + len(tokens)) / 6) ** 0.6
        if found.finished[0, n]:
            assert found.scores[0, n] == pytest.approx(expected, abs=1e-4)
        else:
            assert found.scores[0, n] + 1e4 == pytest.approx(expected, abs=2e-3)


@settings(max_examples=40, deadline=None)
@given(rows)
def test_groups_write_different_things_and_never_the_same_twice(row):
    alike = zoo.beam_search(MODEL, np.array([row]), beams=4, groups=2, diversity=0.0, max_length=5)
    apart = zoo.beam_search(MODEL, np.array([row]), beams=4, groups=2, diversity=50.0, max_length=5)
    for found in (alike, apart):
        real = [tokens for tokens, s in zip(texts(found), found.scores[0], strict=True) if s > -np.inf]
        assert len(set(real)) == len(real)
        for tokens, log_p in zip(real, found.log_probs[0], strict=False):
            assert log_p == pytest.approx(MODEL.forced(row, tokens)[0].sum(), abs=1e-4)  # diversity is not in it
    first = zoo.beam_search(MODEL, np.array([row]), beams=2, groups=2, diversity=50.0, max_length=1)
    assert len(set(texts(first))) == 2


@pytest.mark.parametrize("name", TINY)
def test_every_model_step_by_step_and_scored_again(name):
    """What the search reports is what teacher forcing gives, for every hypothesis; attention too."""
    model, source = small(name), batch()["source"]
    for weight in model.weights:
        weight.assign_add(keras.random.normal(weight.shape, stddev=0.2))
    found = zoo.beam_search(model, source, beams=3, max_length=7, return_attention="heads")
    scored = zoo.score(model, (source, found.tokens))
    np.testing.assert_allclose(scored.sum(-1), found.log_probs, atol=1e-4)
    penalty = ((5 + found.lengths) / 6) ** 0.6
    expected = found.log_probs / penalty - np.where(found.finished, 0, 1e4)
    np.testing.assert_allclose(found.scores[found.finished], expected[found.finished], atol=1e-4)
    np.testing.assert_allclose(found.scores, expected, atol=2e-3)
    assert (np.diff(found.scores, axis=1) <= 0).all()
    assert (np.diff(found.finished.astype(int), axis=1) <= 0).all()
    best = found.tokens[:, 0]
    target = np.concatenate([np.full((2, 1), BOS), best[:, :-1]], axis=1).astype("int32")
    maps = {
        role: ops.convert_to_numpy(m)
        for role, m in zoo.attention_maps(model, {"source": source, "target": target}).items()
    }
    crosses = [m for role, m in maps.items() if role.endswith("/cross")]
    if name.startswith("gpt2"):
        crosses = [m[:, :, 7:, :7] for m in maps.values()]
    if crosses:
        kind = "self" if name.startswith("gpt2") else "cross"
        assert [*found.maps] == [role for role in maps if role.endswith(kind) and role.startswith("decoder")]
    np.testing.assert_array_equal(np.concatenate([*found.maps.values()], axis=2), found.attention)
    for row, length in enumerate(found.lengths[:, 0]):
        shown = found.attention[row, 0][:, :length]
        expected = np.concatenate([m[row] for m in crosses])[:, :length] if crosses else np.zeros_like(shown)
        np.testing.assert_allclose(shown, expected, atol=1e-5)


@pytest.mark.parametrize("name", TINY)
def test_padding_and_empty_rows_change_nothing(name):
    model, source = small(name), batch()["source"]
    alone = zoo.beam_search(model, source[:1, :4], beams=3, max_length=6)
    empty = np.concatenate([source, np.zeros((1, 7), "int32")])
    beside = zoo.beam_search(model, empty, beams=3, max_length=6)
    assert texts(beside) == texts(alone)
    np.testing.assert_allclose(beside.scores[0], alone.scores[0], atol=1e-4)
    assert texts(beside, 2) == [()] * 3
    assert beside.finished[2].tolist() == [True, False, False]
    assert beside.scores[2].tolist() == [0, -np.inf, -np.inf]


def test_logits_that_are_nan_say_when():
    class Broken(Chain):
        def step(self, token, index, memory, cache):
            logits, cache, attention = super().step(token, index, memory, cache)
            return ops.where(index >= 2, float("nan"), logits), cache, attention

    table = np.zeros((6, 6))
    table[:, A] = 1
    for search in (zoo.greedy, zoo.beam_search):
        with pytest.raises(ValueError, match="NaN at step 3"):
            search(Broken(table), np.array([[5, 2]]))
