"""Positions that act inside the attention: rotations, biases on scores, and learned vectors for distances."""

import math

import keras
from keras import ops


def positions_from(start, length):
    """start, start + 1, ...: (T,) from a number, (B, T) from one start for each row (B,)."""
    start = ops.convert_to_tensor(start, dtype="int32")
    return ops.arange(length) + (ops.expand_dims(start, -1) if len(start.shape) else start)


def rotate(x, start=0, base=10000.0):
    """Rotary positions: turns each pair of coordinates by an angle that grows with the position.

        (x_{2i}, x_{2i+1}) at p   ->   (x_{2i} cos a - x_{2i+1} sin a,  x_{2i} sin a + x_{2i+1} cos a),
        a = p * base^(-2i/d)

    Su et al. 2021 (RoFormer), section 3.2.2 and Eq. 34. A query and a key that are both rotated have a product that
    depends on their distance only. Angles are float32 under every dtype policy.

    Args:
        x: (B, T, H, d), d even.
        start: position of the first row: a number, or one for each row of the batch (B,).
    Returns:
        (B, T, H, d) in x's type.
    """
    shape, width = ops.shape(x), x.shape[-1]
    frequencies = ops.exp(ops.arange(width // 2, dtype="float32") * (-2.0 * math.log(base) / width))
    angles = ops.expand_dims(ops.cast(positions_from(start, shape[1]), "float32"), -1) * frequencies
    cos, sin = ops.cos(angles), ops.sin(angles)
    # (x, y) cos + (y, x) (-sin, sin): half the time of making both coordinates apart and joining them
    cos, sin = (
        ops.cast(ops.reshape(ops.stack(pair, axis=-1), (*ops.shape(angles)[:-1], 1, width)), x.dtype)
        for pair in ((cos, cos), (-sin, sin))
    )
    turned = ops.reshape(ops.flip(ops.reshape(x, (*shape[:-1], width // 2, 2)), axis=-1), shape)
    return x * cos + turned * sin


@keras.saving.register_keras_serializable("zoo")
class LinearBias(keras.layers.Layer):
    """ALiBi: a score loses m_h for each position between query and key; nothing is learned.

        b_h(i, j) = -m_h |i - j|,        m_h = 2^(-8h/n) for heads h = 1 ... n

    Press et al. 2022, section 3. The bias is not scaled by 1/sqrt(d_k) (footnote 5). The paper has causal attention,
    where |i - j| = i - j; both sides lose alike in an encoder. For n that is no power of two its authors' code
    interpolates slopes; here the formula serves every n.

    Args:
        heads: n.
    """

    def __init__(self, heads, **kwargs):
        super().__init__(**{**kwargs, "dtype": "float32"})
        self.heads = heads

    def call(self, queries, keys):
        """Positions (T,) and (S,) -> float32 bias (1, H, T, S)."""
        distance = ops.cast(ops.abs(ops.expand_dims(keys, 0) - ops.expand_dims(queries, 1)), "float32")
        slopes = 2.0 ** (-8.0 / self.heads * ops.arange(1, self.heads + 1, dtype="float32"))
        return (-slopes[:, None, None] * distance)[None]

    def get_config(self):
        return {**super().get_config(), "heads": self.heads}


@keras.saving.register_keras_serializable("zoo")
class BucketedBias(keras.layers.Layer):
    """T5's relative bias: one learned number for each head and bucket of distances.

        b_h(i, j) = table[bucket(j - i), h]

    Raffel et al. 2020, section 2.1. Half of a direction's buckets hold one distance each, the other half grow
    logarithmically up to `max_distance`; all beyond share the last. An encoder gives each direction half of the
    buckets, a decoder, which only looks back, all of them. One table serves every layer of a stack. T5 leaves out the
    factor 1/sqrt(d_k) of the scores, which its initial values absorb; here the factor stays.

    Args:
        heads: H.
        buckets: number of buckets, 32 in the paper.
        max_distance: in tokens, 128 in the paper.
        two_sided: whether keys after the query have buckets of their own.
    """

    def __init__(self, heads, buckets=32, max_distance=128, two_sided=True, **kwargs):
        super().__init__(**{**kwargs, "dtype": "float32"})
        self.heads = heads
        self.buckets = buckets
        self.max_distance = max_distance
        self.two_sided = two_sided

    def build(self, *shapes):
        self.table = self.add_weight(
            name="table", shape=(self.buckets, self.heads), initializer=keras.initializers.RandomNormal(stddev=0.02)
        )

    def bucket(self, distance):
        """The bucket of each distance j - i (int, any shape)."""
        sides = 2 if self.two_sided else 1
        count = self.buckets // sides
        exact = count // 2
        away = ops.abs(distance) if self.two_sided else ops.maximum(-distance, 0)
        growth = ops.log(ops.cast(ops.maximum(away, 1), "float32") / exact) / math.log(self.max_distance / exact)
        far = exact + ops.cast(growth * (count - exact), "int32")
        bucket = ops.where(away < exact, away, ops.minimum(far, count - 1))
        return bucket + ops.where(distance > 0, count, 0) if self.two_sided else bucket

    def call(self, queries, keys):
        """Positions (T,) and (S,) -> float32 bias (1, H, T, S)."""
        distance = ops.cast(ops.expand_dims(keys, 0) - ops.expand_dims(queries, 1), "int32")
        return ops.transpose(ops.take(self.table, self.bucket(distance), axis=0), (2, 0, 1))[None]

    def get_config(self):
        sizes = {"heads": self.heads, "buckets": self.buckets, "max_distance": self.max_distance}
        return {**super().get_config(), **sizes, "two_sided": self.two_sided}


@keras.saving.register_keras_serializable("zoo")
class RelativeTables(keras.layers.Layer):
    """Learned vectors for clipped distances, added to keys and to values.

        e_ij = x_i W^Q . (x_j W^K + a^K_ij) / sqrt(d_k)                    (Eq. 4)
        z_i  = sum_j alpha_ij (x_j W^V + a^V_ij)                           (Eq. 3)
        a_ij = w[clip(j - i, -k, k)],   2k + 1 vectors

    Shaw et al. 2018, sections 3.1 and 3.2. Products with the 2k + 1 vectors are made first and then spread over the
    distances by their labels (T, S, 2k + 1): no vector is held for each pair (the aim of the paper's Eq. 5).

    Args:
        clip: k.
        heads: H where each head has vectors of its own (the paper's base model), None where they share (its big one).
        key_width, value_width: d_k and d_v of a head.
    """

    def __init__(self, clip, heads, key_width, value_width, **kwargs):
        super().__init__(**kwargs)
        self.sizes = {"clip": clip, "heads": heads, "key_width": key_width, "value_width": value_width}

    def build(self, *shapes):
        labels, heads = 2 * self.sizes["clip"] + 1, self.sizes["heads"] or 1

        def table(name, width):
            return self.add_weight(name=name, shape=(labels, heads, width), initializer="glorot_uniform")

        self.keys = table("keys", self.sizes["key_width"])
        self.values = table("values", self.sizes["value_width"])

    def labels(self, queries, keys):
        """Which of the 2k + 1 vectors belongs to each pair, one-hot: positions (T,), (S,) -> (T, S, 2k + 1)."""
        clip = self.sizes["clip"]
        distance = ops.expand_dims(keys, 0) - ops.expand_dims(queries, 1)
        return ops.one_hot(ops.clip(distance, -clip, clip) + clip, 2 * clip + 1, dtype=self.compute_dtype)

    def scores(self, query, labels):
        """q_i . a^K_ij: scaled query (B, T, H, d_k) -> (B, H, T, S)."""
        keys = ops.broadcast_to(self.keys, (self.keys.shape[0], query.shape[2], self.keys.shape[2]))
        return ops.einsum("bhtr,tsr->bhts", ops.einsum("bthd,rhd->bhtr", query, keys), labels)

    def call(self, weights, labels):
        """sum_j alpha_ij a^V_ij: weights (B, H, T, S) -> (B, T, H, d_v)."""
        values = ops.broadcast_to(self.values, (self.values.shape[0], weights.shape[1], self.values.shape[2]))
        return ops.einsum("bhtr,rhd->bthd", ops.einsum("bhts,tsr->bhtr", weights, labels), values)

    def get_config(self):
        return {**super().get_config(), **self.sizes}
