import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from zoo.training.losses import TokenCrossEntropy, negative_log_likelihood


def value(loss, labels, logits, weights=None):
    labels, logits = ops.convert_to_tensor(np.array(labels)), ops.convert_to_tensor(np.array(logits, "float32"))
    return float(ops.convert_to_numpy(loss(labels, logits, weights)))


def logits_of(probabilities):
    """Logits of two classes, the second of which has these probabilities; class 0 is PAD."""
    return [[[np.log(1 - p), np.log(p)] for p in probabilities]]


def test_the_mean_is_over_real_tokens():
    loss = TokenCrossEntropy(0.0)
    assert value(loss, [[1, 0, 0]], logits_of([0.5, 0.25, 0.25])) == pytest.approx(0.693147, abs=1e-6)


def test_a_batch_without_real_tokens_has_no_loss_and_a_finite_gradient():
    layer = keras.layers.Dense(3)
    model = keras.Sequential([keras.Input((2, 5)), layer])
    model.compile(keras.optimizers.SGD(1.0), loss=TokenCrossEntropy(0.1))
    before = ops.convert_to_numpy(layer.kernel).copy()
    assert model.train_on_batch(np.ones((1, 2, 5), "float32"), np.zeros((1, 2), "int32")) == 0
    np.testing.assert_array_equal(ops.convert_to_numpy(layer.kernel), before)


def test_smoothing_spreads_over_all_classes():
    """Class 1 stands for the case's class 0, which is PAD here: logits [0, 2, 0, 0]."""
    labels, logits = [[1]], [[[0.0, 2, 0, 0]]]
    assert value(TokenCrossEntropy(0.1), labels, logits) == pytest.approx(0.490753, abs=1e-6)
    assert value(TokenCrossEntropy(0.0), labels, logits) == pytest.approx(0.340753, abs=1e-6)


@pytest.mark.parametrize(("classes", "lowest"), [(4, 0.348780), (37000, 1.376913)])
def test_the_lowest_smoothed_loss_is_the_entropy_of_its_target(classes, lowest):
    target = np.full(classes, 0.1 / classes)
    target[1] += 0.9
    assert value(TokenCrossEntropy(0.1), [[1]], [[np.log(target)]]) == pytest.approx(lowest, rel=1e-5)


def test_weights_are_shares_that_are_summed():
    loss = TokenCrossEntropy(0.0)
    labels, logits = [[1, 1], [1, 0]], np.concatenate([logits_of([0.5, 0.25]), logits_of([0.125, 0.5])])
    shares = np.array([[1 / 3, 1 / 3], [1 / 3, 0]], "float32")
    mean = (np.log(2) + np.log(4) + np.log(8)) / 3
    assert value(loss, labels, logits, shares) == pytest.approx(mean, rel=1e-6)
    halves = [value(loss, labels[i : i + 1], logits[i : i + 1], shares[i : i + 1]) for i in (0, 1)]
    assert sum(halves) == pytest.approx(mean, rel=1e-6)


def test_padding_counts_for_nothing_whatever_its_weight():
    loss = TokenCrossEntropy(0.0)
    assert value(loss, [[0, 0]], logits_of([0.5, 0.5]), np.ones((1, 2), "float32")) == 0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 0.9))
def test_equals_the_definition(seed, smoothing):
    random = np.random.default_rng(seed)
    logits, labels = random.normal(size=(2, 3, 7), scale=3), random.integers(0, 7, size=(2, 3))
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    q = (1 - smoothing) * np.eye(7)[labels] + smoothing / 7
    real = labels != 0
    expected = -(q * log_p).sum(-1)[real].sum() / max(real.sum(), 1)
    assert value(TokenCrossEntropy(smoothing), labels, logits) == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_half_precision_logits_are_summed_in_float32():
    logits = ops.convert_to_tensor(np.zeros((1, 1, 70000), "float16"))
    nll = negative_log_likelihood(ops.convert_to_tensor([[1]]), logits)
    assert float(ops.convert_to_numpy(nll)[0, 0]) == pytest.approx(np.log(70000), rel=1e-6)


def test_survives_its_configuration():
    assert TokenCrossEntropy.from_config(TokenCrossEntropy(0.3).get_config()).smoothing == 0.3


@pytest.mark.parametrize("smoothing", [-0.1, 1.0])
def test_impossible_smoothing_is_refused(smoothing):
    with pytest.raises(ValueError, match=f"smoothing={smoothing}"):
        TokenCrossEntropy(smoothing)
