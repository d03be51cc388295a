"""The decoder position of the pointer-generator, and the mixture that it writes from (See, Liu and Manning 2017)."""

import keras
from keras import ops

from zoo.layers.additive import AdditiveAttention
from zoo.layers.attentive_cells import AttentiveCell
from zoo.layers.recurrent import RecurrentStack

_LEAST = 1e-30  # probability of what cannot be written: its logarithm has to stay finite


@keras.saving.register_keras_serializable("zoo")
class PointerCell(AttentiveCell):
    """Reads the last token and the last context, attends, and weighs writing against copying.

        x_t = W_x [E y_{t-1}; h*_{t-1}] + b_x          s_t = LSTM(s_{t-1}, x_t)
        e_i^t = v . tanh(W_h h_i + W_s s_t + w_c c_i^t + b_attn)                                     (Eq. 1 and 11)
        a^t = softmax(e^t)          h*_t = sum_i a_i^t h_i                                           (Eq. 2 and 3)
        p_gen = sigmoid(w_h* . h*_t + w_s . s_t + w_x . x_t + b_ptr)                                 (Eq. 8)

    See et al. 2017, sections 2.1 to 2.3, where s_t stands for the LSTM's cell and output side by side; the joining of
    token and context in x_t is in their code and in their count of parameters (Bahdanau et al. 2015 have it in the
    gates). In a loop the cell gives [h_t; h*_t; p_gen; a^t].

    Args:
        units: n, of the LSTM.
        inputs: width of x_t.
        memory_width: of an annotation, 2n.
        coverage: whether there is a w_c.
    """

    extra = 2  # h*_{t-1} and c^t

    def __init__(self, units, inputs, memory_width, coverage=True, **kwargs):
        super().__init__(**kwargs)
        self.sizes = {"units": units, "inputs": inputs, "memory_width": memory_width, "coverage": coverage}
        self.coverage = coverage
        policy = {"dtype": self.dtype_policy}
        self.stack = RecurrentStack("lstm", units, name="recurrent", **policy)
        self.attention = AdditiveAttention(memory_width, coverage=coverage, name="attention", **policy)
        self.join = keras.layers.Dense(inputs, name="join", **policy)
        self.switch = keras.layers.Dense(1, activation="sigmoid", name="switch", **policy)
        self.output_size = units + memory_width + 1

    def build(self, shape):
        units, inputs, memory_width = (self.sizes[name] for name in ("units", "inputs", "memory_width"))
        self.stack.build((shape[0], None, inputs))
        self.attention.build((None, None, 2 * units), (None, None, memory_width))
        self.join.build((None, shape[-1] + memory_width))
        self.switch.build((None, memory_width + 2 * units + inputs))

    def advance(self, x, states, context, covered, memory, keys, mask):
        """One position: x (B, m), context (B, d), covered (B, S).

        Returns:
            (h_t (B, n), h*_t (B, d), p_gen (B, 1), states, weights (B, 1, S)).
        """
        x = self.join(ops.concatenate([x, context], axis=-1))
        hidden, states = self.stack.step(x, states)
        state = ops.concatenate([states[0][1], hidden], axis=-1)
        covered = ops.expand_dims(covered, 1) if self.coverage else None
        context, weights = self.attention(ops.expand_dims(state, 1), memory, keys=keys, mask=mask, coverage=covered)
        context = ops.squeeze(context, 1)
        return hidden, context, self.switch(ops.concatenate([context, state, x], axis=-1)), states, weights

    def call(self, x, states):
        layers, (context, covered), memory, keys, mask = self.unpack(states)
        hidden, context, generate, layers, weights = self.advance(x, layers, context, covered, memory, keys, mask)
        outputs = ops.concatenate([hidden, context, generate, weights[:, 0]], axis=-1)
        return outputs, self.pack(layers, [context, covered + weights[:, 0]], memory, keys, mask)

    def get_config(self):
        return {**super().get_config(), **self.sizes}


def mixture(logits, generate, weights, source, copies):
    """Log-probabilities of writing a word of the vocabulary or copying one of the source.

        P(w) = p_gen P_vocab(w) + (1 - p_gen) sum_{i: w_i = w} a_i^t                                       (Eq. 9)

    Args:
        logits: float32 (B, T, V), of P_vocab.
        generate: p_gen (B, T, 1).
        weights: a (B, T, S).
        source: (B, S) int ids below V + copies; V + k is the k-th word of this source that the vocabulary lacks.
        copies: how many such words a source may have.
    Returns:
        float32 (B, T, V + copies); softmax() of it is P. What can be neither written nor copied has log 1e-30.
    """
    batch, steps, length = ops.shape(weights)
    vocabulary = logits.shape[-1]
    written = ops.pad(generate * ops.softmax(logits), ((0, 0), (0, 0), (0, copies)))
    rows = ops.broadcast_to(ops.arange(batch)[:, None, None], (batch, steps, length))
    columns = ops.broadcast_to(ops.arange(steps)[None, :, None], (batch, steps, length))
    words = ops.broadcast_to(source[:, None, :], (batch, steps, length))
    where = ops.reshape(ops.stack([rows, columns, words], axis=-1), (-1, 3))
    shares = ops.reshape((1.0 - generate) * weights, (-1,))
    copied = ops.scatter(where, shares, (batch, steps, vocabulary + copies))  # sums where a word occurs twice
    return ops.log(ops.maximum(written + copied, _LEAST))
