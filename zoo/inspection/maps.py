"""Attention maps of any model."""

import numpy as np

from zoo.inspection.foreign import tapped
from zoo.layers.tap import tap


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
    with tap() as maps, tapped(model):
        model(inputs, training=False)
    return maps


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
    cut, (target, width) = {}, target
    source, target = np.asarray(source), np.asarray(target)
    for role, weights in maps.items():
        side, _, kind = role.split("/")
        joint = kind == "self" and side == "decoder" and weights.shape[-1] > width
        own = np.concatenate([source, weights.shape[-1] - width + target]) if joint else target
        rows = source if side == "encoder" else own
        columns = source if kind == "cross" else rows
        cut[role] = weights[row][:, rows[:, None], columns]
    return cut
