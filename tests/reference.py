"""The papers' equations in float64 NumPy, one sentence at a time, with loops where the papers have indices."""

import numpy as np


def softmax(scores, mask=None):
    """Over the last axis; 0 where the mask is False and where nothing is left."""
    scores = np.asarray(scores, "float64")
    mask = np.ones(scores.shape, bool) if mask is None else np.broadcast_to(mask, scores.shape)
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = shifted.sum(axis=-1, keepdims=True)
    return np.divide(shifted, total, out=np.zeros_like(shifted), where=total > 0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def layer_norm(x, gain, bias, epsilon=1e-6):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return gain * (x - mean) / np.sqrt(variance + epsilon) + bias


def gru(x, h, kernel, recurrent, bias):
    """Keras's order of gates (z, r, h), the reset before the product: h' = z h + (1 - z) h~."""
    n = len(h)
    inputs = x @ kernel + bias
    z = sigmoid(inputs[:n] + h @ recurrent[:, :n])
    r = sigmoid(inputs[n : 2 * n] + h @ recurrent[:, n : 2 * n])
    candidate = np.tanh(inputs[2 * n :] + (r * h) @ recurrent[:, 2 * n :])
    return z * h + (1 - z) * candidate


def gated(x, h, kernel, recurrent, bias):
    """Bahdanau et al., A.2.2, gates z, r, h: h' = (1 - z) h + z h~."""
    n = len(h)
    inputs = x @ kernel + bias
    z = sigmoid(inputs[:n] + h @ recurrent[:, :n])
    r = sigmoid(inputs[n : 2 * n] + h @ recurrent[:, n : 2 * n])
    return (1 - z) * h + z * np.tanh(inputs[2 * n :] + (r * h) @ recurrent[:, 2 * n :])


def lstm(x, h, c, kernel, recurrent, bias):
    """Keras's order of gates: i, f, c, o."""
    i, f, g, o = np.split(x @ kernel + h @ recurrent + bias, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def multi_head(query, memory, weights, heads, mask=None, biases=None, score_bias=None, relation=None):
    """Vaswani et al. Eq. 1 head by head; weights = W^Q, W^K, W^V, W^O. Returns (output (T, d), weights (H, T, S)).

    Fewer columns in W^K and W^V make neighbouring heads share them. score_bias (H, T, S) is added to scaled scores;
    relation(h, t, s) gives the vectors (a^K, a^V) of Shaw et al.
    """
    w_query, w_key, w_value, w_output = weights
    b_query, b_key, b_value, b_output = biases or (0, 0, 0, 0)
    q, k, v = query @ w_query + b_query, memory @ w_key + b_key, memory @ w_value + b_value
    d_k, d_v = q.shape[-1] // heads, w_output.shape[0] // heads
    sharing = heads // (k.shape[-1] // d_k)
    outputs, maps = [], []
    for h in range(heads):
        g = h // sharing
        own, keys, values = q[:, h * d_k : (h + 1) * d_k], k[:, g * d_k : (g + 1) * d_k], v[:, g * d_v : (g + 1) * d_v]
        scores, away = own @ keys.T, np.zeros((len(query), len(memory), d_v))
        if relation is not None:
            for t, s in np.ndindex(*scores.shape):
                a_key, away[t, s] = relation(h, t, s)
                scores[t, s] += own[t] @ a_key
        scores = scores / np.sqrt(d_k) + (0 if score_bias is None else score_bias[h])
        maps.append(softmax(scores, mask))
        outputs.append(maps[-1] @ values + np.einsum("ts,tsd->td", maps[-1], away))
    return np.concatenate(outputs, -1) @ w_output + b_output, np.stack(maps)


def sinusoid(position, width):
    """Vaswani et al., section 3.5, entry by entry."""
    table = np.zeros(width)
    for i in range(width):
        angle = position / 10000 ** (2 * (i // 2) / width)
        table[i] = np.sin(angle) if i % 2 == 0 else np.cos(angle)
    return table
