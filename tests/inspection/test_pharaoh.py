import numpy as np
import pytest

import zoo
from zoo import inspection
from zoo.data.alignment import Alignment


def view_of(weights):
    return zoo.AttentionView(
        ["▁the", "▁ca", "t", "</s>"],
        ["▁kedi", "yi", "▁it", "</s>"],
        {"decoder/0/cross": np.array([weights])},
        "kediyi it",
    )


VIEW = view_of([[0.1, 0.4, 0.4, 0.1], [0.3, 0.2, 0.1, 0.4], [0.9, 0.05, 0.05, 0.0], [0.0, 0.6, 0.0, 0.4]])


def test_alignments_in_words():
    # "kediyi" is the mean of two rows: the .2, cat (.8 + .3) / 2 = .55. "it" attends to the.
    assert inspection.to_pharaoh(VIEW, "decoder/0/cross") == "0-1 1-0"
    assert inspection.to_pharaoh(VIEW, "decoder/0/cross", threshold=0.2) == "0-0 0-1 1-0"
    assert inspection.to_pharaoh(VIEW, "decoder/0/cross", threshold=1.0) == ""


def test_the_row_after_belongs_to_the_word_that_was_read():
    # "kediyi" gets rows 2 and 3: the (.3 + .9) / 2 = .6; "it" gets row 4, cat .6.
    assert inspection.to_pharaoh(VIEW, "decoder/0/cross", reading="read") == "0-0 1-1"


def test_a_file_is_read_and_scored(tmp_path):
    path = tmp_path / "gold"
    path.write_text("\ufeff1-0 0p1\n\n 2?3  10-4 \n", encoding="utf-8")
    found = inspection.read_pharaoh(path)
    assert found == [
        Alignment(((1, 0),), ((0, 1), (1, 0))),
        Alignment((), ()),
        Alignment(((10, 4),), ((2, 3), (10, 4))),
    ]
    assert zoo.alignment_error_rate([{(1, 0), (0, 1)}, set(), {(10, 4)}], found) == 0


@pytest.mark.parametrize("part", ["1-", "a-b", "1-2-3", "-1-2", "1:2"])
def test_what_is_no_link_is_named_with_its_line(part, tmp_path):
    path = tmp_path / "gold"
    path.write_text(f"0-0\n1-1 {part}\n")
    with pytest.raises(ValueError, match="line 2.*no link: write source-target"):
        inspection.read_pharaoh(path)


@pytest.mark.parametrize("threshold", [0, -0.5, 1.5])
def test_thresholds_are_weights(threshold):
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        inspection.to_pharaoh(VIEW, "decoder/0/cross", threshold=threshold)


def test_other_maps_and_heads_are_refused():
    with pytest.raises(ValueError, match="role 'encoder/0/self': must be one of decoder/0/cross"):
        inspection.to_pharaoh(VIEW, "encoder/0/self")
    for head in (1, -1, None):
        with pytest.raises(ValueError, match="has heads 0 to 0"):
            inspection.to_pharaoh(VIEW, "decoder/0/cross", head)


def test_no_words_no_links():
    empty = zoo.AttentionView(["</s>"], ["▁a", "</s>"], {"decoder/0/cross": np.ones((1, 2, 1))}, "a")
    assert inspection.to_pharaoh(empty, "decoder/0/cross") == ""
