"""Positions: sinusoids (Vaswani et al. 3.5) and learned tables."""

import math

import keras
from keras import ops

from zoo.layers.relations import positions_from

LAYOUTS = ("interleaved", "halves")


@keras.saving.register_keras_serializable("zoo")
class SinusoidalPositions(keras.layers.Layer):
    """Adds sinusoids of geometrically growing wavelength to token embeddings.

        PE(p, 2i) = sin(p / 10000^(2i/d))        PE(p, 2i+1) = cos(p / 10000^(2i/d))

    Vaswani et al. 2017, section 3.5. `layout="halves"` gives the same columns with all sines first (the layout of
    Tensor2Tensor's ports): no difference to a model trained from scratch, all the difference to imported weights.
    An odd width has one sine more than cosines. There is no longest length. The angles are float32 under every dtype
    policy (float16 cannot tell position 2048 from 2049); the sum is in the compute type.

    Args:
        layout: "interleaved" (the paper's) or "halves".
    Raises:
        ValueError: a layout of another name.
    """

    def __init__(self, layout="interleaved", **kwargs):
        super().__init__(**kwargs)
        if layout not in LAYOUTS:
            raise ValueError(f"layout={layout!r}: must be one of {', '.join(map(repr, LAYOUTS))}")
        self.layout = layout

    def encodings(self, positions, width):
        """Returns the float32 encodings (..., width) of integer positions (...)."""
        sines = math.ceil(width / 2)
        exponents = ops.arange(sines, dtype="float32") * (-2.0 * math.log(10000.0) / width)
        angles = ops.expand_dims(ops.cast(positions, "float32"), -1) * ops.exp(exponents)
        sin, cos = ops.sin(angles), ops.cos(angles)
        if self.layout == "halves":
            return ops.concatenate([sin, cos[..., : width - sines]], axis=-1)
        pairs = ops.stack([sin, cos], axis=-1)
        return ops.reshape(pairs, (*ops.shape(angles)[:-1], 2 * sines))[..., :width]

    def call(self, embedded, start=0):
        """Adds positions start, start + 1, ... to embedded (B, T, d); `start`: a number, or (B,), one for each row."""
        positions = positions_from(start, ops.shape(embedded)[1])
        return embedded + ops.cast(self.encodings(positions, embedded.shape[-1]), embedded.dtype)

    def compute_output_shape(self, shape, start=0):
        return shape

    def get_config(self):
        return {**super().get_config(), "layout": self.layout}


@keras.saving.register_keras_serializable("zoo")
class LearnedPositions(keras.layers.Layer):
    """Adds a learned vector for each position: x_p + P_p (Gehring et al. 2017; Vaswani et al., Table 3 row E).

    Args:
        max_length: number of positions in the table; a longer input is refused, never clamped: a position past the
            table that shows up only while a graph runs gives NaN.
    Raises:
        ValueError: on a call with a static length past the table.
    """

    def __init__(self, max_length, **kwargs):
        super().__init__(**kwargs)
        self.max_length = max_length

    def build(self, shape):
        self.table = self.add_weight(
            name="table", shape=(self.max_length, shape[-1]), initializer=keras.initializers.RandomNormal(stddev=0.02)
        )

    def call(self, embedded, start=0):
        """Adds rows start, start + 1, ... to embedded (B, T, d); `start`: a number, or (B,), one for each row."""
        self.check(embedded.shape[1])
        positions = positions_from(start, ops.shape(embedded)[1])
        rows = ops.take(self.table, ops.minimum(positions, self.max_length - 1), axis=0)
        # A length that only the running graph knows cannot be refused here; it must not pass for the last row.
        rows = ops.where(ops.expand_dims(positions < self.max_length, -1), rows, float("nan"))
        return embedded + ops.cast(rows, embedded.dtype)

    def check(self, length):
        """Refuses a length that the table cannot serve (None, a length not known yet, passes)."""
        if length is not None and length > self.max_length:
            raise ValueError(
                f"length {length} is past the {self.max_length} learned positions: "
                f"shorten the input or build with max_length>={length}"
            )

    def compute_output_shape(self, shape, start=0):
        return shape

    def get_config(self):
        return {**super().get_config(), "max_length": self.max_length}
