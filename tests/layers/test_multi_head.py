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


def test_the_fused_and_the_explicit_path_agree(random):
    layer = make(random)
    query = random.normal(size=(B, T, WIDTH)).astype("float32")
    mask = causal_mask(T)[None, None]
    fused = numpy(layer(query, query, mask=mask))
    with tap():
        explicit = numpy(layer(query, query, mask=mask))
    np.testing.assert_allclose(fused, explicit, atol=1e-5)


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
