"""Recurrent stacks and encoders: GRU and LSTM, one way or both."""

import keras
from keras import ops

from zoo.layers.masks import ExplicitMasks

CELLS = ("gru", "gated", "lstm")


@keras.saving.register_keras_serializable("zoo")
class GatedUnit(keras.layers.Layer):
    """The gated hidden unit, one position: the GRU as its authors print it.

        z = sigmoid(W_z x + U_z h)          r = sigmoid(W_r x + U_r h)
        h~ = tanh(W x + U [r * h])          h' = (1 - z) * h + z * h~

    Bahdanau et al. 2015, appendices A.1.1 and A.2.1 (and, with z and 1 - z exchanged, Cho et al. 2014). The bias of
    each gate, which the paper leaves out of its equations, is here. A cell for `keras.layers.RNN`.

    Args:
        units: n.
    """

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = units

    def build(self, shape):
        n = self.units
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1], 3 * n), initializer="glorot_uniform")
        self.recurrent_kernel = self.add_weight(name="recurrent_kernel", shape=(n, 3 * n), initializer="orthogonal")
        self.bias = self.add_weight(name="bias", shape=(3 * n,), initializer="zeros")

    def call(self, x, states):
        """x (B, d), states [h (B, n)] -> (h' (B, n), [h'])."""
        (state,), n = states, self.units
        inputs = ops.matmul(x, self.kernel) + self.bias
        gates = ops.sigmoid(inputs[:, : 2 * n] + ops.matmul(state, self.recurrent_kernel[:, : 2 * n]))
        update, reset = gates[:, :n], gates[:, n:]
        candidate = ops.tanh(inputs[:, 2 * n :] + ops.matmul(reset * state, self.recurrent_kernel[:, 2 * n :]))
        state = state + update * (candidate - state)
        return state, [state]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def state_count(cell):
    """How many states (B, n) a layer of that cell has."""
    return 2 if cell == "lstm" else 1


def recurrent_layer(cell, units, **kwargs):
    """A recurrent layer that returns all outputs and its last state.

    - "gated": `GatedUnit`, as Bahdanau et al. 2015 print it.
    - "gru": `keras.layers.GRU` with the reset before the matrix product (`reset_after=False`) like the paper's, but z
      keeps the old state where the paper's takes the new one: h' = z * h + (1 - z) * h~. The same family of functions,
      with the sign of z's weights turned (negate them when importing). Keras's default, `reset_after=True`, is another
      function; it is the one that cuDNN has, so a GRU here does not use cuDNN.
    - "lstm": `keras.layers.LSTM`.

    Raises:
        ValueError: a cell of another name.
    """
    if cell not in CELLS:
        raise ValueError(f"cell={cell!r}: must be one of {', '.join(map(repr, CELLS))}")
    kwargs = {"return_sequences": True, "return_state": True, **kwargs}
    if cell == "gated":
        return keras.layers.RNN(GatedUnit(units, name="cell", dtype=kwargs.get("dtype")), **kwargs)
    if cell == "gru":
        return keras.layers.GRU(units, reset_after=False, **kwargs)
    return keras.layers.LSTM(units, **kwargs)


@keras.saving.register_keras_serializable("zoo")
class RecurrentStack(ExplicitMasks):
    """Layers of GRU or LSTM on top of one another, run over a whole sequence or one position at a time.

    Args:
        cell: "gru", "gated" or "lstm" (see `recurrent_layer`).
        units: n, the width of every layer.
        depth: number of layers.
    """

    def __init__(self, cell, units, depth=1, **kwargs):
        super().__init__(**kwargs)
        self.cell = cell
        self.units = units
        self.depth = depth
        self.stack = [recurrent_layer(cell, units, name=f"layer_{i}", dtype=self.dtype_policy) for i in range(depth)]

    def build(self, shape):
        for layer in self.stack:
            layer.build(shape)
            shape = (*shape[:-1], self.units)

    def call(self, x, states=None, mask=None):
        """Runs the stack over x (B, T, d).

        Args:
            states: a list with each layer's states (a list of (B, n): one for GRU, two for LSTM); None = zeros.
            mask: (B, T) bool; a position where it is False leaves the state as it is.
        Returns:
            (outputs (B, T, n), 0 where the mask is False; states after the last real position, in the same structure).
        """
        after = []
        for layer, state in zip(self.stack, states or [None] * self.depth, strict=True):
            x, *state = layer(x, initial_state=state, mask=mask)
            after.append(state)
        # Keras repeats the last output on padding; zeros cannot be taken for annotations.
        return (x if mask is None else ops.where(mask[:, :, None], x, ops.zeros((), x.dtype))), after

    def step(self, x, states):
        """One position: x (B, d) -> (output (B, n), states)."""
        after = []
        for layer, state in zip(self.stack, states, strict=True):
            x, state = layer.cell(x, state)
            after.append(list(state))
        return x, after

    def get_config(self):
        return {**super().get_config(), "cell": self.cell, "units": self.units, "depth": self.depth}


@keras.saving.register_keras_serializable("zoo")
class BidirectionalEncoder(ExplicitMasks):
    """Reads a source both ways and joins the two states of each position.

        h_j = [forward h_j; backward h_j]

    Bahdanau et al. 2015, section 3.2 and appendix A.2.1 (Eq. 7); both directions start from zero states.

    Args:
        cell: "gru", "gated" or "lstm" (see `recurrent_layer`).
        units: n of each direction.
    """

    def __init__(self, cell, units, **kwargs):
        super().__init__(**kwargs)
        self.cell = cell
        self.units = units
        self.ahead = recurrent_layer(cell, units, name="forward", dtype=self.dtype_policy)
        self.back = recurrent_layer(cell, units, go_backwards=True, name="backward", dtype=self.dtype_policy)

    def build(self, shape):
        self.ahead.build(shape)
        self.back.build(shape)

    def call(self, x, mask=None):
        """Encodes x (B, S, d) with mask (B, S) bool.

        Returns:
            (annotations (B, S, 2n), forward states at the last real position, backward states at the first one); states
            are lists of (B, n), as many as the cell has. Annotations of padding are not zero: hide them with the mask.
        """
        ahead, *last = self.ahead(x, mask=mask)
        back, *first = self.back(x, mask=mask)
        return ops.concatenate([ahead, ops.flip(back, axis=1)], axis=-1), last, first

    def get_config(self):
        return {**super().get_config(), "cell": self.cell, "units": self.units}
