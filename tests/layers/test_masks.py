import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from tests.reference import softmax
from zoo.layers.additive import attend
from zoo.layers.masks import causal_mask, masked_softmax, padding_mask


def numpy(tensor):
    return ops.convert_to_numpy(tensor)


def weights_of(scores, mask, dtype="float32"):
    return numpy(masked_softmax(ops.convert_to_tensor(np.array(scores, dtype)), ops.convert_to_tensor(np.array(mask))))


def test_a_row_with_nothing_to_attend_to_is_zero():
    scores = np.array([[[1.0, 2, 3], [1, 2, 3]]], "float32")
    memory = np.array([[[1.0], [2], [9]]], "float32")
    context, weights = attend(ops.convert_to_tensor(scores), ops.convert_to_tensor(memory), np.zeros((1, 3), bool))
    assert (numpy(weights) == 0).all()
    assert (numpy(context) == 0).all()


def test_a_dead_row_leaves_the_others_bit_for_bit():
    scores = [[1.0, 2, 3], [0.3, -4, 2]]
    alone = weights_of(scores[1:], [[True, True, False]])
    beside = weights_of(scores, [[False, False, False], [True, True, False]])
    np.testing.assert_array_equal(beside[1], alone[0])


def test_the_gradient_of_a_dead_row_is_finite_and_zero():
    class Row(keras.layers.Layer):
        def build(self, shape):
            self.scores = self.add_weight(shape=(2, 3), initializer="ones")

        def call(self, mask):
            return masked_softmax(self.scores, mask)

    model = keras.Sequential([keras.Input((3,), dtype="bool", batch_size=2), Row()])
    model.compile(keras.optimizers.SGD(1.0), loss=lambda y, p: ops.sum(y * p))
    mask = np.array([[False, False, False], [True, True, False]])
    model.train_on_batch(mask, np.array([[1.0, 2, 3], [1, 2, 3]], "float32"))
    after = numpy(model.layers[0].scores)
    np.testing.assert_array_equal(after[0], [1, 1, 1])  # the dead row's scores do not move
    np.testing.assert_allclose(after[1], [1.25, 0.75, 1], rtol=1e-6)  # w (y - sum w y) with w = 1/2, 1/2, 0


def test_half_precision_scores_with_half_hidden():
    weights = weights_of([[-20, -30, 5, 1]], [[True, True, False, False]], "float16")
    np.testing.assert_allclose(weights, [[0.999955, 4.54e-5, 0, 0]], atol=1e-3)
    assert (weights[:, 2:] == 0).all()


@pytest.mark.parametrize("extreme", [6e4, -6e4])
def test_extreme_half_precision_scores_are_finite(extreme):
    scores = np.array([[extreme, -extreme, 0], [extreme, extreme, extreme]], "float16")
    weights = weights_of(scores, [[True, True, False], [False, False, False]], "float16")
    assert np.isfinite(weights).all()
    assert (weights[1] == 0).all()


def test_true_means_attend():
    mask = padding_mask(ops.convert_to_tensor(np.array([[5, 6, 0]])))
    np.testing.assert_array_equal(numpy(mask), [[True, True, False]])
    np.testing.assert_array_equal(numpy(masked_softmax(ops.zeros((1, 3)), mask)), [[0.5, 0.5, 0]])


def test_a_mask_that_is_not_boolean_is_refused():
    with pytest.raises(TypeError, match="int32.*True = attend"):
        masked_softmax(ops.zeros((1, 3)), ops.ones((1, 3), "int32"))


def test_sums_over_source_positions_not_over_the_batch():
    np.testing.assert_allclose(weights_of([[1.0, 2]], [[True, True]]), [[0.268941, 0.731059]], atol=1e-6)


def test_causal_mask_by_hand():
    np.testing.assert_array_equal(numpy(causal_mask(3)), [[True, False, False], [True, True, False], [True] * 3])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_equals_the_float64_reference(data):
    rows, keys = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 7))
    scores = data.draw(st.lists(st.floats(-50, 50, width=32), min_size=rows * keys, max_size=rows * keys))
    mask = data.draw(st.lists(st.booleans(), min_size=rows * keys, max_size=rows * keys))
    scores, mask = np.array(scores, "float32").reshape(rows, keys), np.array(mask).reshape(rows, keys)
    weights = weights_of(scores, mask)
    np.testing.assert_allclose(weights, softmax(scores, mask), atol=1e-6)
    assert (weights[~mask] == 0).all()
