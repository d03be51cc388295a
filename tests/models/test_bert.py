import keras
import keras_hub
import numpy as np
import pytest
from keras import ops

import zoo
from tests.models.test_gpt2 import give_block
from tests.samples import TINY, VOCAB, inputs, small

SIZES = {"width": 22, "depth": 2, "heads": 2, "feedforward": 13, "max_length": 17, "dropout": 0.0}
NAMES = zoo.list_models("bert-*")


def numpy(tensor):
    return ops.convert_to_numpy(tensor)


def shallow(name, **overrides):
    return small(name, depth=2, **overrides)


def test_equals_kerashubs_bert_with_the_same_weights(random):
    model = small("bert-base", **SIZES)
    sizes = {"vocabulary_size": VOCAB, "num_layers": 2, "num_heads": 2, "hidden_dim": 22, "intermediate_dim": 13}
    theirs = keras_hub.models.BertBackbone(**sizes, dropout=0.0, max_sequence_length=17, num_segments=2)
    for weight in model.weights:
        weight.assign(random.normal(size=weight.shape, scale=0.3))
    theirs.token_embedding.set_weights([numpy(model.embedding.matrix)])
    theirs.position_embedding.set_weights([numpy(model.positions.table)])
    theirs.segment_embedding.set_weights([numpy(model.segments.matrix)])
    theirs.embeddings_layer_norm.set_weights(model.embedding_norm.get_weights())
    for block, layer in zip(model.blocks, theirs.transformer_layers, strict=True):
        give_block(layer, block, 2)
    theirs.pooled_dense.set_weights(model.pooler.get_weights())
    data = inputs(model)
    real = data["tokens"] != 0
    found = theirs({"token_ids": data["tokens"], "segment_ids": data["segments"], "padding_mask": real.astype("int32")})
    states, pooled = model.encode(data)
    np.testing.assert_allclose(numpy(states)[real], numpy(found["sequence_output"])[real], atol=1e-3)
    np.testing.assert_allclose(numpy(pooled), numpy(found["pooled_output"]), atol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_both_heads_give_finite_float32(name):
    model = shallow(name)
    found = {head: numpy(logits) for head, logits in model(inputs(model)).items()}
    assert {head: logits.shape for head, logits in found.items()} == {"tokens": (2, 7, VOCAB), "sentence": (2, 2)}
    assert all(logits.dtype == np.float32 and np.isfinite(logits).all() for logits in found.values())


@pytest.mark.parametrize("name", NAMES)
def test_padding_changes_nothing_and_segments_do(name):
    model = shallow(name)
    data = inputs(model)
    whole = model(data)
    alone = model({side: ids[:1, :4] for side, ids in data.items()})
    np.testing.assert_allclose(numpy(whole["tokens"])[:1, :4], numpy(alone["tokens"]), atol=1e-5)
    np.testing.assert_allclose(numpy(whole["sentence"])[:1], numpy(alone["sentence"]), atol=1e-5)
    without = model({"tokens": data["tokens"]})
    zeros = model({**data, "segments": np.zeros_like(data["segments"])})
    np.testing.assert_array_equal(numpy(without["tokens"]), numpy(zeros["tokens"]))
    assert abs(numpy(without["tokens"]) - numpy(whole["tokens"])).max() > 1e-4


@pytest.mark.parametrize("name", NAMES)
def test_maps_are_distributions_over_real_tokens(name):
    model = shallow(name)
    data = inputs(model)
    maps = zoo.attention_maps(model, data)
    assert list(maps) == ["encoder/0/self", "encoder/1/self"]
    for weights in map(numpy, maps.values()):
        assert weights.shape == (2, model.fields["heads"], 7, 7)
        assert (weights[0, :, :, 4:] == 0).all()
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_both_heads_train_every_weight(name):
    model = shallow(name)
    losses = dict.fromkeys(("tokens", "sentence"), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.compile(keras.optimizers.SGD(1.0), loss=losses)
    before = [numpy(w).copy() for w in model.trainable_weights]
    data = inputs(model)
    model.train_on_batch(data, {"tokens": data["tokens"], "sentence": np.array([0, 1])})
    assert [w.path for w, b in zip(model.trainable_weights, before, strict=True) if (numpy(w) == b).all()] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_description_counts_what_is_built(name):
    assert small(name).count_params() == zoo.describe(name, vocab=VOCAB).parameters


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision_with_an_empty_row(policy):
    model = small("bert-tiny", dtype=policy)
    data = inputs(model)
    data["tokens"][0] = 0
    for logits in model(data).values():
        assert keras.backend.standardize_dtype(logits.dtype) == "float32"
        assert np.isfinite(numpy(logits)).all()


def test_a_model_that_writes_nothing_is_no_generator():
    assert not [name for name in TINY if name.startswith("bert")]
    assert not hasattr(small("bert-tiny"), "step")
