import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zoo
from zoo.data.alignment import Alignment
from zoo.inspection.alignment import words_of
from zoo.inspection.view import AttentionView

SOURCE, TARGET = ["▁the", "▁c", "at", "</s>"], ["▁ke", "di", "▁var", "</s>"]
WEIGHTS = np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.2, 0.3, 0.1], [0.6, 0.2, 0.1, 0.1], [0.0, 0.0, 0.9, 0.1]])


def view(weights=WEIGHTS):
    return AttentionView(
        SOURCE, TARGET, {"decoder/0/cross": weights[None], "decoder/0/self": WEIGHTS[None]}, "kedi var"
    )


def test_pieces_belong_to_words():
    assert words_of(["▁the", "▁c", "at", "s", "</s>"]) == [0, 1, 1, 1, -1]
    assert words_of(["▁", "x", "<s>", "<pad>"]) == [0, 0, -1, -1]
    assert words_of(["x", "▁y"]) == [0, 1]  # a text may start without its mark
    assert words_of([]) == []


def test_columns_are_summed_and_rows_averaged():
    words = zoo.word_attention(view(), "decoder/0/cross")
    np.testing.assert_allclose(words.weights, [[0.25, 0.5], [0.6, 0.3]])
    assert words.links() == {(1, 0), (0, 1)}


def test_a_row_may_stand_for_the_word_that_was_read():
    words = zoo.word_attention(view(), "decoder/0/cross", reading="read")
    # "ke" is read before row 1, "di" before row 2, "var" before row 3
    np.testing.assert_allclose(words.weights, [[0.5, 0.4], [0.0, 0.9]])
    with pytest.raises(ValueError, match="reading='written'.*'predicted', 'read'"):
        zoo.word_attention(view(), "decoder/0/cross", reading="written")


def test_nothing_was_made_after_the_last_piece_of_an_output_without_end():
    cut = AttentionView(SOURCE, TARGET[:3], {"decoder/0/cross": WEIGHTS[None, :3]}, "kedi var")
    words = zoo.word_attention(cut, "decoder/0/cross", reading="read")
    np.testing.assert_allclose(words.weights, [[0.5, 0.4], [0, 0]])
    assert words.links() == {(0, 0)}


def test_entropy_by_hand():
    words = zoo.WordAttention(np.array([[0.25, 0.25], [0.0, 0.9], [0.0, 0.0]]))
    assert words.entropy() == pytest.approx(math.log(2) / 2)
    assert words.links() == {(0, 0), (1, 1)}
    assert zoo.WordAttention(np.zeros((2, 3))).entropy() == 0


def test_error_rate_by_hand():
    gold = [Alignment(((0, 0), (1, 1)), ((0, 0), (1, 1), (2, 1))), Alignment(((0, 0),), ((0, 0),))]
    assert zoo.alignment_error_rate([{(0, 0), (1, 1)}, {(0, 0)}], gold) == 0
    # A = 3 links; sure among them 1, possible among them 2; |S| = 3
    assert zoo.alignment_error_rate([{(0, 0), (2, 1)}, {(5, 5)}], gold) == pytest.approx(1 - (1 + 2) / (3 + 3))
    assert zoo.alignment_error_rate([set(), set()], gold) == 1
    assert zoo.alignment_error_rate([], []) == 0
    with pytest.raises(ValueError, match="1 predicted alignments for 2 gold ones"):
        zoo.alignment_error_rate([set()], gold)


links = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


@settings(max_examples=60, deadline=None)
@given(links, links, links)
def test_error_rate_is_a_rate(found, sure, more):
    gold = [Alignment(tuple(sure), tuple(sure | more))]
    rate = zoo.alignment_error_rate([found], gold)
    assert 0 <= rate <= 1
    assert zoo.alignment_error_rate([sure], gold) == 0


def test_every_head_and_reading_is_scored():
    gold = [Alignment(((1, 0), (0, 1)), ((1, 0), (0, 1)))]
    scores = zoo.alignment_scores([view()], gold)
    assert set(scores) == {("decoder/0/cross", 0, "predicted"), ("decoder/0/cross", 0, "read")}
    assert scores["decoder/0/cross", 0, "predicted"].error_rate == 0
    read = scores["decoder/0/cross", 0, "read"]
    assert read.error_rate == 1  # links (0, 0) and (1, 1)
    assert read.entropy == pytest.approx(-(5 / 9 * math.log(5 / 9) + 4 / 9 * math.log(4 / 9)) / 2)
