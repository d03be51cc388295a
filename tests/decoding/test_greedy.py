import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

import zoo
from tests.samples import small
from zoo.decoding.protocol import CACHE_MULTIPLE
from zoo.ids import BOS, EOS, PAD
from zoo.layers.tap import tap

TINY = ["seq2seq-tiny", "seq2seq-bahdanau-tiny", "seq2seq-luong-tiny", "transformer-tiny"]


class Chain:
    """A model of one's own: p(next | last token), by a table; the source only says how many rows there are."""

    def __init__(self, table):
        self.log_p = np.log(np.array(table, "float32") + 1e-30)

    def start(self, source, max_length):
        return {"source": source}, {"seen": ops.zeros_like(source[:, 0])}

    def step(self, token, index, memory, cache):
        logits = ops.take(ops.convert_to_tensor(self.log_p), token, axis=0)
        return logits, {"seen": cache["seen"] + 1}, ops.ones_like(memory["source"], dtype="float32")[:, None]


# PAD, BOS, EOS, UNK, A, B: p(A) = .5, p(B) = .4, p(EOS) = .1; after A .3, .3, EOS .4; after B .05, .05, EOS .9
CHAIN = [[0] * 6, [0, 0, 0.1, 0, 0.5, 0.4], [0] * 6, [0] * 6, [0, 0, 0.4, 0, 0.3, 0.3], [0, 0, 0.9, 0, 0.05, 0.05]]


def test_a_chain_by_hand():
    found = zoo.greedy(Chain(CHAIN), np.array([[5, 2]]))
    np.testing.assert_array_equal(found.tokens, [[[4, EOS]]])
    assert found.log_probs[0, 0] == pytest.approx(-1.609438, abs=1e-5)  # log .5 + log .4
    assert found.scores[0, 0] == found.log_probs[0, 0]
    assert (found.lengths[0, 0], found.finished[0, 0], found.attention) == (2, True, None)


def test_nothing_follows_the_end_and_rows_do_not_wait():
    """Row 0 ends at once; row 1 goes on to the limit."""

    class Two(Chain):
        def step(self, token, index, memory, cache):
            ends = ops.equal(memory["source"][:, :1], 9)
            end, go = np.full((1, 6), -30, "float32"), np.full((1, 6), -30, "float32")
            end[0, EOS], go[0, 4] = 30, 30
            return ops.where(ends, end, go), cache, None

    found = zoo.greedy(Two(CHAIN), np.array([[9, 2], [8, 2]]), max_length=5)
    np.testing.assert_array_equal(found.tokens, [[[EOS, PAD, PAD, PAD, PAD]], [[4, 4, 4, 4, 4]]])
    np.testing.assert_array_equal(found.lengths, [[1], [5]])
    np.testing.assert_array_equal(found.finished, [[True], [False]])


def test_nothing_finished_by_the_limit_is_flagged_not_lost():
    table = np.zeros((6, 6))
    table[:, 4] = 1  # p(EOS) = 0
    found = zoo.greedy(Chain(table), np.array([[7, 8, 2]]))
    np.testing.assert_array_equal(found.tokens, [[[4] * 53]])  # 3 + 50
    assert not found.finished[0, 0]


def test_an_empty_row_gets_an_empty_output():
    found = zoo.greedy(small("transformer-tiny"), np.array([[0, 0, 0], [5, 6, 2]]), max_length=4)
    np.testing.assert_array_equal(found.tokens[0, 0], [PAD] * found.tokens.shape[2])
    assert (found.lengths[0, 0], found.log_probs[0, 0], found.finished[0, 0]) == (0, 0, True)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_follows_the_argmax_of_any_chain(seed):
    random = np.random.default_rng(seed)
    table = random.dirichlet(np.ones(6), size=6)
    found = zoo.greedy(Chain(table), np.array([[5]]), max_length=7)
    token, tokens, log_p = BOS, [], 0.0
    while len(tokens) < 7 and token != EOS:
        following = table[token].copy()
        following[[PAD, BOS]] = 0
        token = int(following.argmax())
        log_p += np.log(following[token])
        tokens.append(token)
    assert found.tokens[0, 0].tolist() == tokens
    assert found.log_probs[0, 0] == pytest.approx(log_p, abs=1e-4)


def forced(model, source, limit):
    """The slow way: the full forward of the whole prefix for every token, one sentence at a time."""
    target, log_p = [BOS], 0.0
    while len(target) <= limit and target[-1] != EOS:
        logits = model({"source": source, "target": np.array([target], "int32")})[:, -1]
        row = ops.convert_to_numpy(ops.log_softmax(logits))[0].astype("float64")
        row[[PAD, BOS]] = -np.inf
        target.append(int(row.argmax()))
        log_p += row[target[-1]]
    return target[1:], log_p


@pytest.mark.parametrize("name", TINY)
def test_cached_decoding_equals_the_slow_way(name):
    model = small(name)
    source = np.array([[7, 11, 13, 2, 0, 0], [5, 6, 7, 8, 9, 2], [4, 2, 0, 0, 0, 0]], "int32")
    found = zoo.greedy(model, source, max_length=9)
    for row in range(3):
        tokens, log_p = forced(model, source[row : row + 1], 9)
        assert found.tokens[row, 0, : found.lengths[row, 0]].tolist() == tokens
        assert found.log_probs[row, 0] == pytest.approx(log_p, abs=1e-4)


@pytest.mark.parametrize("name", TINY)
def test_an_output_does_not_depend_on_its_neighbours_or_padding(name):
    model = small(name)
    source = np.array([[7, 11, 13, 2, 0, 0], [5, 6, 7, 8, 9, 2], [4, 2, 0, 0, 0, 0]], "int32")
    together = zoo.greedy(model, source, max_length=9)
    turned = zoo.greedy(model, source[::-1], max_length=9)
    padded = zoo.greedy(model, np.pad(source, ((0, 0), (0, 7))), max_length=9)
    alone = [zoo.greedy(model, source[i : i + 1], max_length=9) for i in range(3)]
    for i in range(3):
        expected = together.tokens[i, 0].tolist()
        for other in (turned.tokens[2 - i, 0], padded.tokens[i, 0], alone[i].tokens[0, 0]):
            assert other.tolist()[: len(expected)] == expected[: len(other)]


@pytest.mark.parametrize("name", TINY)
def test_few_graphs_serve_every_length(name, monkeypatch):
    model, traced = small(name), []
    start = model.start
    monkeypatch.setattr(model, "start", lambda *arguments: traced.append(1) or start(*arguments))
    for rows, width, limit in [(1, 5, 3), (2, 5, 4), (3, 7, 9), (2, 6, CACHE_MULTIPLE), (2, 8, 7), (4, 3, 12)]:
        zoo.greedy(model, np.full((rows, width), 5), max_length=limit)
    by_shape = 7 if keras.backend.backend() == "jax" else 3  # TensorFlow leaves rows, then widths open
    assert len(traced) <= by_shape


def test_an_open_tap_hears_nothing_of_a_search():
    with tap() as maps:
        zoo.greedy(small("transformer-tiny"), np.array([[5, 2]]), max_length=3)
    assert maps == {}


def test_compiled_searches_are_not_part_of_the_saved_model(tmp_path):
    model = small("seq2seq-tiny")
    zoo.greedy(model, np.array([[5, 2]]), max_length=3)
    model.save(tmp_path / "model.keras")
    reloaded = zoo.load_model(tmp_path / "model.keras")
    assert len(reloaded.weights) == len(model.weights)
    np.testing.assert_array_equal(
        zoo.greedy(reloaded, np.array([[5, 2]]), max_length=3).tokens,
        zoo.greedy(model, np.array([[5, 2]]), max_length=3).tokens,
    )


def test_training_on_changes_what_is_decoded():
    """The compiled loop reads the weights, it does not remember them."""
    model = small("seq2seq-tiny")
    before = zoo.greedy(model, np.array([[5, 2]]), max_length=3)
    model.output_projection.bias.assign(50.0 * np.eye(53)[17])
    after = zoo.greedy(model, np.array([[5, 2]]), max_length=3)
    assert before.tokens.tolist() != [[[17, 17, 17]]]
    assert after.tokens.tolist() == [[[17, 17, 17]]]
