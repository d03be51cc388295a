"""Coverage: how much attention each source position has had (See, Liu and Manning 2017, section 2.3)."""

from keras import ops


def coverage_loss(weights, real):
    """Attention that falls where earlier attention fell already.

        covloss_t = sum_i min(a_i^t, c_i^t),        c^t = sum_{t' < t} a^{t'}                      (Eq. 10 and 12)

    Args:
        weights: float32 (B, T, S).
        real: bool (B, T), which target positions count.
    Returns:
        The mean over real positions, a scalar from 0 to 1; 0 where there are none.
    """
    covered = ops.cumsum(weights, axis=1) - weights
    overlap = ops.sum(ops.minimum(weights, covered), axis=-1)
    real = ops.cast(real, "float32")
    return ops.sum(overlap * real) / ops.maximum(ops.sum(real), 1.0)
