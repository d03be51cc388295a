import contextlib
import itertools

import keras
import numpy as np
import pytest
from keras import ops

from tests.reference import multi_head
from zoo.layers.masks import causal_mask
from zoo.layers.multi_head import MultiHeadAttention
from zoo.layers.tap import tap

B, T, S, HEADS, KEY, VALUE, WIDTH = 2, 3, 5, 7, 11, 13, 17


def numpy(tensor):
    return ops.convert_to_numpy(tensor)


def make(random, bias=True, **sizes):
    layer = MultiHeadAttention(HEADS, **{"key_width": KEY, "value_width": VALUE, **sizes}, bias=bias, role="self")
    layer.build((B, T, WIDTH))
    for weight in layer.weights:
        weight.assign(random.normal(size=weight.shape, scale=0.5))
    return layer


def weights_of(layer):
    projections = layer.query, layer.key, layer.value, layer.output_projection
    kernels = [numpy(p.kernel).astype("float64") for p in projections]
    return kernels, [numpy(p.bias).astype("float64") for p in projections] if layer.options["bias"] else None


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("listening", [True, False])
def test_equals_the_equations(bias, listening, random):
    layer = make(random, bias)
    query, memory = (random.normal(size=(B, n, WIDTH)).astype("float32") for n in (T, S))
    mask = np.array([[True] * 5, [True, False, True, False, False]])
    with tap() if listening else contextlib.nullcontext() as maps:
        output = numpy(layer(query, memory, mask=mask[:, None, None, :]))
    kernels, biases = weights_of(layer)
    for b in range(B):
        expected, attention = multi_head(
            query[b].astype("float64"), memory[b].astype("float64"), kernels, HEADS, mask[b], biases
        )
        np.testing.assert_allclose(output[b], expected, rtol=1e-4, atol=1e-4)
        if listening:
            np.testing.assert_allclose(numpy(maps["self"])[b], attention, atol=1e-5)


@pytest.mark.parametrize("key_heads", [6, 3, 2, 1])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("listening", [True, False])
def test_shared_heads_and_biases_equal_the_equations(key_heads, biased, listening, random):
    layer = MultiHeadAttention(6, key_heads=key_heads, key_width=KEY, value_width=KEY, role="self")
    layer.build((B, T, WIDTH))
    query, memory = (random.normal(size=(B, n, WIDTH)).astype("float32") for n in (T, S))
    bias = random.normal(size=(1, 6, T, S)).astype("float32") if biased else None
    mask = np.array([[True] * 5, [True, False, True, False, False]])
    with tap() if listening else contextlib.nullcontext() as maps:
        output = numpy(layer(query, memory, mask=mask[:, None, None, :], bias=bias))
    kernels, _ = weights_of(layer)
    assert kernels[1].shape == (WIDTH, key_heads * KEY)
    for b in range(B):
        score_bias = None if bias is None else bias[0].astype("float64")
        expected, attention = multi_head(
            query[b].astype("float64"), memory[b].astype("float64"), kernels, 6, mask[b], score_bias=score_bias
        )
        np.testing.assert_allclose(output[b], expected, rtol=1e-4, atol=1e-4)
        if listening:
            np.testing.assert_allclose(numpy(maps["self"])[b], attention, atol=1e-5)


@pytest.mark.parametrize("shared", [True, False])
def test_relative_vectors_equal_the_equations(shared, random):
    layer = make(random, relation="relative", clip=2, shared_relation=shared)
    x = random.normal(size=(1, S, WIDTH)).astype("float32")
    keys, values = (np.broadcast_to(numpy(w), (5, HEADS, w.shape[2])).astype("float64") for w in layer.relative.weights)

    def relation(h, t, s):
        label = min(max(s - t, -2), 2) + 2
        return keys[label, h], values[label, h]

    kernels, biases = weights_of(layer)
    expected, _ = multi_head(*[x[0].astype("float64")] * 2, kernels, HEADS, None, biases, relation=relation)
    np.testing.assert_allclose(numpy(layer(x, x))[0], expected, rtol=1e-4, atol=1e-4)
    last = numpy(layer(x[:, 3:], projected=layer.project(x), start=3))
    np.testing.assert_allclose(last[0], expected[3:], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("listening", [True, False])
def test_rotary_attention_sees_distances_only(listening, random):
    layer = MultiHeadAttention(2, relation="rope")
    layer.build((1, 4, 20))
    x = random.normal(size=(1, 4, 20)).astype("float32")

    def attend(keys, queries):
        with tap() if listening else contextlib.nullcontext():
            return numpy(layer(x, projected=layer.project(x, start=keys), start=queries))

    near, far, apart = attend(0, 0), attend(91, 91), attend(3, 0)
    np.testing.assert_allclose(near, far, atol=1e-4)
    assert abs(near - apart).max() > 1e-3


@pytest.mark.parametrize("options", [{}, {"key_heads": 2}, {"relation": "rope"}, {"key_heads": 1, "bias": True}])
@pytest.mark.parametrize("causal", [True, False])
def test_the_fused_and_the_explicit_path_agree(options, causal, random):
    layer = MultiHeadAttention(4, key_width=6, value_width=6, role="self", **options)
    query = random.normal(size=(B, T, WIDTH)).astype("float32")
    mask = causal_mask(T)[None, None] if causal else np.array([[True] * T, [True, False, False]])[:, None, None]
    bias = random.normal(size=(1, 4, T, T)).astype("float32")
    fused = numpy(layer(query, query, mask=mask, bias=bias, training=True))  # with a dropout of 0
    with tap():
        explicit = numpy(layer(query, query, mask=mask, bias=bias))
    np.testing.assert_allclose(fused, explicit, atol=1e-5)


@pytest.mark.parametrize("key_heads", [1, 2, 4])
@pytest.mark.parametrize("shape", [(1, 1, 3, 3), (2, 4, 1, 3), (2, 1, 1, 3), (2, 4, 3, 3), (1, 4, 3, 3), (2, 1, 3, 3)])
def test_any_axis_of_mask_and_bias_may_be_one(key_heads, shape, random):
    layer = MultiHeadAttention(4, key_heads=key_heads)
    x = random.normal(size=(B, T, 8)).astype("float32")
    mask, bias = random.uniform(size=shape) < 0.7, random.normal(size=shape).astype("float32")
    fused = numpy(layer(x, x, mask=mask, bias=bias))
    with tap():
        explicit = numpy(layer(x, x, mask=mask, bias=bias))
    np.testing.assert_allclose(fused, explicit, atol=1e-5)


@pytest.mark.parametrize("key_heads", [1, 2, 4])
def test_keys_kept_for_many_steps_give_the_same(key_heads, random):
    layer = MultiHeadAttention(4, key_heads=key_heads, key_width=KEY, value_width=VALUE)
    query, memory = (random.normal(size=(B, n, WIDTH)).astype("float32") for n in (T, S))
    layer.build(query.shape)
    projected = layer.project(memory)
    kept = layer.keep(projected)
    assert kept[0].shape == (B, key_heads, S, KEY)
    mask = np.array([[True] * 5, [True, False, True, False, False]])[:, None, None]
    found = numpy(layer(query, kept=kept, mask=mask))
    np.testing.assert_allclose(found, numpy(layer(query, projected=projected, mask=mask)), atol=1e-5)


def test_without_a_memory_the_query_attends_to_itself(random):
    layer = MultiHeadAttention(2)
    x = random.normal(size=(B, T, 8)).astype("float32")
    np.testing.assert_array_equal(numpy(layer(x)), numpy(layer(x, x)))


def test_the_fused_kernel_is_used_unless_someone_looks(random, monkeypatch):
    calls, kernel = [], ops.dot_product_attention
    monkeypatch.setattr(ops, "dot_product_attention", lambda *a, **k: calls.append(1) or kernel(*a, **k))
    layer, dropping = MultiHeadAttention(2), MultiHeadAttention(2, dropout=0.5)
    x = random.normal(size=(1, 3, 4)).astype("float32")
    for training in (True, False):
        layer(x, x, training=training)
    dropping(x, x, training=False)
    assert len(calls) == 3
    with tap():
        layer(x, x)
    dropping(x, x, training=True)
    assert len(calls) == 3


def test_dropout_falls_on_weights_while_training_only(random):
    layer = MultiHeadAttention(1, dropout=0.5)
    x = random.normal(size=(1, 3, 4)).astype("float32")
    calm, wild = numpy(layer(x, x)), numpy(layer(x, x, training=True))
    assert abs(calm - wild).max() > 1e-3
    with tap() as maps:
        layer(x, x, training=True)
    np.testing.assert_allclose(numpy(maps["attention"]).sum(-1), 1, atol=1e-6)  # what is shown was not dropped from


@pytest.mark.parametrize("listening", [True, False])
def test_a_row_with_nothing_to_attend_to_gets_nothing(listening, random):
    layer = make(random, bias=False)
    query = random.normal(size=(B, T, WIDTH)).astype("float32")
    mask = np.array([[True] * T, [False] * T])[:, None, None, :]
    with tap() if listening else contextlib.nullcontext():
        output = numpy(layer(query, query, mask=mask))
    assert (output[1] == 0).all()
    alone = numpy(layer(query[:1], query[:1], mask=mask[:1]))
    np.testing.assert_allclose(output[:1], alone, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("listening", "cached"), list(itertools.product([True, False], [True, False])))
def test_no_position_sees_the_future(listening, cached, random):
    layer = make(random, key_width=3, value_width=2)
    before = random.normal(size=(1, 4, WIDTH)).astype("float32")
    after = before.copy()
    after[0, 3] += 5

    def run(x):
        def attend(query, mask):
            with tap() if listening else contextlib.nullcontext():
                return numpy(layer(query, mask=mask, projected=layer.project(x)))

        if not cached:
            return attend(x, causal_mask(4)[None, None])
        rows = [attend(x[:, t : t + 1], (np.arange(4) <= t)[None, None, None]) for t in range(4)]
        return np.concatenate(rows, axis=1)

    np.testing.assert_array_equal(run(before)[:, :3], run(after)[:, :3])
    assert abs(run(before)[:, 3] - run(after)[:, 3]).max() > 0.1
    np.testing.assert_allclose(run(before), numpy(layer(before, before, mask=causal_mask(4)[None, None])), atol=1e-5)


def test_zero_scores_give_each_row_the_mean_of_its_past(random):
    layer = make(random)
    layer.query.kernel.assign(np.zeros((WIDTH, HEADS * KEY)))
    layer.query.bias.assign(np.zeros(HEADS * KEY))
    x = random.normal(size=(1, 4, WIDTH)).astype("float32")
    with tap() as maps:
        layer(x, x, mask=causal_mask(4)[None, None])
    expected = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
    np.testing.assert_allclose(numpy(maps["self"])[0, 0], expected, rtol=1e-6)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("listening", [True, False])
def test_large_inputs_stay_finite_in_half_precision(policy, listening):
    """Inputs of size 100 overflow a float16 dot product that is scaled afterwards."""
    layer = MultiHeadAttention(2, dtype=policy, role="self")
    layer.build((1, 3, 8))
    for projection in (layer.query, layer.key, layer.value, layer.output_projection):
        projection.kernel.assign(np.eye(8))
    x = ops.cast(np.full((1, 3, 8), 100.0), keras.DTypePolicy(policy).compute_dtype)
    with tap() if listening else contextlib.nullcontext() as maps:
        output = layer(x, x, mask=causal_mask(3)[None, None])
    assert keras.backend.standardize_dtype(output.dtype) == keras.DTypePolicy(policy).compute_dtype
    np.testing.assert_allclose(numpy(ops.cast(output, "float32")), 100.0, rtol=1e-2)
    if listening:
        assert keras.backend.standardize_dtype(maps["self"].dtype) == "float32"


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("listening", [True, False])
def test_extreme_scores_have_finite_gradients_in_half_precision(policy, listening):
    """Raw scores of +-6e4 and a row with nothing to attend to, forwards and backwards."""

    class Attending(keras.Model):
        def __init__(self):
            super().__init__(dtype=policy)
            self.attend = MultiHeadAttention(1, role="self", dtype=policy)

        def call(self, x):
            mask = ops.convert_to_tensor(np.array([[True, True], [False, False]]))[:, None, None]
            with tap() if listening else contextlib.nullcontext():
                return ops.cast(self.attend(x, x, mask=mask), "float32")

    model, x = Attending(), np.array([[[245.0, 0], [-245, 0]], [[245, 0], [-245, 0]]], "float32")
    model(x)
    for projection in (model.attend.query, model.attend.key, model.attend.value, model.attend.output_projection):
        projection.kernel.assign(np.eye(2))
    model.compile(keras.optimizers.SGD(1e-3), loss="mse")
    assert np.isfinite(model.train_on_batch(x, np.zeros((2, 2, 2), "float32")))
    assert np.isfinite(numpy(model(x))).all()
    assert all(np.isfinite(numpy(w)).all() for w in model.weights)


def test_key_heads_that_do_not_divide_heads_are_refused():
    with pytest.raises(ValueError, match="key_heads=3 does not divide heads=4"):
        MultiHeadAttention(4, key_heads=3)


def test_an_odd_rotary_head_is_refused():
    with pytest.raises(ValueError, match="key_width=5 of a head is odd"):
        MultiHeadAttention(2, relation="rope").build((B, T, 10))


def test_another_relation_is_refused():
    with pytest.raises(ValueError, match="relation='absolute'.*'rope'"):
        MultiHeadAttention(2, relation="absolute")


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(ValueError, match="heads=7 does not divide width=17"):
        MultiHeadAttention(HEADS).build((B, T, WIDTH))


@pytest.mark.parametrize("mask", [np.ones((B, T), bool), np.ones((B, 1, 1, T), int)])
@pytest.mark.parametrize("listening", [True, False])
def test_a_mask_of_another_form_is_refused_on_both_paths(mask, listening, random):
    layer, x = make(random), random.normal(size=(B, T, WIDTH)).astype("float32")
    with (
        tap() if listening else contextlib.nullcontext(),
        pytest.raises(ValueError, match="must be bool with four axes"),
    ):
        layer(x, x, mask=mask)


def test_each_projection_is_initialised_as_one_matrix():
    """Glorot's limit is sqrt(6 / (in + out)) of the whole matrix; a rank-3 kernel would get a far smaller one."""
    layer = MultiHeadAttention(4)
    layer.build((None, None, 64))
    assert np.abs(numpy(layer.query.kernel)).max() == pytest.approx((6 / 128) ** 0.5, rel=0.02)
