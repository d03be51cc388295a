import io

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from zoo.inspection.view import AttentionView

SOURCE, TARGET = ["_the", "_cat", "</s>"], ["_kedi", "</s>"]


@pytest.fixture
def view(random):
    maps = {
        "encoder/0/self": random.dirichlet(np.ones(3), size=(2, 3)),
        "decoder/0/self": random.dirichlet(np.ones(2), size=(2, 2)),
        "decoder/0/cross": random.dirichlet(np.ones(3), size=(2, 2)),
        "decoder/1/cross": np.array([[[0.004, 0.9, 0.096], [0.2, 0.3, 0.5]], [[0.0, 1, 0], [0, 0, 1]]]),
    }
    return AttentionView(SOURCE, TARGET, maps, "kedi")


def test_the_default_is_the_last_cross_attention_mean_over_heads(view):
    np.testing.assert_allclose(view.matrix(), [[0.002, 0.95, 0.048], [0.1, 0.15, 0.75]])
    np.testing.assert_array_equal(view.matrix(head=1), [[0, 1, 0], [0, 0, 1]])


def test_axes_are_what_was_read_and_what_was_predicted(view):
    assert view.axes("decoder/0/cross") == (TARGET, SOURCE)
    assert view.axes("encoder/0/self") == (SOURCE, SOURCE)
    assert view.axes("decoder/0/self") == (["<s>", "_kedi"], ["<s>", "_kedi"])


def test_printing_shows_tokens_and_per_cents(view):
    console = Console(file=io.StringIO(), width=80)
    view.print(role="decoder/1/cross", head=0, console=console)
    lines = [line.split() for line in console.file.getvalue().splitlines()]
    assert lines == [
        ["decoder/1/cross,", "head", "0"],
        ["_the", "_cat", "</s>"],
        ["_kedi", "90", "10"],  # 0.4 % is left blank
        ["</s>", "20", "30", "50"],
    ]


def test_tokens_are_never_markup(random):
    weights = {"decoder/0/cross": np.ones((1, 1, 1))}
    console = Console(file=io.StringIO(), width=80)
    AttentionView(["[red]x"], ["[bold]"], weights, "").print(console=console)
    assert "[red]x" in console.file.getvalue()
    assert "[bold]" in console.file.getvalue()


def test_png_and_image_are_the_same_picture(view, tmp_path):
    view.png(tmp_path / "map.png", head=1)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "map.png")), np.asarray(view.image(head=1)))


def test_a_figure_carries_the_matrix_and_the_tokens(view):
    pytest.importorskip("matplotlib", reason="matplotlib is an extra")
    figure = view.figure(head=0)
    axes = figure.axes[0]
    np.testing.assert_allclose(axes.images[0].get_array(), view.matrix(head=0))
    assert [t.get_text() for t in axes.get_xticklabels()] == SOURCE
    assert [t.get_text() for t in axes.get_yticklabels()] == TARGET


def test_what_is_not_there_is_refused(view):
    with pytest.raises(ValueError, match="role 'decoder/2/cross'.*decoder/1/cross"):
        view.matrix("decoder/2/cross")
    with pytest.raises(ValueError, match="head 2.*heads 0 to 1"):
        view.matrix(head=2)
    with pytest.raises(ValueError, match="no attention"):
        AttentionView(SOURCE, TARGET, {}, "").print()
