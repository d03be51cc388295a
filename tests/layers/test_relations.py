import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from zoo.layers.masks import window_mask
from zoo.layers.relations import BucketedBias, LinearBias, RelativeTables, positions_from, rotate

B, T, S, HEADS, KEY, VALUE = 2, 3, 5, 7, 11, 13


def numpy(tensor):
    return ops.convert_to_numpy(tensor)


def rotated(vector, position):
    """Su et al., Eq. 34, pair by pair."""
    out, d = np.zeros(len(vector)), len(vector)
    for i in range(d // 2):
        angle = position * 10000 ** (-2 * i / d)
        x, y = vector[2 * i : 2 * i + 2]
        out[2 * i : 2 * i + 2] = x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)
    return out


def test_positions_from_one_start_or_one_for_each_row():
    np.testing.assert_array_equal(numpy(positions_from(3, 2)), [3, 4])
    starts = ops.convert_to_tensor(np.array([5, 7], "int32"))
    np.testing.assert_array_equal(numpy(positions_from(starts, 2)), [[5, 6], [7, 8]])


def test_rotations_equal_the_equations(random):
    x = random.normal(size=(B, T, HEADS, 6)).astype("float32")
    starts = np.array([2, 9])
    found = numpy(rotate(ops.convert_to_tensor(x), ops.convert_to_tensor(starts)))
    for b, t, h in np.ndindex(B, T, HEADS):
        np.testing.assert_allclose(found[b, t, h], rotated(x[b, t, h], starts[b] + t), atol=1e-5)


@pytest.mark.parametrize("places", [(3, 1), (103, 101)])
def test_a_rotated_product_depends_on_the_distance_only(places):
    q, k = (np.array(v, "float32")[None, None, None] for v in ([1, 0, 0, 1], [0, 1, 1, 0]))
    product = (numpy(rotate(q, places[0])) * numpy(rotate(k, places[1]))).sum()
    assert product == pytest.approx(0.889299, abs=1e-5)


def test_rotations_keep_half_precision_apart_at_far_positions():
    """Position 2049 is 2048 in float16; the angles are float32."""
    x = ops.cast(np.ones((1, 2, 1, 2)), "float16")
    first, second = numpy(rotate(x, 2048))[0, :, 0]
    assert abs(first - second).max() > 0.1


def test_the_linear_bias_by_hand():
    bias = numpy(LinearBias(8)(ops.arange(3), ops.arange(3)))
    assert bias.shape == (1, 8, 3, 3)
    np.testing.assert_allclose(bias[0, 0], [[0, -0.5, -1], [-0.5, 0, -0.5], [-1, -0.5, 0]])
    np.testing.assert_allclose(bias[0, :, 2, 1], -(0.5 ** np.arange(1, 9)))  # slopes 1/2 ... 1/256
    np.testing.assert_allclose(-numpy(LinearBias(16)(ops.arange(2), ops.arange(2)))[0, 0, 1, 0], 0.7071, atol=1e-4)


def bucket(distance, buckets, farthest, two_sided):
    """Raffel et al., section 2.1, one distance at a time."""
    base = 0
    if two_sided:
        buckets //= 2
        base = buckets if distance > 0 else 0
        away = abs(distance)
    else:
        away = max(-distance, 0)
    exact = buckets // 2
    if away < exact:
        return base + away
    far = exact + int(np.log(away / exact) / np.log(farthest / exact) * (buckets - exact))
    return base + min(far, buckets - 1)


@pytest.mark.parametrize("two_sided", [True, False])
def test_buckets_equal_the_definition(two_sided):
    layer = BucketedBias(HEADS, buckets=32, max_distance=128, two_sided=two_sided)
    distances = np.arange(-300, 301)
    # Where the logarithm is a whole number float32 may round either way: at 8 times a power of two.
    expected = np.array([bucket(d, 32, 128, two_sided) for d in distances])
    found = numpy(layer.bucket(ops.convert_to_tensor(distances, dtype="int32")))
    unsure = np.isin(abs(distances), [16, 32, 64, 128])
    np.testing.assert_array_equal(found[~unsure], expected[~unsure])
    assert (abs(found - expected)[unsure] <= 1).all()
    assert found.min() == 0
    assert found.max() == 31


def test_small_buckets_by_hand():
    """Four buckets for two sides: 0, and all before; then all after, of which 'exactly 0 after' is never used."""
    layer = BucketedBias(2, buckets=4, max_distance=5)
    np.testing.assert_array_equal(numpy(layer.bucket(ops.convert_to_tensor([-2, -1, 0, 1, 2]))), [1, 1, 0, 3, 3])


def test_a_bucketed_bias_looks_its_table_up(random):
    layer = BucketedBias(HEADS, buckets=8, max_distance=9)
    layer.build()
    layer.table.assign(random.normal(size=(8, HEADS)))
    queries, keys = np.array([4, 5]), np.arange(S)
    found, table = numpy(layer(ops.convert_to_tensor(queries), ops.convert_to_tensor(keys))), numpy(layer.table)
    assert found.shape == (1, HEADS, 2, S)
    for i, j in np.ndindex(2, S):
        np.testing.assert_allclose(found[0, :, i, j], table[bucket(keys[j] - queries[i], 8, 9, True)])


@pytest.mark.parametrize("heads", [HEADS, None])
def test_relative_tables_equal_the_equations(heads, random):
    clip = 2
    layer = RelativeTables(clip, heads, KEY, VALUE)
    layer.build()
    query = random.normal(size=(B, T, HEADS, KEY)).astype("float32")
    weights = random.dirichlet(np.ones(S), size=(B, HEADS, T)).astype("float32")
    labels = layer.labels(ops.arange(1, 1 + T), ops.arange(S))
    scores, values = numpy(layer.scores(query, labels)), numpy(layer(weights, labels))
    a_key, a_value = (np.broadcast_to(numpy(w), (5, HEADS, w.shape[2])).astype("float64") for w in layer.weights)
    for b, t, h in np.ndindex(B, T, HEADS):
        label = [min(max(s - (1 + t), -clip), clip) + clip for s in range(S)]
        np.testing.assert_allclose(scores[b, h, t], a_key[label, h] @ query[b, t, h], atol=1e-5)
        np.testing.assert_allclose(values[b, t, h], weights[b, h, t] @ a_value[label, h], atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 5), st.integers(1, 6))
def test_a_window_is_what_is_near(queries, keys, start, window):
    mask = numpy(window_mask(ops.arange(start, start + queries), ops.arange(keys), window))
    expected = [[abs(start + i - j) < window for j in range(keys)] for i in range(queries)]
    np.testing.assert_array_equal(mask, expected)
