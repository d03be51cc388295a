"""The callback: which steps it writes, under what, and that what it writes is what the model attends to."""

import subprocess
import sys

import keras
import keras_hub
import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import zoo
from tests.samples import TINY
from zoo.tensorboard import AttentionCallback, Example
from zoo.tensorboard.record import unpack
from zoo.training.attention import _LONGEST

PAIRS = [("the cat", "kedi"), ("a dog", "bir it"), ("the cat ran", "kedi koştu"), ("a", "bir")]


@pytest.fixture(scope="module")
def tokenizer():
    return zoo.Tokenizer.train([side for pair in PAIRS for side in pair] * 4, 310)


def text_of(tokenizer, name="transformer-tiny", **fields):
    sizes = {"source_vocab": tokenizer.vocabulary, "target_vocab": tokenizer.vocabulary}
    return zoo.TextModel(zoo.build(name, **sizes, **fields), tokenizer)


def fit(text, tokenizer, look, steps=3, **options):
    made = zoo.batches(PAIRS, tokenizer, tokenizer, batch_tokens=64, shuffle=1)
    if not text.model.compiled:
        text.model.compile(options.pop("optimizer", "sgd"), loss=zoo.TokenCrossEntropy(), **options)
    text.model.fit(made.dataset.repeat(), steps_per_epoch=steps, verbose=0, callbacks=[look])


def read(logdir):
    events = EventAccumulator(str(logdir), size_guidance={"tensors": 0})
    events.Reload()
    return events


def records(events, tag):
    return {event.step: unpack(list(tf.make_ndarray(event.tensor_proto))) for event in events.Tensors(tag)}


def test_steps_are_the_optimisers_and_go_on_in_a_resumed_run(tokenizer, tmp_path):
    text = text_of(tokenizer)
    fit(text, tokenizer, AttentionCallback(PAIRS[:2], tmp_path / "log", text=text, every=2), steps=4)
    text.model.save(tmp_path / "model.keras")
    resumed = zoo.TextModel(zoo.load_model(tmp_path / "model.keras"), tokenizer)
    fit(resumed, tokenizer, AttentionCallback(PAIRS[:2], tmp_path / "log", text=resumed, every=2), steps=5)
    events = read(tmp_path / "log")
    found = records(events, "attention/01")
    assert list(found) == [0, 2, 4, 6, 8, 9]  # 4 is there once; 9 is the last one of training
    assert sorted({event.step for event in events.Tensors("attention/02/stats")}) == [0, 2, 4, 6, 8, 9]


def test_log_spaced_steps_are_a_hundred_in_a_million(tokenizer, tmp_path):
    look = AttentionCallback(PAIRS[:1], tmp_path, text=text_of(tokenizer))
    slots = [look._slot(step) for step in [0, *np.unique(np.geomspace(1, _LONGEST, 20000).astype(int))]]
    assert slots == sorted(slots)
    assert slots[0] == 0
    assert len(set(slots)) <= 100
    assert look._slot(1) == 1


def test_many_steps_are_thinned_and_said(tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr("zoo.training.attention.MOST_STEPS", 4)
    text = text_of(tokenizer)
    fit(text, tokenizer, AttentionCallback(PAIRS[:1], tmp_path, text=text, every=1), steps=15)
    found = records(read(tmp_path), "attention/01")
    assert list(found) == [0, 1, 2, 3, 4, 6, 8, 10, 12, 15]
    assert found[15].notes == ("from step 10 on, one in 4 updates is written",)


@pytest.mark.parametrize("name", [name for name in TINY if name != "seq2seq-tiny"])
def test_what_is_written_is_what_the_model_attends_to(name, tokenizer, tmp_path):
    text = text_of(tokenizer, name)
    gold = [zoo.inspection.Alignment(((1, 0),), ((1, 0),)), None]
    look = AttentionCallback(PAIRS[:2], tmp_path, text=text, gold=gold, images=True, vectors=True)
    fit(text, tokenizer, look)
    events = read(tmp_path)
    last = records(events, "attention/01")[3]
    view = text.attend(*PAIRS[0])
    seen = {role: weights for kind in last.kinds for role, weights in zip(kind.layers, kind.weights, strict=True)}
    assert sorted(seen) == sorted(view.maps)
    for role, weights in view.maps.items():
        np.testing.assert_allclose(seen[role], weights, atol=0.5 / 255 * 2 + 1e-4)
    values = tf.make_ndarray(events.Tensors("attention/01/stats")[-1].tensor_proto)
    assert values.shape[0] == len(last.kinds)
    kinds = [kind.name for kind in last.kinds]
    assert bool(last.gold) == ("cross" in kinds)
    for statistics, kind in zip(values, last.kinds, strict=True):
        assert np.isfinite(statistics[0, 0]).all() == (kind.name == "cross")  # error rates are there for it alone
    tags = events.Tags()["tensors"]
    kind = last.kinds[0].name
    assert f"attention_entropy/{kind}/0/0" in tags
    assert f"attention_heads/01/{kind}" in tags
    entropy = tf.make_ndarray(events.Tensors(f"attention_entropy/{kind}/0/0")[-1].tensor_proto)
    other = tf.make_ndarray(events.Tensors("attention/02/stats")[-1].tensor_proto)
    assert entropy == pytest.approx((values[0, 0, 0, 0] + other[0, 0, 0, 0]) / 2)
    if name.startswith("transformer-tiny"):
        cross = last.kinds[kinds.index("cross")]
        scores = np.einsum("lhtd,lhsd->lhts", cross.queries, cross.keys)
        weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
        np.testing.assert_allclose(weights, cross.weights, atol=0.01)


def test_a_target_that_the_model_writes(tokenizer, tmp_path):
    text = text_of(tokenizer)
    fit(text, tokenizer, AttentionCallback([("the cat", None), PAIRS[1]], tmp_path, text=text, every=3))
    assert records(read(tmp_path), "attention/01")[3].tokens["target"] == text.attend("the cat").target_tokens


@pytest.mark.parametrize(
    "options", [{"jit_compile": True}, {"optimizer": "adam", "jit_compile": True}, {"dtype": "mixed_float16"}]
)
def test_beside_xla_and_mixed_precision(options, tokenizer, tmp_path):
    fields = {"dtype": options.pop("dtype")} if "dtype" in options else {}
    text = text_of(tokenizer, **fields)
    if options.get("jit_compile"):
        text.model.compile(loss=zoo.TokenCrossEntropy(), **options)
        ids = np.array([[5, 6, 2]]), np.array([[1, 7, 8]])
        inputs, labels = {"source": ids[0], "target": ids[1]}, np.array([[7, 8, 2]])
        look = AttentionCallback(PAIRS[:2], tmp_path, text=text, every=1)
        text.model.fit(inputs, labels, epochs=2, verbose=0, callbacks=[look])
        assert list(records(read(tmp_path), "attention/01")) == [0, 1, 2]
    else:
        fit(text, tokenizer, AttentionCallback(PAIRS[:2], tmp_path, text=text, every=1), steps=2)
        assert list(records(read(tmp_path), "attention/01"))[-1] >= 1  # a step whose gradients overflowed is none


MIRRORED = """
import sys, tensorflow as tf
devices = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(devices[0], [tf.config.LogicalDeviceConfiguration()] * 2)
import zoo
from tests.training.test_attention import PAIRS, fit, text_of
from zoo.tensorboard import AttentionCallback
tokenizer = zoo.Tokenizer.train([side for pair in PAIRS for side in pair] * 4, 310)
with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    text = text_of(tokenizer)
    text.model.compile("sgd", loss=zoo.TokenCrossEntropy())
fit(text, tokenizer, AttentionCallback(PAIRS[:2], sys.argv[1], text=text, every=1), steps=2)
"""


def test_under_a_mirrored_strategy(tmp_path):
    done = subprocess.run([sys.executable, "-c", MIRRORED, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert list(records(read(tmp_path), "attention/02")) == [0, 1, 2]


def test_a_bart_of_keras_hub(tmp_path):
    backbone = keras_hub.models.BartBackbone(53, num_layers=2, num_heads=3, hidden_dim=12, intermediate_dim=17)
    ids, target = np.array([[2, 7, 11, 3]]), np.array([[2, 5, 6]])
    inputs = {"encoder_token_ids": ids, "encoder_padding_mask": ids > 0}
    inputs.update(decoder_token_ids=target, decoder_padding_mask=target > 0)
    outputs = keras.layers.Dense(53)(backbone.output["decoder_sequence_output"])
    model = keras.Model(backbone.input, outputs)
    model.compile("sgd", "mse")
    example = Example(inputs, ["<s>", "a", "b", "</s>"], ["x", "y", "</s>"])
    model.fit(inputs, np.zeros((1, 3, 53)), verbose=0, callbacks=[AttentionCallback([example], tmp_path)])
    found = records(read(tmp_path), "attention/01")
    assert list(found) == [0, 1]
    assert [(kind.name, kind.weights.shape) for kind in found[1].kinds] == [
        ("encoder", (2, 3, 4, 4)),
        ("decoder", (2, 3, 3, 3)),
        ("cross", (2, 3, 3, 4)),
    ]
    assert found[1].tokens["read"] == ["<s>", "x", "y"]


def test_long_inputs_are_cut_and_said(tokenizer, tmp_path):
    text = text_of(tokenizer)
    look = AttentionCallback([("the cat ran " * 9, "kedi")], tmp_path, text=text, max_length=8, max_heads=2)
    fit(text, tokenizer, look, steps=1)
    found = records(read(tmp_path), "attention/01")[1]
    assert {kind.name: kind.weights.shape for kind in found.kinds}["encoder"] == (2, 2, 8, 8)
    assert any(note.startswith("source: 8 of ") for note in found.notes)
    assert "cross: 2 of 4 heads are kept" in found.notes


def test_a_model_without_attention_says_so_once(tokenizer, tmp_path):
    text = text_of(tokenizer, "seq2seq-tiny")
    with pytest.warns(UserWarning, match="seq2seq-tiny has no attention to write"):
        fit(text, tokenizer, AttentionCallback(PAIRS[:1], tmp_path, text=text, every=1))


def test_a_full_disk_costs_pictures_and_no_training(tokenizer, tmp_path, monkeypatch):
    text = text_of(tokenizer)
    look = AttentionCallback(PAIRS[:1], tmp_path, text=text, every=1)

    def full(*_):
        raise OSError("No space left on device")

    write = look.writer
    monkeypatch.setattr(look, "writer", lambda: full() if look.written == 2 else write())
    with pytest.warns(UserWarning, match="nothing more is written to .*No space left"):
        fit(text, tokenizer, look, steps=4)
    assert int(text.model.optimizer.iterations) == 4
    assert list(records(read(tmp_path), "attention/01")) == [0, 1]


def test_a_token_for_each_position(tmp_path):
    inputs = keras.Input((5, 6))
    model = keras.Model(inputs, keras.layers.MultiHeadAttention(2, 3)(inputs, inputs))
    model.compile("sgd", "mse")
    look = AttentionCallback([Example(np.zeros((1, 5, 6)), ["a", "b", "c"])], tmp_path)
    with pytest.raises(ValueError, match=r"encoder/0/self has \(5, 5\) rows and columns for 3 and 3 tokens"):
        model.fit(np.zeros((1, 5, 6)), np.zeros((1, 5, 6)), verbose=0, callbacks=[look])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], "log"), "examples is empty"),
        ((PAIRS, "log"), "no text model was given"),
        ((PAIRS, "log", object(), 0), "every=0"),
        ((PAIRS, "log", object(), True), "every=True"),
        ((PAIRS, "log", object(), None, [None]), "1 gold alignments for 4 examples"),
        ((PAIRS, "log", object(), None, ["0-0"] * 4), "read_pharaoh"),
        ((PAIRS, None, object()), "logdir=None"),
        ((["ab"], "log", object()), "'ab' is no example"),
        (([("a", "b", "c")], "log", object()), "is no example"),
        (([(1, "b")], "log", object()), "is no example"),
    ],
)
def test_mistakes_are_said_before_training(arguments, words):
    with pytest.raises(ValueError, match=words):
        AttentionCallback(*arguments)


def test_a_causal_stack_of_keras_hub(tmp_path):
    sizes = {"num_layers": 1, "num_heads": 3, "hidden_dim": 12, "intermediate_dim": 17, "max_sequence_length": 9}
    backbone = keras_hub.models.GPT2Backbone(53, **sizes)
    ids = np.array([[7, 11, 3]])
    inputs = {"token_ids": ids, "padding_mask": np.ones_like(ids)}
    backbone.compile("sgd", "mse")
    look = AttentionCallback([Example(inputs, ["a", "b", "c"])], tmp_path, every=np.int64(1))
    backbone.fit(inputs, np.zeros((1, 3, 12)), verbose=0, callbacks=[look])
    found = records(read(tmp_path), "attention/01")[1]
    assert (found.kinds[0].name, found.kinds[0].weights.shape) == ("decoder", (1, 3, 3, 3))
    assert found.tokens["read"] == ["a", "b", "c"]


def test_weights_that_are_no_numbers_are_said(tokenizer, tmp_path):
    text = text_of(tokenizer)
    look = AttentionCallback(PAIRS[:1], tmp_path, text=text, every=1)
    fit(text, tokenizer, look, steps=1)
    text.model.set_weights([weight * np.nan for weight in text.model.get_weights()])
    fit(text, tokenizer, look, steps=1)
    events = read(tmp_path)
    assert (
        "cross: there are weights that are not a number; they are shown as 0"
        in records(events, "attention/01")[2].notes
    )
    assert np.isnan(tf.make_ndarray(events.Tensors("attention/01/stats")[-1].tensor_proto)).all()


def test_what_training_it_is_of(tokenizer, tmp_path):
    text = text_of(tokenizer)
    look = AttentionCallback(PAIRS[:1], tmp_path, text=text, every=1)
    with pytest.raises(ValueError, match="text holds another model than the one in training"):
        fit(text_of(tokenizer), tokenizer, look)
    fit(text, tokenizer, look, steps=2)
    text.model.compile("sgd", loss=zoo.TokenCrossEntropy())
    with pytest.raises(ValueError, match="at update 0, but .* has step 2: give a new training"):
        fit(text, tokenizer, look)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file cannot be written to"):
        fit(text, tokenizer, AttentionCallback(PAIRS[:1], tmp_path / "file", text=text))
