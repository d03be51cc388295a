import keras
import numpy as np
import pytest
from keras import ops

from tests.reference import sinusoid
from zoo.layers.embeddings import TokenEmbedding
from zoo.layers.positions import LearnedPositions, SinusoidalPositions


def encoding(position, width, layout="interleaved"):
    return ops.convert_to_numpy(SinusoidalPositions(layout).encodings(np.array([position]), width))[0]


def test_first_position_by_hand():
    np.testing.assert_allclose(encoding(1, 4), [0.841471, 0.540302, 0.010000, 0.999950], atol=1e-6)
    np.testing.assert_allclose(encoding(1, 4, "halves"), [0.841471, 0.010000, 0.540302, 0.999950], atol=1e-6)
    np.testing.assert_array_equal(encoding(0, 4), [0, 1, 0, 1])


def test_an_odd_width_works():
    np.testing.assert_allclose(encoding(1, 5), [0.841471, 0.540302, 0.025116, 0.999685, 0.000631], atol=1e-6)
    np.testing.assert_allclose(encoding(1, 5, "halves"), [0.841471, 0.025116, 0.000631, 0.540302, 0.999685], atol=1e-6)


@pytest.mark.parametrize("width", [1, 2, 7, 8, 13])
@pytest.mark.parametrize("position", [0, 3, 97])
def test_equals_the_float64_reference(position, width):
    np.testing.assert_allclose(encoding(position, width), sinusoid(position, width), atol=2e-5)


@pytest.mark.parametrize("layer", [SinusoidalPositions(), LearnedPositions(11)])
def test_positions_go_on_from_a_start(layer, random):
    x = random.normal(size=(2, 7, 5)).astype("float32")
    whole = ops.convert_to_numpy(layer(x))
    part = ops.convert_to_numpy(layer(x[:, 3:], start=3))
    np.testing.assert_allclose(part, whole[:, 3:], atol=1e-6)


def test_neighbouring_far_positions_differ_in_half_precision():
    """float16 rounds 2049 to 2048: the angles have to be float32, whatever the policy."""
    layer = SinusoidalPositions(dtype="mixed_float16")
    rows = ops.convert_to_numpy(layer.encodings(np.array([2048, 2049]), 4))
    np.testing.assert_allclose(rows[0] - rows[1], [-0.943085, 0.173162, 0.000646, 0.009979], atol=2e-4)
    added = layer(ops.zeros((1, 2, 4), "float16"), start=2048)
    assert keras.backend.standardize_dtype(added.dtype) == "float16"
    assert abs(ops.convert_to_numpy(added)[0, 0] - ops.convert_to_numpy(added)[0, 1]).max() > 0.9


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_the_sum_stays_in_the_compute_type_and_logits_are_float32(policy):
    compute = keras.DTypePolicy(policy).compute_dtype
    embedding = TokenEmbedding(7, 4, dtype=policy)
    x = SinusoidalPositions(dtype=policy)(embedding(np.array([[1, 2]])))
    assert keras.backend.standardize_dtype(x.dtype) == compute
    assert keras.backend.standardize_dtype(embedding.logits(x).dtype) == "float32"


def test_another_layout_is_refused():
    with pytest.raises(ValueError, match="layout='mixed'.*'interleaved'"):
        SinusoidalPositions("mixed")


def test_a_learned_table_adds_its_rows(random):
    layer = LearnedPositions(3)
    layer.build((None, None, 2))
    layer.table.assign([[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(ops.ones((1, 2, 2)))), [[[2, 3], [4, 5]]])


def test_a_length_past_a_learned_table_is_refused():
    with pytest.raises(ValueError, match="length 12 is past the 11 learned positions"):
        LearnedPositions(11)(ops.zeros((1, 12, 5)))
