import glob

import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import zoo

PAIRS = [("the cat", "kedi"), ("a dog", "bir it"), ("the cat ran", "kedi koştu"), ("a", "bir")]


@pytest.fixture(scope="module")
def tokenizer():
    return zoo.Tokenizer.train([side for pair in PAIRS for side in pair] * 4, 310)


def train(tokenizer, logdir, name="transformer-tiny", fits=1, batches=4):
    sizes = {"source_vocab": tokenizer.vocabulary, "target_vocab": tokenizer.vocabulary}
    model = zoo.build(name, **sizes)
    text = zoo.TextModel(model, tokenizer)
    made = zoo.batches(PAIRS, tokenizer, tokenizer, batch_tokens=8, shuffle=1)
    model.compile("sgd", loss=zoo.TokenCrossEntropy(), metrics=[zoo.TokenAccuracy()])
    watch = [zoo.Scalars(logdir, every=2), zoo.AttentionImages(text, PAIRS[:2], logdir)]
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


def test_pictures_of_fixed_sentences_after_each_epoch(tokenizer, tmp_path):
    train(tokenizer, tmp_path, fits=2)
    events = read(tmp_path)
    tags = [tag for tag in events.Tags()["tensors"] if tag.startswith("attention/")]
    assert tags == [f"attention/{i}/decoder/{layer}/cross" for i in (0, 1) for layer in (0, 1)]
    assert steps(events, tags[0]) == [4, 8]
    width, height, png = tf.make_ndarray(events.Tensors(tags[0])[0].tensor_proto)
    picture = tf.io.decode_png(png).numpy()
    assert picture.shape == (int(height), int(width), 3)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 5


def test_a_model_without_attention_gives_no_pictures(tokenizer, tmp_path):
    train(tokenizer, tmp_path, name="seq2seq-tiny")
    assert not [tag for tag in read(tmp_path).Tags()["tensors"] if tag.startswith("attention/")]


def test_both_write_to_one_file(tokenizer, tmp_path):
    train(tokenizer, tmp_path)
    assert len(glob.glob(f"{tmp_path}/events*")) == 1
