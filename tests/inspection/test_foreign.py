"""Attention of Keras models that are not the zoo's, against weights worked out in NumPy or given by Keras itself."""

import keras
import keras_hub
import numpy as np
import pytest
from keras import layers, ops

import zoo


def states(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def softmax(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def model_of(attend):
    one, two = keras.Input((5, 6)), keras.Input((7, 6))
    return keras.Model([one, two], attend(one, two))


@pytest.mark.parametrize("dtype", ["float32", "mixed_float16"])
def test_multi_head_attention_in_every_kind(dtype):
    both, own, causal = (layers.MultiHeadAttention(3, 2, dtype=dtype) for _ in range(3))
    first, second = keras.Input((5, 6)), keras.Input((7, 6))
    x = own(first, first)
    y = causal(x, x, use_causal_mask=True)
    model = keras.Model([first, second], both(y, second))
    inputs = [states(2, 5, 6), states(2, 7, 6, seed=2)]
    before, config, names = model(inputs), model.get_config(), {id(layer): set(vars(layer)) for layer in model.layers}
    maps = zoo.attention_maps(model, inputs)
    assert {role: m.shape for role, m in maps.items()} == {
        "encoder/0/self": (2, 3, 5, 5),
        "decoder/0/self": (2, 3, 5, 5),
        "decoder/0/cross": (2, 3, 5, 7),
    }
    _, expected = own(inputs[0], inputs[0], return_attention_scores=True)
    np.testing.assert_allclose(maps["encoder/0/self"], ops.cast(expected, "float32"), atol=1e-6)
    for weights in maps.values():
        np.testing.assert_allclose(ops.sum(weights, -1), 1, atol=2e-3)
    assert not np.triu(np.array(maps["decoder/0/self"]), 1).any()
    np.testing.assert_array_equal(model(inputs), before)
    assert model.get_config() == config
    assert type(own) is layers.MultiHeadAttention
    for layer in model.layers:
        assert set(vars(layer)) == names[id(layer)]


def test_multi_head_attention_over_two_axes():
    x = keras.Input((2, 3, 4))
    model = keras.Model(x, layers.MultiHeadAttention(2, 3, attention_axes=(1, 2))(x, x))
    weights = zoo.attention_maps(model, states(1, 2, 3, 4))["encoder/0/self"]
    assert weights.shape == (1, 2, 6, 6)
    np.testing.assert_allclose(ops.sum(weights, -1), 1, atol=1e-5)


def test_grouped_queries():
    layer = layers.GroupQueryAttention(2, 4, 2)
    model = model_of(lambda q, v: layer(q, v))
    inputs = [states(2, 5, 6), states(2, 7, 6, seed=2)]
    before = model(inputs)
    maps = zoo.attention_maps(model, inputs)
    query = np.einsum("btd,dhk->bthk", inputs[0], layer._query_dense.kernel) + layer._query_dense.bias
    key = np.einsum("btd,dhk->bthk", inputs[1], layer._key_dense.kernel) + layer._key_dense.bias
    key = np.repeat(key, 2, axis=2)
    expected = softmax(np.einsum("bthk,bshk->bhts", query, key) / 2**0.5)
    np.testing.assert_allclose(maps["decoder/0/cross"], expected, atol=1e-5)
    np.testing.assert_array_equal(model(inputs), before)


def test_attention_with_one_head():
    q, v = states(2, 5, 6), states(2, 7, 6, seed=2)
    dot = zoo.attention_maps(model_of(lambda a, b: layers.Attention()([a, b])), [q, v])["decoder/0/cross"]
    np.testing.assert_allclose(dot[:, 0], softmax(q @ v.swapaxes(1, 2)), atol=1e-5)
    layer = layers.AdditiveAttention()
    added = zoo.attention_maps(model_of(lambda a, b: layer([a, b])), [q, v])["decoder/0/cross"]
    scores = np.tanh(q[:, :, None] + v[:, None]) @ np.array(layer.scale)
    np.testing.assert_allclose(added[:, 0], softmax(scores), atol=1e-5)


def test_bert_and_bart_of_keras_hub():
    bert = keras_hub.models.BertBackbone(53, num_layers=2, num_heads=3, hidden_dim=12, intermediate_dim=17)
    ids = np.array([[2, 7, 11, 3, 0]])
    inputs = {"token_ids": ids, "segment_ids": np.zeros_like(ids), "padding_mask": ids > 0}
    maps = zoo.attention_maps(bert, inputs)
    assert {role: m.shape for role, m in maps.items()} == {f"encoder/{i}/self": (1, 3, 5, 5) for i in range(2)}
    assert not np.array(maps["encoder/1/self"])[..., 4].any()
    bart = keras_hub.models.BartBackbone(53, num_layers=2, num_heads=3, hidden_dim=12, intermediate_dim=17)
    target = np.array([[2, 5, 6, 7, 8, 9, 3]])
    inputs = {"encoder_token_ids": ids, "encoder_padding_mask": ids > 0}
    inputs.update(decoder_token_ids=target, decoder_padding_mask=target > 0)
    before = bart(inputs)["decoder_sequence_output"]
    maps = zoo.attention_maps(bart, inputs)
    shapes = {"encoder/{}/self": (1, 3, 5, 5), "decoder/{}/self": (1, 3, 7, 7), "decoder/{}/cross": (1, 3, 7, 5)}
    assert {role: m.shape for role, m in maps.items()} == {r.format(i): s for r, s in shapes.items() for i in range(2)}
    np.testing.assert_array_equal(bart(inputs)["decoder_sequence_output"], before)


def test_a_fault_on_the_way_leaves_the_model_as_it_was():
    layer = layers.MultiHeadAttention(2, 3)
    model = model_of(lambda q, v: layer(q, v))
    names = set(vars(layer))
    with pytest.raises(Exception, match=r"."):
        zoo.attention_maps(model, [states(2, 5, 4)])
    assert set(vars(layer)) == names
    assert "call" not in names
