"""Rollout by hand, flow against networkx."""

import networkx
import numpy as np
import pytest

from zoo import inspection


def test_rollout_by_hand():
    swap, stay = np.array([[0.0, 1.0], [1.0, 0.0]]), np.eye(2)
    heads = np.stack([np.stack([swap, swap]), np.stack([swap, stay])])  # layers 1 and 2, two heads
    first = [[0.5, 0.5], [0.5, 0.5]]
    np.testing.assert_allclose(inspection.rollout(heads)[0], first)
    one = np.stack([np.stack([np.array([[1, 0], [0.5, 0.5]])])])
    np.testing.assert_allclose(inspection.rollout(one), [[[1, 0], [0.25, 0.75]]])
    np.testing.assert_allclose(
        inspection.rollout(np.concatenate([one, one]))[1], [[1, 0], [0.25 + 0.75 * 0.25, 0.5625]]
    )


def test_flow_is_the_maximum_flow():
    random = np.random.default_rng(3)
    weights = random.dirichlet(np.ones(5), size=(3, 2, 5))
    weights[:, :, 1, 3] = 0
    weights /= weights.sum(-1, keepdims=True)
    mean = 0.5 * weights.mean(1) + 0.5 * np.eye(5)
    graph = networkx.DiGraph()
    for layer in range(3):
        for i in range(5):
            for j in range(5):
                graph.add_edge((layer, j), (layer + 1, i), capacity=mean[layer, i, j])
    expected = np.array([[networkx.maximum_flow_value(graph, (0, j), (3, i)) for j in range(5)] for i in range(5)])
    np.testing.assert_allclose(inspection.flow(weights), expected / expected.sum(1, keepdims=True), atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 3, 5, 7), (0, 3, 5, 5)])
def test_other_shapes_are_refused(shape):
    for function in (inspection.rollout, inspection.flow):
        with pytest.raises(ValueError, match="must be those of self-attention"):
            function(np.ones(shape))
