"""TensorBoard with the plugin: its answers, and what damaged files and broken installations do."""

import gzip
import json
import subprocess
import sys
import urllib.error

import numpy as np
import pytest
import tensorflow as tf

from tests.tensorboard.browser import (
    SOURCE,
    STEPS,
    TARGET,
    Watched,
    ask,
    needs_chromium,
    record_at,
    statistics_of,
    steps_of,
    tensorboard,
    wait_for,
    watched_page,
)
from zoo.tensorboard import read_history
from zoo.tensorboard.record import METRICS, pack, unpack
from zoo.tensorboard.summary import _metadata, write_record

LOADERS = pytest.mark.parametrize("fast", [True, False])


def write(logdir, steps=STEPS):
    with tf.summary.create_file_writer(str(logdir)).as_default():
        for step in steps:
            record = record_at(step)
            write_record("01", record, statistics_of(record), step)


def refused(address, path, **parameters):
    with pytest.raises(urllib.error.HTTPError) as fault:
        ask(address, path, **parameters)
    assert fault.value.code in (400, 404)
    return fault.value.read().decode()


@LOADERS
def test_what_it_answers(fast, tmp_path):
    write(tmp_path / "a", range(150))
    with tensorboard(tmp_path, fast) as address:
        # None is dropped, the first among them.
        wait_for(lambda: steps_of(address, "a") == list(range(150)))
        assert json.loads(ask(address, "runs")) == {"a": ["attention/01"]}
        steps = json.loads(ask(address, "steps", run="a", tag="attention/01"))["steps"]
        blobs = [ask(address, "block", key=key) for key in steps[7]["keys"]]
        assert blobs == pack(record_at(7))
        header = json.loads(ask(address, "header", key=steps[7]["keys"][0]))
        assert header["tokens"]["source"] == SOURCE
        stats = json.loads(ask(address, "stats", run="a", tag="attention/01"))
        assert (stats["kinds"], stats["metrics"], stats["steps"]) == (
            ["encoder", "decoder", "cross"],
            list(METRICS),
            list(range(150)),
        )
        expected = statistics_of(record_at(7))
        found = np.array(
            [[[[np.nan if x is None else x for x in h] for h in layer] for layer in k] for k in stats["values"][7]]
        )
        np.testing.assert_allclose(found, expected, atol=1e-4)
        assert "no 'attention/02'" in refused(address, "steps", run="a", tag="attention/02")
        assert "no 'attention/01'" in refused(address, "steps", run="b", tag="attention/01")
        assert "key" in refused(address, "block")
        assert refused(address, "block", key="nonsense")
        assert "no attention record" in refused(address, "header", key=steps[7]["keys"][1])
        assert json.loads(ask(address, "stats", run="b", tag="attention/01"))["steps"] == []


@LOADERS
@needs_chromium
def test_a_damaged_record_is_an_error_box_and_no_more(fast, tmp_path, chromium):
    write(tmp_path / "good")
    blobs = pack(record_at(0))
    bad = {"torn": [blobs[0], *(blob[:-20] for blob in blobs[1:])], "no_header": [b"<b>what</b>", *blobs[1:]]}
    bad["bomb"] = [blobs[0], *[gzip.compress(bytes(10**7))] * 9]
    bad["none"] = blobs[:2]
    with tf.summary.create_file_writer(str(tmp_path / "bad")).as_default():
        for name, data in bad.items():
            tf.summary.write(f"attention/{name}", tf.constant(data), step=1, metadata=_metadata("blob_sequence"))
    with open(next((tmp_path / "good").iterdir()), "ab") as file:
        file.write(b"\x00" * 40)  # and a file whose end is torn
    with tensorboard(tmp_path, fast) as address:
        wait_for(lambda: len(steps_of(address, "good")) == len(STEPS))
        wait_for(lambda: all(steps_of(address, "bad", f"attention/{name}") for name in bad))
        page = chromium.new_page()
        for name in bad:
            page.goto(f"{address}#attention&p.attention.view=run%3Dbad%26tag%3Dattention%2F{name}")
            page.reload()
            frame = Watched(page, address).viewer("error")
            assert "cannot be shown" in frame.inner_text("[role=alert]")
        assert json.loads(ask(address, "steps", run="good", tag="attention/01"))["steps"]
        page.close()


@needs_chromium
def test_the_first_screen_without_data_says_what_to_type(tmp_path, chromium):
    with tensorboard(tmp_path, True) as address:
        with watched_page(chromium, address) as watched:
            watched.page.goto(f"{address}#attention")
            text = watched.viewer().inner_text("main")
        assert "AttentionCallback(" in text
        assert "model.fit(" in text


@needs_chromium
def test_steps_appear_while_the_page_is_open(tmp_path, chromium):
    write(tmp_path / "a", (0, 1))
    with tensorboard(tmp_path, True) as address:
        wait_for(lambda: steps_of(address, "a") == [0, 1])
        with watched_page(chromium, address) as watched:
            watched.page.goto(f"{address}#attention")
            frame = watched.viewer()
            assert frame.inner_text("[data-out=step]") == "1"
            write(tmp_path / "a", (9,))
            wait_for(lambda: frame.inner_text("[data-out=step]") == "9", seconds=40)


def test_a_broken_zoo_leaves_tensorboard_its_other_tabs():
    code = """
import sys
sys.modules["zoo.tensorboard.record"] = None            # an import of it raises
from tensorboard import default
loader = next(p for p in default.get_dynamic_plugins() if p.__module__ == "zoo.tensorboard.loader")
assert loader().load(None) is None
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "the attention tab is left out" in done.stderr


def test_the_plugin_loads_neither_keras_nor_tensorflow():
    code = """
import sys, zoo.tensorboard.loader, zoo.tensorboard.plugin
print(*[m for m in ("keras", "tensorflow", "scipy", "PIL", "zoo.layers") if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_history_is_read_back(tmp_path):
    write(tmp_path / "a")
    write(tmp_path / "b" / "c", (1,))
    found = read_history(tmp_path)
    assert {run: {tag: [step for step, *_ in steps] for tag, steps in tags.items()} for run, tags in found.items()} == {
        "a": {"attention/01": list(STEPS)},
        "b/c": {"attention/01": [1]},
    }
    step, blobs, values = found["a"]["attention/01"][1]
    assert unpack(blobs).tokens["target"] == TARGET
    np.testing.assert_array_equal(values, statistics_of(record_at(step)))
    write(tmp_path / "a", (7, 41))  # a resumed run writes its first step again
    with tf.summary.create_file_writer(str(tmp_path / "bad")).as_default():
        tf.summary.write("attention/01", tf.constant([b"{}"]), step=1, metadata=_metadata("blob_sequence"))
    with pytest.warns(UserWarning, match="bad, attention/01, step 1 is left out: this is no attention record"):
        again = read_history(tmp_path)
    assert [step for step, *_ in again["a"]["attention/01"]] == [0, 7, 40, 41]
    assert "bad" not in again
    with pytest.raises(FileNotFoundError, match="no folder"):
        read_history(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"no attention in it: train with zoo\.tensorboard\.AttentionCallback"):
        read_history(tmp_path / "empty")
