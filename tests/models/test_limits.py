"""Too long an input is refused before a compiled model runs, whichever way it comes."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import zoo
from tests.samples import labels, small
from zoo.training.losses import TokenCrossEntropy

LIMITED = [
    (
        "transformer-tiny",
        {"positions": "learned", "max_length": 6},
        "source: 7 tokens, but transformer-tiny takes at most 6",
    ),
    ("seq2seq-luong-tiny", {"score": "location", "max_source": 6}, "source: 7 tokens, but seq2seq-luong-tiny .* 6"),
    ("gpt2-tiny", {"max_length": 11}, r"source \+ target: 12 tokens, but gpt2-tiny takes at most 11"),
]


def data(source=7, target=5):
    return {"source": np.full((2, source), 7, "int32"), "target": np.full((2, target), 9, "int32")}


def compiled(name, fields):
    model = small(name, **fields)
    model.compile(keras.optimizers.SGD(0.1), loss=TokenCrossEntropy(0.1), jit_compile=False)
    return model


@pytest.mark.parametrize(("name", "fields", "words"), LIMITED)
def test_every_way_in_is_guarded(name, fields, words):
    model, x, y = compiled(name, fields), data(), labels()
    shorter = data(source=6)
    model.predict_on_batch(shorter)  # a graph exists, of a shape that Keras relaxes on the second call
    model.predict_on_batch(data(source=5))
    dataset = tf.data.Dataset.from_tensors((x, y))
    calls = [
        lambda: model(x),
        lambda: model.fit(x, y, verbose=0),
        lambda: model.fit(dataset, verbose=0),
        lambda: model.evaluate(x, y, verbose=0),
        lambda: model.predict(x, verbose=0),
        lambda: model.train_on_batch(x, y),
        lambda: model.test_on_batch(x, y),
        lambda: model.predict_on_batch(x),
        lambda: model.start(data(source=12)["source"], 3),
        lambda: zoo.attention_maps(model, x),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=words.replace("7 tokens", ".*") if call is calls[8] else words):
            call()
    assert np.isfinite(model.predict_on_batch(shorter)).all()


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="lengths are always known before a JAX graph runs")
def test_a_length_that_only_the_graph_knows_is_never_clamped():
    model = small("transformer-tiny", positions="learned", max_length=6)
    spec = {side: tf.TensorSpec((None, None), "int32") for side in ("source", "target")}
    graph = tf.function(model, input_signature=[spec])
    assert np.isfinite(graph(data(source=6))).all()
    assert np.isnan(graph(data(source=7))).all()


def test_a_target_past_the_table_is_refused_too():
    model = small("transformer-tiny", positions="learned", max_length=6)
    with pytest.raises(ValueError, match="target: 7 tokens"):
        model(data(source=5, target=7))
    with pytest.raises(ValueError, match="max_length=7"):
        zoo.greedy(model, data(source=5)["source"], max_length=7)


def test_any_length_is_taken_where_there_is_no_table():
    for positions in ("interleaved", "rope", "alibi", "t5", "relative"):
        model = small("transformer-tiny", positions=positions, max_length=6)
        assert np.isfinite(model.predict_on_batch(data(source=9, target=8))).all()
