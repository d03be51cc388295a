import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

import zoo
from tests.decoding.models import CHAIN, A, B, Chain, Tables, score
from tests.samples import TINY, batch, small
from zoo.ids import BOS, EOS, PAD

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
