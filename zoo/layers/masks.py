"""Masks (boolean, True = attend) and the softmax that respects them."""

import keras
from keras import ops

from zoo.ids import PAD

_LOWEST = -3.0e38  # near float32's minimum; subtracting any finite row maximum from it leaves exp() at exactly 0


class ExplicitMasks(keras.layers.Layer):
    """A layer whose masks are arguments: Keras's implicit masks, which some operations drop in silence, end here."""

    def compute_mask(self, inputs, previous_mask=None):
        return None


def padding_mask(ids):
    """Marks real tokens: (B, S) int -> (B, S) bool, True where the id is not PAD."""
    return ops.not_equal(ids, PAD)


def causal_mask(length):
    """Lets position t see positions 0..t: -> (T, T) bool, True on and below the diagonal (Vaswani et al. 3.2.3)."""
    positions = ops.arange(length)
    return ops.expand_dims(positions, 0) <= ops.expand_dims(positions, 1)


def window_mask(queries, keys, window):
    """Lets each position see those less than `window` away: positions (T,), (S,) -> (T, S) bool.

        |i - j| < w: position i itself, w - 1 before it and, where nothing else hides them, w - 1 after it

    Sliding-window attention: with a causal mask, w is the window of Jiang et al. 2023, section 2; without one, that of
    Beltagy et al. 2020, section 3.1, is 2w - 1 here, since theirs counts both sides together.
    """
    return ops.abs(ops.expand_dims(queries, 1) - ops.expand_dims(keys, 0)) < window


def masked_softmax(scores, mask=None):
    """Softmax over the last axis, in float32, with weights of exactly 0 where the mask is False.

        w_j = m_j exp(e_j) / sum_k m_k exp(e_k),        w = 0 where no key is left

    Masked scores are replaced, not shifted by a large negative number: a shift overflows in half precision, and
    spreads weight over the padding of a row that has nothing to attend to. Such a row is 0 with a gradient of 0.

    Args:
        scores: (..., S) of any float type.
        mask: bool, broadcastable to scores; True = attend. None = attend everywhere.
    Returns:
        float32 weights (..., S).
    Raises:
        TypeError: a mask that is not boolean, because 0/1 and 0/-inf conventions cannot be told apart later.
    """
    scores = ops.cast(scores, "float32")
    softmax = ops.ones_like if scores.shape[-1] == 1 else ops.softmax  # Keras warns of a softmax over one key
    if mask is None:
        return softmax(scores)
    if keras.backend.standardize_dtype(mask.dtype) != "bool":
        raise TypeError(f"mask has dtype {mask.dtype}, but masks are boolean with True = attend: compare it first")
    return ops.where(mask, softmax(ops.where(mask, scores, _LOWEST)), 0.0)
