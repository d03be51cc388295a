"""A real Chromium for the tests of the viewer, and the run that they look at."""

import contextlib
import json
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pytest
import tensorflow as tf

from zoo.data.alignment import Alignment
from zoo.inspection.records import record_statistics
from zoo.inspection.view import AttentionView
from zoo.tensorboard.record import Kind, Record
from zoo.tensorboard.summary import write_record

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
SOURCE = ["▁the", "▁dog", "▁ran", "</s>"]
TARGET = ["▁köpek", "▁koş", "tu", "▁hızla", "</s>"]
HOSTILE = [
    "<img src=x onerror=window.hacked=1>",
    "</script><script>window.hacked=1</script>",
    "\u202egnimraw\u202c",
    "x" * 500,
    "🙂家",
    "\u0000\u200b",
]
STEPS = (0, 7, 40)


@contextlib.contextmanager
def chromium():
    """Starts Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def weights_of(seed, layers, heads, rows, columns, causal=False):
    scores = np.random.default_rng(seed).normal(size=(layers, heads, rows, columns)) * 2
    e = np.exp(np.where(np.tri(rows, columns, dtype=bool) | (not causal), scores, -np.inf))
    return (e / e.sum(-1, keepdims=True)).astype("float32")


def kind_of(name, rows, columns, layers, heads, tokens, seed, causal=False, width=None):
    """One kind of attention between two axes of tokens; with queries and keys where they have a width."""
    sizes = len(tokens[rows]), len(tokens[columns])
    side, relation = "encoder" if name == "encoder" else "decoder", "cross" if name == "cross" else "self"
    roles = tuple(f"{side}/{i}/{relation}" for i in range(layers))
    random, vectors = np.random.default_rng(seed), ()
    if width is not None:
        vectors = (random.normal(size=(layers, heads, size, width)).astype("float32") for size in sizes)
    return Kind(name, rows, columns, roles, weights_of(seed, layers, heads, *sizes, causal), *vectors)


def record_at(step, run=0):
    """An encoder-decoder's record: 2 layers, 3 heads; different at each step and in each run."""
    seed = 1000 * run + step
    kinds = (
        kind_of("encoder", "source", "source", 2, 3, TOKENS, seed + 1, width=8),
        kind_of("decoder", "read", "read", 2, 3, TOKENS, seed + 2, causal=True, width=8),
        kind_of("cross", "target", "source", 2, 3, TOKENS, seed + 3, width=8),
    )
    return Record("the dog ran → köpek koştu hızla", TOKENS, kinds, gold=((0, 1), (1, 2), (2, 2)))


TOKENS = {"source": SOURCE, "target": TARGET, "read": ["<s>", *TARGET[:-1]]}


def statistics_of(record):
    maps = {role: w for kind in record.kinds for role, w in zip(kind.layers, kind.weights, strict=True)}
    view = AttentionView(record.tokens.get("source", []), record.tokens.get("target", []), maps, "")
    gold = Alignment(((1, 0), (2, 1)), ((1, 0), (2, 1))) if record.gold else None
    return record_statistics(record, view, gold)


def single(name, rows, columns, layers, heads, tokens, title, seed=5, **options):
    return Record(title, tokens, (kind_of(name, rows, columns, layers, heads, tokens, seed, **options),))


OTHERS = {
    "hostile": single("encoder", "source", "source", 1, 2, {"source": HOSTILE}, "</script><b>title</b>"),
    "recurrent": single("cross", "target", "source", 1, 1, {"target": TARGET, "source": SOURCE}, "one head"),
    "decoder": single("decoder", "read", "read", 2, 2, {"read": [*SOURCE, "<s>", "▁köpek"]}, "a prompt", causal=True),
    "encoder": single("encoder", "source", "source", 3, 2, {"source": ["[CLS]", "the", "dog", "[SEP]"]}, "of BERT"),
    "long": single("encoder", "source", "source", 1, 1, {"source": [f"w{i}" for i in range(200)]}, "200 tokens"),
}


def written_at(step):
    """A record whose target the model wrote: other words at another step, as many."""
    target = ["▁kedi", "</s>"] if step else ["▁köpek", "</s>"]
    return single("cross", "target", "source", 1, 1, {"target": target, "source": SOURCE}, "as it writes", seed=step)


def write_runs(logdir):
    """Two runs with three steps, a run with a record of each other form, and one whose targets change."""
    with tf.summary.create_file_writer(str(logdir / "writes")).as_default():
        for step in (0, 1):
            write_record("01", written_at(step), statistics_of(written_at(step)), step)
    for run in (0, 1):
        with tf.summary.create_file_writer(str(logdir / f"run{run}")).as_default():
            for step in STEPS:
                record = record_at(step, run)
                write_record("01", record, statistics_of(record), step)
    with tf.summary.create_file_writer(str(logdir / "forms")).as_default():
        for name, record in OTHERS.items():
            write_record(name, record, statistics_of(record), 3)


@contextlib.contextmanager
def tensorboard(logdir, fast):
    """Starts TensorBoard and yields its address."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--port", "0", "--host", "127.0.0.1"]
    command += ["--load_fast", "true" if fast else "false", "--reload_interval", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            lines = []
            for line in process.stderr:
                lines.append(line)
                found = re.search(r"http://127\.0\.0\.1:\d+/", line)
                if found:
                    break
            else:
                raise AssertionError("".join(lines))
            yield found[0]
        finally:
            process.terminate()


def ask(address, path, **parameters):
    """What the plugin answers, as bytes."""
    with urllib.request.urlopen(
        f"{address}data/plugin/attention/{path}?{urllib.parse.urlencode(parameters)}"
    ) as answer:
        return answer.read()


def steps_of(address, run, tag="attention/01"):
    """The steps that TensorBoard has loaded so far."""
    try:
        return [one["step"] for one in json.loads(ask(address, "steps", run=run, tag=tag))["steps"]]
    except urllib.error.HTTPError:
        return []


class Watched:
    """A page that remembers what went wrong on it, and what it asked for from elsewhere."""

    def __init__(self, page, address=""):
        self.page, self.problems, self.outside = page, [], []
        page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        page.on("request", lambda request: self._asked(request.url, address))

    def _asked(self, url, address):
        if not url.startswith((address, "data:", "blob:", "about:")) or not address:
            self.outside.append(url)

    def viewer(self, state="ready"):
        """The frame of TensorBoard that holds the tab, once it has drawn."""
        for _ in range(200):
            for frame in self.page.frames:
                if "plugin_entry.html?name=attention" in frame.url:
                    return ready(frame, state)
            self.page.wait_for_timeout(50)
        raise AssertionError("there is no attention tab")


@contextlib.contextmanager
def watched_page(browser, address, **options):
    """A page at whose end nothing has gone wrong on it, and nothing was asked for from elsewhere."""
    page = browser.new_page(viewport={"width": 1500, "height": 1100}, **options)
    found = Watched(page, address)
    yield found
    assert found.problems == []
    assert found.outside == []
    page.close()


def ready(frame, state="ready"):
    frame.wait_for_selector(f"[data-state={state}]", timeout=20000)
    return frame


def wait_for(check, seconds=20):
    """Waits until a function gives something true, and returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"it did not come about: {check()}")


def cell_text(frame, row, column, view="map"):
    """Points at a cell of a map and returns what is said of it."""
    canvas = frame.locator(f"canvas[data-view={view}]")
    cell, left, top = (int(canvas.get_attribute(f"data-{name}")) for name in ("cell", "left", "top"))
    canvas.hover(position={"x": left + cell * (column + 0.5), "y": top + cell * (row + 0.5)})
    return frame.inner_text("[data-out=cell]")
