"""Attention maps of any model."""

from contextlib import nullcontext

import numpy as np

from zoo.inspection.foreign import tapped
from zoo.layers.tap import tap, vectors


def attention_maps(model, inputs):
    """Runs the model once, without dropout, and returns every attention layer's weights.

    Args:
        model: a model of the zoo, or any Keras model with attention layers of the zoo, of Keras (`MultiHeadAttention`,
            `GroupQueryAttention`, `Attention`, `AdditiveAttention`) or made of these, such as KerasHub's blocks. Those
            layers are numbered in the order in which they run. The model stays as it is.
        inputs: what the model is called with, such as {"source": (B, S), "target": (B, T)}.
    Returns:
        {role: float32 weights}, with the roles "encoder/<layer>/self" (B, H, S, S), "decoder/<layer>/self" (B, H, T, T)
        and "decoder/<layer>/cross" (B, H, T, S), those that the model has. H = 1 in recurrent models; a model without
        attention gives {}. In GPT-2, which reads source and target as one row, "self" is (B, H, S + T, S + T). Weights
        are exactly 0 on padding, and a row sums to 1 over the rest; in Luong's local attention to less.

    Example::

        zoo.attention_maps(model, batch)["decoder/0/cross"][0, 0]        # one sentence, one head: (T, S)
    """
    return observe(model, inputs)[0]


def attention_vectors(model, inputs):
    """Queries and keys that multi-head weights are made of: {role: (queries (B, H, T, d), keys (B, H, S, d))}.

    Of the zoo's own layers. Queries are scaled by 1 / sqrt(d), and turned where positions are rotary.
    """
    return observe(model, inputs, with_vectors=True)[1]


def observe(model, inputs, with_vectors=False):
    """What `attention_maps` and, if asked for, `attention_vectors` give, of one run of the model; else {}."""
    with tap() as maps, tapped(model), vectors() if with_vectors else nullcontext({}) as collected:
        model(inputs, training=False)
    return maps, collected


def cut_maps(maps, row, source, target):
    """The maps of one sentence pair, without padding.

    Args:
        maps: {role: weights (B, H, ...)} as arrays, of inputs (B, S) and (B, T).
        row: which pair of the batch.
        source: positions of the source's tokens that are wanted, in the order that is wanted.
        target: (positions of the target's, T).
    Returns:
        {role: weights (H, rows, columns)}. In a decoder without encoder the source comes before the target, in both.
    """
    cut = {}
    for role, weights in maps.items():
        rows, columns = _positions(role, weights.shape[-1], source, target)
        cut[role] = weights[row][:, rows[:, None], columns]
    return cut


def cut_vectors(collected, row, source, target):
    """The same of queries and keys: {role: (queries (H, rows, d), keys (H, columns, d))}."""
    cut = {}
    for role, (queries, keys) in collected.items():
        rows, columns = _positions(role, keys.shape[2], source, target)
        cut[role] = np.asarray(queries)[row][:, rows], np.asarray(keys)[row][:, columns]
    return cut


def _positions(role, length, source, target):
    """Rows and columns of a role's map, `length` columns wide with padding, that belong to one sentence pair."""
    target, width = target
    source, target = np.asarray(source), np.asarray(target)
    side, _, kind = role.split("/")
    joint = kind == "self" and side == "decoder" and length > width
    own = np.concatenate([source, length - width + target]) if joint else target
    rows = source if side == "encoder" else own
    return rows, source if kind == "cross" else rows
