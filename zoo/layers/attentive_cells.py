"""Recurrent cells that attend: one decoder position of Bahdanau's and of Luong's model.

`keras.layers.RNN` runs a cell over a target. It has no argument for constants, so memory, keys and mask travel at the
end of the state, unchanged; the gradient of TensorFlow's loop recognises them as invariants and stores them once.
"""

import keras
from keras import ops

from zoo.layers.additive import AdditiveAttention
from zoo.layers.multiplicative import MultiplicativeAttention
from zoo.layers.recurrent import RecurrentStack, state_count

_CONSTANTS = 3  # memory, keys, mask


class AttentiveCell(keras.layers.Layer):
    """A cell over `states = [the stack's..., extra..., memory (B, S, d), keys (B, S, k), mask (B, S) as 0 and 1]`.

    A subclass has `stack` (a `RecurrentStack`), `attention`, `advance`, and says how many `extra` states it keeps.
    """

    extra = 0

    @property
    def state_size(self):
        return [self.stack.units] * (self.stack.depth * state_count(self.stack.cell) + self.extra + _CONSTANTS)

    def own(self, states):
        """Each layer's states in the type that the cell computes in: some cells keep to float32."""
        return [[ops.cast(state, self.compute_dtype) for state in layer] for layer in states]

    def pack(self, states, extra, memory, keys, mask):
        """The states of the loop, flat: each layer's, the cell's own, then the constants."""
        return [*(s for layer in states for s in layer), *extra, memory, keys, ops.cast(mask, self.compute_dtype)]

    def unpack(self, states):
        """The inverse of `pack`, with a boolean mask: (layers, extra, memory, keys, mask)."""
        *own, memory, keys, mask = states
        per_layer = state_count(self.stack.cell)
        layers, extra = own[: self.stack.depth * per_layer], own[self.stack.depth * per_layer :]
        layers = [layers[i : i + per_layer] for i in range(0, len(layers), per_layer)]
        return layers, extra, memory, keys, mask > 0.5


@keras.saving.register_keras_serializable("zoo")
class BahdanauCell(AttentiveCell):
    """Attends with the previous state, then updates it with the context.

        c_i = sum_j alpha_ij h_j, alpha_ij from s_{i-1} and h_j          s_i = f(s_{i-1}, [E y_{i-1}; c_i])

    Bahdanau et al. 2015, section 3.1 and appendix A.2.2: c_i enters the candidate and both gates (C, C_z, C_r), which
    is what a cell over the joined input [E y; c] does.

    In a loop it gives [s_i; c_i], and with coverage [s_i; c_i; alpha_i], since those weights cannot be made again from
    the states alone.

    Args:
        cell: "gated" (the paper's), "gru" or "lstm" (see `recurrent_layer`).
        units: n.
        alignment: n', the width of the alignment model.
        memory_width: of an annotation, 2n for a bidirectional encoder.
        coverage: whether the scores see the sum of the weights so far (see `AdditiveAttention`).
    """

    def __init__(self, cell, units, alignment, memory_width, coverage=False, **kwargs):
        super().__init__(**kwargs)
        self.sizes = {"cell": cell, "units": units, "alignment": alignment, "memory_width": memory_width}
        self.coverage = coverage
        self.extra = int(coverage)
        self.stack = RecurrentStack(cell, units, name="recurrent", dtype=self.dtype_policy)
        self.attention = AdditiveAttention(alignment, coverage=coverage, name="attention", dtype=self.dtype_policy)
        self.output_size = units + memory_width

    def build(self, shape):
        self.attention.build((None, None, self.stack.units), (None, None, self.sizes["memory_width"]))
        self.stack.build((shape[0], None, shape[-1] + self.sizes["memory_width"]))

    def advance(self, x, states, covered, memory, keys, mask):
        """One position: x (B, m), covered (B, S) or None -> (s_i (B, n), c_i (B, d), states, weights (B, 1, S))."""
        query = ops.expand_dims(states[0][0], 1)
        covered = None if covered is None else ops.expand_dims(covered, 1)
        context, weights = self.attention(query, memory, keys=keys, mask=mask, coverage=covered)
        context = ops.squeeze(context, 1)
        state, states = self.stack.step(ops.concatenate([x, context], axis=-1), states)
        return state, context, states, weights

    def call(self, x, states):
        layers, extra, memory, keys, mask = self.unpack(states)
        covered = extra[0] if self.coverage else None
        state, context, layers, weights = self.advance(x, layers, covered, memory, keys, mask)
        outputs = [state, context]
        if self.coverage:
            outputs, extra = [*outputs, weights[:, 0]], [covered + weights[:, 0]]
        return ops.concatenate(outputs, axis=-1), self.pack(layers, extra, memory, keys, mask)

    def get_config(self):
        return {**super().get_config(), **self.sizes, "coverage": self.coverage}


@keras.saving.register_keras_serializable("zoo")
class LuongCell(AttentiveCell):
    """Updates the state, then attends with it, and joins both in the attentional state.

        h_t = stack(x_t) or stack([x_t; h~_{t-1}])          h~_t = tanh(W_c [c_t; h_t])

    Luong et al. 2015, Eq. 5 and section 3.3 (input feeding, the second form of h_t).

    Args:
        cell, units, depth: of the stack.
        attention: options of the attention (see `MultiplicativeAttention`).
        feeding: whether h~_{t-1} enters the stack; then, and only then, the cell has to run in a loop.
    """

    extra = 2  # h~_{t-1} and t

    def __init__(self, cell, units, depth=1, attention=None, feeding=False, **kwargs):
        super().__init__(**kwargs)
        self.sizes = {"cell": cell, "units": units, "depth": depth, "attention": dict(attention or {})}
        self.feeding = feeding
        self.stack = RecurrentStack(cell, units, depth, name="recurrent", dtype=self.dtype_policy)
        self.attention = MultiplicativeAttention(
            **self.sizes["attention"], units=units, name="attention", dtype=self.dtype_policy
        )
        self.combine = keras.layers.Dense(
            units, activation="tanh", use_bias=False, name="combine", dtype=self.dtype_policy
        )
        self.output_size = units

    def build(self, shape):
        units = self.stack.units
        self.stack.build((shape[0], None, shape[-1] + (units if self.feeding else 0)))
        self.attention.build((None, None, units), (None, None, units))
        self.combine.build((None, 2 * units))

    def first(self, states):
        """The cell's own states before the first position: h~_0 = 0 and t = 0."""
        nothing = ops.zeros_like(states[-1][0])
        return [nothing, nothing[:, 0]]

    def attend(self, hidden, memory, keys, mask, start=0):
        """hidden h (B, T, n) -> (attentional states h~ (B, T, n), weights (B, T, S)), all positions at once."""
        context, weights = self.attention(hidden, memory, keys=keys, mask=mask, start=start)
        return self.combine(ops.concatenate([context, hidden], axis=-1)), weights

    def advance(self, x, states, fed, position, memory, keys, mask):
        """One position t: x (B, m), fed h~_{t-1} (B, n) -> (h~_t, h_t, states, weights (B, 1, S))."""
        x = ops.concatenate([x, fed], axis=-1) if self.feeding else x
        hidden, states = self.stack.step(x, states)
        attentional, weights = self.attend(ops.expand_dims(hidden, 1), memory, keys, mask, position)
        return ops.squeeze(attentional, 1), hidden, states, weights

    def call(self, x, states):
        layers, (fed, position), memory, keys, mask = self.unpack(states)
        # The loop keeps its states in the compute type, which has to be one that can count (see LuongSeq2Seq).
        fed, hidden, layers, _ = self.advance(x, layers, fed, ops.cast(position, "int32"), memory, keys, mask)
        return hidden, self.pack(layers, [fed, position + 1], memory, keys, mask)

    def get_config(self):
        return {**super().get_config(), **self.sizes, "feeding": self.feeding}
