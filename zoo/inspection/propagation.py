"""Attention through all layers: rollout and flow (Abnar and Zuidema 2020)."""

import numpy as np

_CAPACITY = 1_000_000  # the flow is computed in whole parts of this


def rollout(weights):
    """Multiplies attention through the layers, the residual connections counted as half of each.

        R_l = (0.5 mean_h A_l + 0.5 I) R_{l-1},          R_0 = I,          rows scaled to sum to 1

    Abnar and Zuidema 2020, section 3.

    Args:
        weights: (L, H, T, T) self-attention.
    Returns:
        float64 (L, T, T): what each position holds of each input after layers 1 to L.
    """
    layers = _with_residual(weights)
    rolled, steps = np.eye(layers.shape[-1]), []
    for layer in layers:
        rolled = layer @ rolled
        steps.append(rolled)
    return np.stack(steps)


def flow(weights):
    """The most that can flow from each input through the layers to each position, along attention as capacities.

    Abnar and Zuidema 2020, section 3: nodes are positions of layers, the edges from layer l - 1 to l are
    0.5 mean_h A_l + 0.5 I, and the value is the maximum flow between input and output, scaled so that rows sum to 1.

    Args:
        weights: (L, H, T, T) self-attention; costs T^2 maximum flows.
    Returns:
        float64 (T, T): of the last layer.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    layers = _with_residual(weights)
    depth, length = len(layers), layers.shape[1]
    above, below = np.meshgrid(np.arange(length), np.arange(length), indexing="ij")
    starts = [(below + i * length).ravel() for i in range(depth)]
    ends = [(above + (i + 1) * length).ravel() for i in range(depth)]
    capacity = np.rint(_CAPACITY * layers).astype("int32").ravel()
    size = (depth + 1) * length
    graph = coo_array((capacity, (np.concatenate(starts), np.concatenate(ends))), shape=(size, size)).tocsr()
    graph.eliminate_zeros()
    values = np.array(
        [[maximum_flow(graph, j, depth * length + i).flow_value for j in range(length)] for i in range(length)]
    )
    return values / values.sum(axis=1, keepdims=True)


def _with_residual(weights):
    """(L, T, T): half the mean over heads, half the position itself."""
    if np.ndim(weights) != 4 or 0 in np.shape(weights) or np.shape(weights)[2] != np.shape(weights)[3]:
        raise ValueError(f"weights have shape {np.shape(weights)}: must be those of self-attention, (L, H, T, T)")
    mean = np.asarray(weights, "float64").mean(axis=1)
    both = 0.5 * mean + 0.5 * np.eye(mean.shape[-1])
    return both / both.sum(axis=-1, keepdims=True)
