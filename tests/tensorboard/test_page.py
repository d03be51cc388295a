"""The viewer as one HTML file: from a file, in a notebook's frame, of a training run."""

import re

import numpy as np
import pytest

import zoo
from tests.tensorboard.browser import (
    HOSTILE,
    OTHERS,
    STEPS,
    TARGET,
    cell_text,
    needs_chromium,
    ready,
    record_at,
    statistics_of,
    wait_for,
    watched_page,
)
from zoo.inspection.html import frame, page, pages_of
from zoo.tensorboard.record import pack

pytestmark = needs_chromium


@pytest.fixture
def watched(chromium):
    with watched_page(chromium, "file:") as found:
        yield found


def show(watched, content, tmp_path):
    path = tmp_path / "a page.html"
    path.write_text(content, encoding="utf-8")
    watched.page.goto(path.as_uri())
    return ready(watched.page.main_frame)


def test_a_sentence_of_a_model(watched, tmp_path):
    tokenizer = zoo.Tokenizer.train(["the cat ran", "kedi koştu"] * 4, 290)
    sizes = dict.fromkeys(("source_vocab", "target_vocab"), tokenizer.vocabulary)
    text = zoo.TextModel(zoo.build("transformer-tiny", **sizes), tokenizer)
    view = text.attend("the cat ran", target="kedi koştu", vectors=True, occlude=True)
    path = tmp_path / "view.html"
    assert view.html(path, gold=zoo.inspection.Alignment(((1, 0),), ())) == path.read_text(encoding="utf-8")
    watched.page.goto(path.as_uri())
    opened = ready(watched.page.main_frame)
    opened.locator("[data-head='1/2']").click()
    wait_for(lambda: "layer 2, head 3" in opened.inner_text("figcaption >> nth=0"))
    for row, column in np.ndindex(view.matrix().shape):
        said = float(re.search(r": (\d\.\d+)", cell_text(opened, row, column))[1])
        assert said == pytest.approx(view.maps["decoder/1/cross"][2, row, column], abs=0.005)
    together = zoo.inspection.correlation(view.maps["decoder/1/cross"], view.occlusion)[2]
    said = opened.inner_text("[data-out=numbers]")
    assert f"rank correlation with leave-one-out {together:.2f} (attention is no attribution by itself)" in said
    opened.get_by_label("show").select_option("worth")
    wait_for(lambda: "leave-one-out" in opened.inner_text("figcaption >> nth=0"))
    said = float(re.search(r": (-?\d\.\d+)", cell_text(opened, 1, 0))[1])
    assert said == pytest.approx(view.occlusion[1, 0], abs=0.002)
    assert opened.locator("[data-view=neurons]").count() == 1


def test_a_training_run(watched, tmp_path):
    records = [(step, pack(record_at(step)), statistics_of(record_at(step))) for step in STEPS]
    opened = show(watched, page({"run": {"attention/01": records}}), tmp_path)
    assert opened.inner_text("[data-out=step]") == str(STEPS[-1])
    opened.get_by_label("training step", exact=True).press("Home")
    wait_for(lambda: "step 0" in opened.inner_text("figcaption >> nth=0"))
    assert cell_text(opened, 0, 0).startswith(f"_{TARGET[0].strip('▁')} → _the: ")


def test_tokens_are_data_and_the_policy_is_strict(watched, tmp_path):
    content = page(pages_of(OTHERS["hostile"]), title="</title><script>window.hacked=1</script>")
    assert content.count("<script") == 2
    assert content.count("</script>") == 2
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', content)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    opened = show(watched, content, tmp_path)
    assert HOSTILE[1][:30] in cell_text(opened, 1, 0)
    assert opened.evaluate("window.hacked === undefined && !document.querySelector('img')")


def test_in_a_notebook(watched, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<body>{frame(page(pages_of(record_at(0))))}</body>", encoding="utf-8")
    watched.page.goto(path.as_uri())
    inner = wait_for(lambda: next((f for f in watched.page.frames if f != watched.page.main_frame), None))
    assert "→" in cell_text(ready(inner), 1, 1)
    inner.locator("[data-head='0/1']").click()
    wait_for(lambda: "layer 1, head 2" in inner.inner_text("figcaption >> nth=0"))


def test_the_system_s_dark_mode(chromium, tmp_path):
    with watched_page(chromium, "file:", color_scheme="dark") as found:
        shown = show(found, page(pages_of(record_at(0))), tmp_path)
        assert shown.evaluate("document.documentElement.dataset.theme") == "dark"
