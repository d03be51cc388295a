"""The tab in a real TensorBoard, in a real Chromium, with both of TensorBoard's data loaders."""

import re
from urllib.parse import urlsplit

import numpy as np
import pytest

from tests.tensorboard.browser import (
    SOURCE,
    STEPS,
    TARGET,
    cell_text,
    needs_chromium,
    ready,
    record_at,
    statistics_of,
    steps_of,
    tensorboard,
    wait_for,
    watched_page,
    write_runs,
    written_at,
)

pytestmark = needs_chromium
LOADERS = [
    pytest.param(fast, id=f"fast={fast}", marks=pytest.mark.xdist_group(f"viewer {fast}")) for fast in (True, False)
]
NEAR = 2 * 0.5 / 255 + 0.0006  # of the format, and of three digits


@pytest.fixture(scope="module", params=LOADERS)
def address(request, tmp_path_factory):
    logdir = tmp_path_factory.mktemp("runs")
    write_runs(logdir)
    with tensorboard(logdir, request.param) as found:
        for run, tag, count in (("run0", "01", 3), ("run1", "01", 3), ("writes", "01", 2), ("forms", "long", 1)):
            wait_for(lambda run=run, tag=tag, count=count: len(steps_of(found, run, f"attention/{tag}")) == count)
        yield found


@pytest.fixture
def watched(chromium, address):
    with watched_page(chromium, address) as found:
        yield found


def opened(watched, address, **state):
    """The viewer's frame at a state, by a link to it."""
    state = "%26".join(f"{name}%3D{value}" for name, value in state.items())
    watched.page.goto(f"{address}#attention&p.attention.view={state}")
    watched.page.reload()
    return watched.viewer()


def number_of(text):
    return float(re.search(r": (-?\d\.\d+)", text)[1])


@pytest.mark.parametrize(("kind", "number"), [("encoder", 0), ("decoder", 1), ("cross", 2)])
def test_the_number_under_the_pointer_is_the_models(watched, address, kind, number):
    frame = opened(watched, address, run="run1", kind=kind, layer=1, heads=2, step=7)
    weights = record_at(7, 1).kinds[number].weights[1, 2]
    for row, column in np.ndindex(weights.shape):
        assert number_of(cell_text(frame, row, column)) == pytest.approx(weights[row, column], abs=NEAR)
    if kind == "cross":
        assert cell_text(frame, 1, 2).startswith("_koş → _ran: ")
    assert frame.locator("[data-view=lines] line").count() > 0


def test_moving_through_the_steps_by_slider_keys_and_play(watched, address):
    frame = opened(watched, address, run="run0", kind="cross", layer=0, heads=0)
    assert frame.inner_text("[data-out=step]") == "40"
    slider = frame.get_by_label("training step", exact=True)
    slider.focus()
    slider.press("ArrowLeft")
    wait_for(lambda: frame.inner_text("[data-out=step]") == "7")
    ready(frame)
    assert number_of(cell_text(frame, 0, 0)) == pytest.approx(record_at(7).kinds[2].weights[0, 0, 0, 0], abs=NEAR)
    frame.get_by_role("tab", name="encoder self-attention").focus()
    frame.page.keyboard.press(",")
    wait_for(lambda: "step 0" in frame.inner_text("figcaption >> nth=0"))
    frame.get_by_role("button", name="play through the steps").click()
    wait_for(lambda: "step 40" in frame.inner_text("figcaption >> nth=0"))


def test_choosing_kinds_and_heads(watched, address):
    frame = opened(watched, address, run="run0", layer=0, heads=0)
    frame.get_by_role("tab", name="decoder self-attention").click()
    wait_for(lambda: "decoder has read" in frame.inner_text("main"))
    frame.locator("[data-head='1/1']").click()
    wait_for(lambda: "layer 2, head 2" in frame.inner_text("figcaption >> nth=0"))
    weights = record_at(40).kinds[1].weights[1]
    assert number_of(cell_text(frame, 3, 1)) == pytest.approx(weights[1, 3, 1], abs=NEAR)
    frame.locator("[data-head='1/2']").click(modifiers=["Shift"])
    wait_for(lambda: frame.locator("[data-head][aria-pressed=true]").count() == 2)
    colours = frame.locator("[data-view=lines] line").evaluate_all(
        "lines => new Set(lines.map(l => l.getAttribute('stroke'))).size"
    )
    assert colours == 2
    frame.page.keyboard.press("]")
    wait_for(lambda: frame.locator("[data-head][aria-pressed=true]").count() == 1)


def test_a_link_shows_the_same_after_a_reload(watched, address):
    frame = opened(watched, address, run="run0")
    frame.get_by_label("run", exact=True).select_option("run1")
    wait_for(lambda: "run1" in frame.inner_text("figcaption >> nth=0"))
    ready(frame)
    frame.get_by_role("tab", name="encoder self-attention").click()
    wait_for(lambda: "token of the source" in frame.inner_text("main"))
    frame.locator("[data-head='1/2']").click()
    wait_for(lambda: "layer 2, head 3 · run1" in frame.inner_text("figcaption >> nth=0"))
    ready(frame)
    watched.page.reload()
    frame = watched.viewer()
    assert "layer 2, head 3 · run1, step 40" in frame.inner_text("figcaption >> nth=0")
    assert frame.get_by_role("tab", selected=True).inner_text() == "encoder self-attention"


def test_two_runs_side_by_side_and_their_difference(watched, address):
    frame = opened(watched, address, run="run0", kind="cross", layer=0, heads=1, step=7)
    frame.get_by_label("compare with").select_option("run1")
    frame.wait_for_selector("canvas[data-view=other]")
    ready(frame)
    mine, other = (record_at(7, run).kinds[2].weights[0, 1] for run in (0, 1))
    text = cell_text(frame, 2, 1)
    numbers = [float(found) for found in re.findall(r"-?\d\.\d{3}", text)]
    assert numbers == pytest.approx([mine[2, 1], other[2, 1], mine[2, 1] - other[2, 1]], abs=2 * NEAR)
    assert cell_text(frame, 2, 1, "other") == text
    frame.get_by_label("as", exact=True).select_option("difference")
    wait_for(lambda: "minus run1, step 7" in frame.inner_text("figcaption >> nth=0"))
    assert frame.locator("canvas[data-view=other]").count() == 0
    frame.get_by_label("compare with").select_option("run0")
    wait_for(lambda: "minus run0, step 0" in frame.inner_text("figcaption >> nth=0"))


def test_what_cannot_be_compared_is_said_and_the_bar_stays(watched, address):
    frame = opened(watched, address, run="writes", other="writes", view="difference")
    mine, other = ([written_at(step).kinds[0].weights[0, 0, 0, 1]] for step in (1, 0))
    text = cell_text(frame, 0, 1)
    assert text.startswith("_kedi → _dog: ")
    assert "; the other, _köpek → _dog: " in text
    assert [float(found) for found in re.findall(r"-?\d\.\d{3}", text)] == pytest.approx(mine + other, abs=NEAR)
    assert "other tokens: the two are not subtracted" in frame.inner_text("main")
    frame = opened(watched, address, run="run0", kind="encoder", other="writes")
    assert "Nothing to compare with: there is no attention of the kind encoder" in frame.inner_text("main")
    frame.get_by_label("compare with").select_option("run1")
    frame.wait_for_selector("canvas[data-view=other]")


def test_what_a_kind_does_not_have_falls_back_to_one_head(watched, address):
    frame = opened(watched, address, run="run0", kind="encoder", how="rollout")
    frame.get_by_role("tab", name="target to source").click()
    wait_for(lambda: re.match(r"layer \d, head \d", frame.inner_text("figcaption >> nth=0")))
    for how in ("worth", "constructor"):
        frame = opened(watched, address, run="run0", how=how, layer="1.5", heads="x,0.5")
        assert re.match(r"layer \d, head \d", frame.inner_text("figcaption >> nth=0"))


def test_numbers_curves_sorting_and_the_best_head(watched, address):
    frame = opened(watched, address, run="run0", kind="cross", layer=1, heads=2)
    values = statistics_of(record_at(40))[2]
    said = frame.inner_text("[data-out=numbers]")
    for value in values[1, 2]:
        assert f"{value:.2f}" in said
    best = np.unravel_index(np.nanargmin(values[:, :, 4:].min(-1)), (2, 3))
    badge = frame.locator(".badge")
    assert badge.count() == 1
    assert badge.evaluate("badge => badge.parentNode.dataset.head") == f"{best[0]}/{best[1]}"
    frame.get_by_label("sort heads").select_option("entropy")
    wait_for(lambda: frame.locator(".grid .name").count() == 0)
    order = frame.locator("[data-head]").evaluate_all("nodes => nodes.map(node => node.dataset.head)")
    assert order == [f"{i // 3}/{i % 3}" for i in np.argsort(values[:, :, 0].ravel(), kind="stable")]
    curve = frame.locator("[data-view=curves] polyline").last
    assert len(curve.get_attribute("points").split()) == len(STEPS)
    frame.locator("[data-view=curves]").click(position={"x": 50, "y": 80})
    wait_for(lambda: "step 0" in frame.inner_text("figcaption >> nth=0"))


def test_means_rollout_and_hidden_special_tokens(watched, address):
    frame = opened(watched, address, run="run0", kind="encoder", layer=1, heads=0, how="rollout")
    weights = record_at(40).kinds[0].weights.astype("float64")
    mean = 0.5 * weights.mean(1) + 0.5 * np.eye(len(SOURCE))
    rolled = mean[1] @ mean[0]
    assert number_of(cell_text(frame, 2, 0)) == pytest.approx(rolled[2, 0], abs=NEAR)
    frame.get_by_label("show").select_option("mean")
    wait_for(lambda: "mean of heads" in frame.inner_text("figcaption >> nth=0"))
    assert number_of(cell_text(frame, 2, 0)) == pytest.approx(weights[1].mean(0)[2, 0], abs=NEAR)
    frame.get_by_label("show").select_option("head")
    frame.get_by_label("special tokens").select_option("hide")
    wait_for(lambda: "3 columns" in frame.get_attribute("canvas[data-view=map]", "aria-label"))
    row = weights[1, 0, 2]
    assert number_of(cell_text(frame, 2, 0)) == pytest.approx(row[0] / row[:3].sum(), abs=3 * NEAR)


def test_neurons(watched, address):
    frame = opened(watched, address, run="run0", kind="cross", layer=1, heads=2)
    kind = record_at(40).kinds[2]
    cell_text(frame, 3, 0)
    shown = [float(text) for text in frame.locator("[data-view=neurons] [data-dot]").all_text_contents()]
    np.testing.assert_allclose(shown, kind.keys[1, 2] @ kind.queries[1, 2, 3], atol=0.02)


def test_a_pinned_row_keeps_its_lines(watched, address):
    frame = opened(watched, address, run="run0", kind="cross", layer=0, heads=0, threshold=0)
    canvas = frame.locator("canvas[data-view=map]")
    cell, left, top = (int(canvas.get_attribute(f"data-{name}")) for name in ("cell", "left", "top"))
    canvas.click(position={"x": left + cell / 2, "y": top + 2.5 * cell})
    wait_for(lambda: "row%3D2" in watched.page.url)
    ready(frame)
    watched.page.mouse.move(5, 5)
    faint = frame.locator("[data-view=lines] g").evaluate_all(
        "rows => rows.map(row => row.classList.contains('faint'))"
    )
    assert faint == [True, True, False, True, True]
    frame.locator("[data-view=lines] [data-row='3']").last.hover()
    faint = frame.locator("[data-view=lines] g").evaluate_all(
        "rows => rows.map(row => row.classList.contains('faint'))"
    )
    assert faint == [True, True, True, False, True]


def test_keyboard_alone(watched, address):
    frame = opened(watched, address, run="run0", kind="cross", layer=0, heads=0)
    frame.locator("canvas[data-view=map]").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        frame.page.keyboard.press(key)
    text = frame.inner_text("[data-out=cell]")
    assert text.startswith(f"_{TARGET[1].strip('▁')} → _dog: ")
    unnamed = frame.evaluate(
        """() => [...document.querySelectorAll("button, select, input, canvas:not([aria-hidden]), svg")].filter(
          (node) => !(node.getAttribute("aria-label") || node.textContent.trim())).length"""
    )
    assert unnamed == 0


def test_pictures_are_saved(watched, address):
    frame = opened(watched, address, run="run0", kind="cross", layer=0, heads=0)
    for name, start in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with watched.page.expect_download() as waiting:
            frame.get_by_role("region", name="Weights").get_by_role("button", name=name).click()
        with open(waiting.value.path(), "rb") as file:
            content = file.read()
        assert content.startswith(start)
    assert "köpek" in content.decode()


@pytest.mark.parametrize("form", ["recurrent", "decoder", "encoder"])
def test_models_of_other_forms(watched, address, form):
    frame = opened(watched, address, run="forms", tag=f"attention/{form}")
    assert frame.locator("[role=tab]").count() == 1
    assert ("This model has one head" in frame.inner_text("main")) == (form == "recurrent")
    assert number_of(cell_text(frame, 0, 0)) >= 0
    frame = opened(watched, address, run="forms", tag=f"attention/{form}", threshold=1.0)
    assert "No weight is that large" in frame.inner_text("main") or form == "decoder"  # whose first row has a 1


def test_tokens_are_text(watched, address):
    frame = opened(watched, address, run="forms", tag="attention/hostile")
    assert "<img src=x onerror=window.hacked=1>" in cell_text(frame, 0, 0)
    assert cell_text(frame, 1, 0).startswith("</script><script>window.hacked")
    assert r"\u202Egnimraw\u202C" in cell_text(frame, 2, 0)
    assert "x…" in cell_text(frame, 3, 0)
    assert "🙂家" in cell_text(frame, 4, 0)
    assert r"\u0000\u200B" in cell_text(frame, 5, 0)
    assert frame.evaluate("window.hacked === undefined && !document.querySelector('img, script[src=x], b b')")
    assert watched.page.evaluate("window.hacked === undefined")


def test_a_window_onto_many_tokens(watched, address):
    frame = opened(watched, address, run="forms", tag="attention/long", fromRow=90)
    assert cell_text(frame, 0, 1).startswith("w90 → w1: ")
    slider = frame.get_by_label("columns from")
    slider.focus()
    slider.press("End")
    wait_for(lambda: cell_text(frame, 0, 95).startswith("w90 → w199: "))


def test_dark_and_light(watched, address):
    frame = opened(watched, address, run="run0")
    assert frame.evaluate("document.documentElement.dataset.theme") == "light"
    watched.page.evaluate("document.body.classList.add('dark-mode')")
    wait_for(lambda: frame.evaluate("document.documentElement.dataset.theme") == "dark")
    ready(frame)
    assert urlsplit(watched.page.url).fragment.startswith("attention")
