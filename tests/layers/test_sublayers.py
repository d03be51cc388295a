import math

import numpy as np
import pytest
from keras import ops

from zoo.layers.sublayers import FeedForward, Residual, normalizer

B, T, WIDTH, UNITS = 2, 3, 5, 7


def numpy(tensor):
    return ops.convert_to_numpy(tensor)


def activation(kind, x):
    if kind == "gelu":
        return x * np.vectorize(lambda v: 0.5 * (1 + math.erf(v / math.sqrt(2))))(x)
    if kind == "gelu-tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return np.maximum(x, 0)


@pytest.mark.parametrize("kind", ["relu", "gelu", "gelu-tanh"])
def test_dense_feed_forward_equals_the_equations(kind, random):
    layer = FeedForward(UNITS, kind)
    layer.build((None, None, WIDTH))
    for weight in layer.weights:
        weight.assign(random.normal(size=weight.shape))
    x = random.normal(size=(B, T, WIDTH)).astype("float32")
    w_1, b_1, w_2, b_2 = (numpy(w).astype("float64") for w in layer.weights)
    expected = activation(kind, x.astype("float64") @ w_1 + b_1) @ w_2 + b_2
    np.testing.assert_allclose(numpy(layer(x)), expected, atol=1e-4)


def test_gated_feed_forward_equals_the_equations(random):
    layer = FeedForward(UNITS, "swiglu")
    x = random.normal(size=(B, T, WIDTH)).astype("float32")
    output = numpy(layer(x))
    w, v, w_2 = (numpy(layer_.kernel).astype("float64") for layer_ in (layer.inner, layer.gate, layer.outer))
    assert len(layer.weights) == 3  # no biases
    hidden = x.astype("float64") @ w
    np.testing.assert_allclose(output, (hidden / (1 + np.exp(-hidden)) * (x @ v)) @ w_2, atol=1e-5)


def test_feed_forward_by_hand():
    layer = FeedForward(2)
    layer.build((None, None, 1))
    layer.inner.kernel.assign([[1.0, -1]])
    layer.outer.kernel.assign([[2.0], [3]])
    layer.outer.bias.assign([0.5])
    np.testing.assert_array_equal(numpy(layer(np.array([[[4.0], [-5]]], "float32"))), [[[8.5], [15.5]]])


def test_normalisations_equal_the_equations(random):
    x = random.normal(size=(B, T, WIDTH), loc=3).astype("float32")
    gain, bias = random.normal(size=(2, WIDTH))
    layer, rms = normalizer("layer", 1e-3), normalizer("rms", 1e-3)
    for norm in (layer, rms):
        norm.build(x.shape)
        norm.weights[0].assign(gain)
    layer.weights[1].assign(bias)
    wide = x.astype("float64")
    centred = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(numpy(layer(x)), gain * centred + bias, atol=1e-4)
    scaled = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(numpy(rms(x)), gain * scaled, atol=1e-4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Residual(norm="both"), "norm='both'.*'post'"),
        (lambda: Residual(normalization="batch"), "normalization='batch'.*'rms'"),
        (lambda: FeedForward(3, "tanh"), "activation='tanh'.*'swiglu'"),
    ],
)
def test_other_words_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
