import numpy as np
import pytest
from PIL import Image

from zoo.inspection.heatmap import draw, label, shade, side_by_side


def test_shades_run_from_white_to_dark_blue():
    np.testing.assert_array_equal(shade([0, 1, 2, -1]), [[255] * 3, [8, 48, 107], [8, 48, 107], [255] * 3])
    greys = shade(np.linspace(0, 1, 11)).astype(int).sum(axis=1)
    assert (np.diff(greys) < 0).all()


def test_labels_are_one_short_printable_line():
    assert label("▁kedi") == "_kedi"
    assert label("a\nb\u202e") == "a\\u000Ab\\u202E"
    assert label("x" * 30) == "x" * 23 + "…"


def test_a_cell_has_the_colour_of_its_weight():
    weights = np.array([[0.0, 1.0, 0.5], [0.25, 0, 0.75]])
    image = np.asarray(draw(weights, ["a", "b"], ["x", "y", "z"]))
    for colour in shade(weights).reshape(-1, 3):
        assert (image == colour).all(axis=-1).sum() > 20 * 20


def test_letters_of_turkish_are_drawn_and_differ():
    """A font without them would draw the same box for each."""
    pictures = [np.asarray(draw(np.ones((1, 1)), [letter], ["x"])).tobytes() for letter in "ğışİ"]
    assert len(set(pictures)) == 4


def test_long_axes_and_titles_fit():
    image = draw(np.zeros((40, 3)), ["token"] * 40, ["a-rather-long-token"] * 3, title="a title " * 12)
    assert image.width > 400
    assert image.height > 40 * 20


def test_tokens_must_fit_the_matrix():
    with pytest.raises(ValueError, match=r"weights \(2, 3\) do not fit 2 rows and 2 columns"):
        draw(np.zeros((2, 3)), ["a", "b"], ["x", "y"])


def test_pictures_are_joined_in_rows():
    whole = side_by_side([Image.new("RGB", size, "red") for size in ((3, 5), (7, 2), (11, 1))], across=2)
    assert whole.size == (11, 6)
    pixels = np.asarray(whole)
    assert (pixels[:5, :3] == [255, 0, 0]).all()
    assert (pixels[2:5, 3:] == 255).all()
    assert (pixels[5] == [255, 0, 0]).all()
