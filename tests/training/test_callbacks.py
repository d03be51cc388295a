import glob

import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import zoo

PAIRS = [("the cat", "kedi"), ("a dog", "bir it"), ("the cat ran", "kedi koştu"), ("a", "bir")]


@pytest.fixture(scope="module")
def tokenizer():
    return zoo.Tokenizer.train([side for pair in PAIRS for side in pair] * 4, 310)


def train(tokenizer, logdir, name="transformer-tiny", fits=1, batches=4, watch=None):
    sizes = {"source_vocab": tokenizer.vocabulary, "target_vocab": tokenizer.vocabulary}
    model = zoo.build(name, **sizes)
    text = zoo.TextModel(model, tokenizer)
    made = zoo.batches(PAIRS, tokenizer, tokenizer, batch_tokens=8, shuffle=1)
    model.compile("sgd", loss=zoo.TokenCrossEntropy(), metrics=[zoo.TokenAccuracy()])
    watch = watch or [
        zoo.Scalars(logdir, every=2),
        zoo.tensorboard.AttentionCallback(PAIRS[:2], logdir, text=text, every=2),
    ]
    for _ in range(fits):
        model.fit(
            made.dataset.repeat(), steps_per_epoch=batches, verbose=0, validation_data=made.dataset, callbacks=watch
        )
    return model


def read(logdir):
    events = EventAccumulator(str(logdir), size_guidance={"tensors": 0})
    events.Reload()
    return events


def steps(events, tag):
    return [event.step for event in events.Tensors(tag)]


def test_steps_are_updates_and_go_on_in_a_second_fit(tokenizer, tmp_path):
    model = train(tokenizer, tmp_path, fits=2)
    events = read(tmp_path)
    assert steps(events, "train/loss") == [2, 4, 6, 8]
    assert steps(events, "dev/loss") == steps(events, "dev/accuracy") == [4, 8]
    assert steps(events, "train/learning_rate") == [2, 4, 6, 8]
    rate = tf.make_ndarray(events.Tensors("train/learning_rate")[0].tensor_proto)
    assert rate == pytest.approx(float(model.optimizer.learning_rate.numpy()))


def test_both_write_to_one_file(tokenizer, tmp_path):
    train(tokenizer, tmp_path)
    assert len(glob.glob(f"{tmp_path}/events*")) == 1


def test_a_full_disk_costs_scalars_and_no_training(tokenizer, tmp_path, monkeypatch):
    look, writer = zoo.Scalars(tmp_path / "log", every=1), zoo.Scalars.writer

    def full(self):
        if self.updates == 3:
            raise OSError("No space left on device")
        return writer(self)

    monkeypatch.setattr(zoo.Scalars, "writer", full)
    with pytest.warns(UserWarning, match="nothing more is written to .*No space left"):
        model = train(tokenizer, tmp_path / "log", watch=[look])
    assert int(model.optimizer.iterations) == 4
    assert steps(read(tmp_path / "log"), "train/loss") == [1, 2]
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file cannot be written to"):
        train(tokenizer, tmp_path / "file", watch=[zoo.Scalars(tmp_path / "file")])
