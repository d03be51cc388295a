import numpy as np
import pytest
from keras import ops

from tests.reference import softmax
from zoo.layers.additive import AdditiveAttention, attend

B, T, S, N, D, UNITS = 2, 3, 5, 7, 11, 13


@pytest.fixture
def case(random):
    layer = AdditiveAttention(UNITS)
    query, memory = random.normal(size=(B, T, N)).astype("float32"), random.normal(size=(B, S, D)).astype("float32")
    mask = np.array([[True] * 5, [True, True, False, False, False]])
    layer.build(query.shape, memory.shape)
    layer.query.bias.assign(random.normal(size=UNITS))
    return layer, query, memory, mask


def test_equals_the_equations(case):
    layer, query, memory, mask = case
    context, weights = (ops.convert_to_numpy(x) for x in layer(query, memory, mask=mask))
    w_a, b_a, u_a, v_a = (ops.convert_to_numpy(w).astype("float64") for w in layer.weights)
    for b in range(B):
        for t in range(T):
            scores = [v_a[:, 0] @ np.tanh(query[b, t] @ w_a + b_a + memory[b, s] @ u_a) for s in range(S)]
            alpha = softmax(scores, mask[b])
            np.testing.assert_allclose(weights[b, t], alpha, atol=1e-6)
            np.testing.assert_allclose(context[b, t], sum(alpha[s] * memory[b, s] for s in range(S)), atol=1e-5)


def test_coverage_enters_the_score(random):
    layer = AdditiveAttention(UNITS, coverage=True)
    query, memory = random.normal(size=(B, T, N)).astype("float32"), random.normal(size=(B, S, D)).astype("float32")
    coverage = random.uniform(size=(B, T, S)).astype("float32")
    layer.build(query.shape, memory.shape)
    weights = ops.convert_to_numpy(layer(query, memory, coverage=coverage)[1])
    w_a, b_a, u_a, v_a, w_c = (ops.convert_to_numpy(w).astype("float64") for w in layer.weights)
    for b in range(B):
        for t in range(T):
            hidden = [query[b, t] @ w_a + b_a + memory[b, s] @ u_a + w_c[0] * coverage[b, t, s] for s in range(S)]
            np.testing.assert_allclose(weights[b, t], softmax(np.tanh(hidden) @ v_a[:, 0]), atol=1e-6)


def test_keys_computed_before_give_the_same(case):
    layer, query, memory, mask = case
    at_once = layer(query, memory, mask=mask)
    before = layer(query, memory, keys=layer.keys(memory), mask=mask)
    for one, other in zip(at_once, before, strict=True):
        np.testing.assert_array_equal(ops.convert_to_numpy(one), ops.convert_to_numpy(other))


def test_padding_has_no_weight_and_no_influence(case):
    layer, query, memory, mask = case
    weights = ops.convert_to_numpy(layer(query, memory, mask=mask)[1])
    assert (weights[1, :, 2:] == 0).all()
    changed = memory.copy()
    changed[1, 2:] = 1e4
    np.testing.assert_array_equal(
        ops.convert_to_numpy(layer(query, changed, mask=mask)[0]),
        ops.convert_to_numpy(layer(query, memory, mask=mask)[0]),
    )


def test_zero_scores_spread_over_real_positions_only():
    _, weights = attend(ops.zeros((1, 1, 5)), ops.ones((1, 5, 2)), np.array([[True, True, False, False, False]]))
    np.testing.assert_array_equal(ops.convert_to_numpy(weights)[0, 0], [0.5, 0.5, 0, 0, 0])


def test_the_context_sums_raw_annotations():
    memory = np.array([[[1.0, 0], [0, 1]]], "float32")
    layer = AdditiveAttention(2)
    layer.build((1, 1, 2), memory.shape)
    layer.key.kernel.assign(2 * np.eye(2))
    scores = ops.convert_to_tensor(np.log(np.array([[[0.25, 0.75]]], "float32")))
    layer.scores = lambda query, keys, coverage: scores
    context, _ = layer(ops.zeros((1, 1, 2)), ops.convert_to_tensor(memory))
    np.testing.assert_allclose(ops.convert_to_numpy(context)[0, 0], [0.25, 0.75], rtol=1e-6)


def test_the_source_mask_hides_source_positions():
    """Values 1, 2, 100 with a source of length 2: the mean is 1.5, and 34.33 with no mask."""
    memory = np.array([[[1.0], [2], [100]]], "float32")
    context, _ = attend(ops.zeros((1, 2, 3)), ops.convert_to_tensor(memory), np.array([[True, True, False]]))
    np.testing.assert_allclose(ops.convert_to_numpy(context), [[[1.5], [1.5]]])
