import keras
import numpy as np
import pytest
from keras import ops

from zoo.training.schedules import InverseSquareRoot, bahdanau_optimizer, transformer_optimizer

# width 512, warm-up 4,000: rate of the n-th update
RATES = [
    (1, 1.746928e-7),
    (2, 3.493856e-7),
    (3999, 6.985966e-4),
    (4000, 6.987712e-4),
    (4001, 6.986839e-4),
    (16000, 3.493856e-4),
    (100000, 1.397542e-4),
]


def rate(schedule, update):
    step = ops.convert_to_tensor(np.array(update - 1, "int64"))  # Keras counts from 0, in int64
    return float(ops.convert_to_numpy(schedule(step)))


@pytest.mark.parametrize(("update", "expected"), RATES)
def test_rates_of_the_base_model(update, expected):
    assert rate(InverseSquareRoot(512), update) == pytest.approx(expected, rel=1e-6)


def test_peak_of_the_big_model():
    assert rate(InverseSquareRoot(1024), 4000) == pytest.approx(4.941059e-4, rel=1e-6)


def test_scale_is_a_factor():
    assert rate(InverseSquareRoot(64, 400, 0.5), 400) == pytest.approx(0.5 * (64 * 400) ** -0.5, rel=1e-6)


def test_the_first_update_is_step_one():
    """One weight, gradient 1: Adam's first step is the rate itself."""
    weight = keras.Variable([0.0])
    transformer_optimizer(512).apply([ops.ones((1,))], [weight])
    assert float(ops.convert_to_numpy(weight)[0]) == pytest.approx(-1.746928e-7, rel=1e-5)


def test_the_papers_adam():
    config = transformer_optimizer(512).get_config()
    assert (config["beta_1"], config["beta_2"], config["epsilon"]) == (0.9, 0.98, 1e-9)


def test_the_average_takes_the_weights_place():
    weight = keras.Variable([0.0])
    optimizer = transformer_optimizer(1, warmup=1, averaging=0.75)
    for _ in range(2):  # rates 1 and 2^-0.5: the weight moves to -1, where the average begins, and to -1.7071
        optimizer.apply([ops.ones((1,))], [weight])
    optimizer.finalize_variable_values([weight])
    assert float(ops.convert_to_numpy(weight)[0]) == pytest.approx(0.75 * -1 + 0.25 * -1.707107, rel=1e-5)


def test_the_papers_adadelta_moves():
    weight = keras.Variable([0.0])
    optimizer = bahdanau_optimizer()
    optimizer.apply([ops.ones((1,))], [weight])
    assert float(ops.convert_to_numpy(weight)[0]) == pytest.approx(-4.472091e-3, rel=1e-5)


def test_the_papers_adadelta_clips_the_norm_at_one():
    weight = keras.Variable([0.0, 0.0])
    optimizer = bahdanau_optimizer()
    optimizer.apply([ops.convert_to_tensor([30.0, 40.0])], [weight])  # clipped to [0.6, 0.8]
    expected = [-g * (1e-6 / (0.05 * g * g + 1e-6)) ** 0.5 for g in (0.6, 0.8)]
    np.testing.assert_allclose(ops.convert_to_numpy(weight), expected, rtol=1e-4)


def test_survives_its_configuration():
    schedule = InverseSquareRoot(64, 10, 0.5)
    copy = keras.optimizers.schedules.deserialize(keras.optimizers.schedules.serialize(schedule))
    assert copy.get_config() == {"width": 64, "warmup": 10, "scale": 0.5}


def test_no_warm_up_is_refused():
    with pytest.raises(ValueError, match="warmup=0"):
        InverseSquareRoot(512, warmup=0)
