import numpy as np
import pytest
from keras import ops

from zoo.training.metrics import Perplexity, TokenAccuracy


def logits(probabilities):
    """(B, T) probabilities of class 1 -> logits (B, T, 2); class 0 is PAD."""
    p = np.array(probabilities)
    return np.log(np.stack([1 - p, p], axis=-1)).astype("float32")


def test_accuracy_counts_tokens_over_batches_not_rows():
    metric = TokenAccuracy()
    metric.update_state(np.array([[1, 1, 1]]), logits([[0.9, 0.8, 0.1]]))  # 2 of 3
    metric.update_state(np.array([[1, 0, 0]]), logits([[0.2, 0.9, 0.9]]))  # 0 of 1
    assert float(ops.convert_to_numpy(metric.result())) == pytest.approx(2 / 4)


def test_perplexity_is_of_the_plain_likelihood():
    metric = Perplexity()
    metric.update_state(np.array([[1, 0]]), logits([[0.5, 0.1]]))
    metric.update_state(np.array([[1, 1]]), logits([[0.125, 0.25]]), sample_weight=np.array([[9.0, 9.0]]))
    assert float(ops.convert_to_numpy(metric.result())) == pytest.approx((2 * 8 * 4) ** (1 / 3), rel=1e-5)


def test_of_the_smoothed_case():
    metric = Perplexity()
    metric.update_state(np.array([[1]]), np.array([[[0.0, 2, 0, 0]]], "float32"))
    assert float(ops.convert_to_numpy(metric.result())) == pytest.approx(1.4060, abs=1e-4)


@pytest.mark.parametrize(("metric", "nothing"), [(TokenAccuracy, 0.0), (Perplexity, 1.0)])
def test_no_real_token_gives_a_finite_value(metric, nothing):
    metric = metric()
    metric.update_state(np.array([[0, 0]]), logits([[0.5, 0.5]]))
    assert float(ops.convert_to_numpy(metric.result())) == nothing


def test_a_reset_forgets():
    metric = TokenAccuracy()
    metric.update_state(np.array([[1]]), logits([[0.1]]))
    metric.reset_state()
    metric.update_state(np.array([[1]]), logits([[0.9]]))
    assert float(ops.convert_to_numpy(metric.result())) == 1
