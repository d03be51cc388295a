"""RNNsearch: the encoder-decoder that learns to align (Bahdanau, Cho and Bengio 2015)."""

import keras
from keras import ops

from zoo.layers.attentive_cells import BahdanauCell
from zoo.layers.coverage import coverage_loss
from zoo.layers.embeddings import TokenEmbedding
from zoo.layers.masks import padding_mask
from zoo.layers.recurrent import BidirectionalEncoder, state_count
from zoo.layers.tap import emit, listening
from zoo.models.base import Generator


@keras.saving.register_keras_serializable("zoo")
class BahdanauSeq2Seq(Generator):
    """A bidirectional encoder, and a decoder that attends with its previous state before it moves.

        h_j = [forward h_j; backward h_j]                        (Eq. 7)
        s_0 = tanh(W_s backward h_1)                             (A.2.2)
        alpha_ij from s_{i-1}, h_j;   c_i = sum_j alpha_ij h_j   (Eq. 5, 6)
        s_i = f(s_{i-1}, y_{i-1}, c_i)
        t~_i = U_o s_i + V_o E y_{i-1} + C_o c_i;   t_i = pairwise maximum of t~_i;   p(y_i) ~ exp(y_i . W_o t_i)

    Bahdanau et al. 2015. The text conditions y_i on s_i (Eq. 4) where the appendix prints s_{i-1} in t~:
    `output_state` chooses. All biases that the paper leaves out of its equations are here.

    With `coverage` the scores also see the weights of the positions before (See et al. 2017, Eq. 10 and 11), and the
    model adds `coverage_weight` times the coverage loss (Eq. 12), averaged over real target tokens (of each replica,
    then over replicas), to the loss that it is compiled with. Its decoder is float32 under every dtype policy: sums of
    small weights need it.

    Row i of the attention map belongs to the target token y_i that is predicted from it.

    Args:
        source_vocab, target_vocab: numbers of tokens.
        embedding: m, width of a token's vector.
        width: n, units of each direction and of the decoder.
        alignment: n', width of the alignment model.
        maxout: l, width of the output's hidden layer after the maximum over pairs.
        cell: "gated" (the paper's), "gru" or "lstm" (see `recurrent_layer`).
        output_state: "current", s_i, or "previous", s_{i-1}.
        initialization: "paper", appendix B.1 (attention then starts exactly uniform), or "glorot", Keras's.
        coverage, coverage_weight: see above; lambda, the paper's 1.
        dropout: rate on embeddings and on t_i (the paper has none).
    """

    def __init__(self, **fields):
        super().__init__(**fields)
        fields, policy = self.fields, {"dtype": self.dtype_policy}
        cell, width, embedding = fields["cell"], fields["width"], fields["embedding"]
        self.source_embedding = TokenEmbedding(fields["source_vocab"], embedding, scaled=False, **policy)
        self.target_embedding = TokenEmbedding(fields["target_vocab"], embedding, scaled=False, **policy)
        self.encoder = BidirectionalEncoder(cell, width, name="encoder", **policy)
        self.first_state = keras.layers.Dense(width, activation="tanh", name="first_state", **policy)  # W_s
        inner = {"dtype": "float32"} if fields["coverage"] else policy
        cell = BahdanauCell(cell, width, fields["alignment"], 2 * width, fields["coverage"], name="decoder", **inner)
        self.decoder = keras.layers.RNN(cell, return_sequences=True, name="decoder_loop", **inner)
        self.dropout = keras.layers.Dropout(fields["dropout"], **policy)
        self.hidden = keras.layers.Dense(2 * fields["maxout"], name="maxout", **policy)  # U_o, V_o and C_o side by side
        self.output_projection = keras.layers.Dense(fields["target_vocab"], name="output", dtype="float32")  # W_o

    def build(self, input_shape=None):
        embedding, width, maxout = (self.fields[name] for name in ("embedding", "width", "maxout"))
        self.source_embedding.build()
        self.target_embedding.build()
        self.encoder.build((None, None, embedding))
        self.first_state.build((None, width))
        self.decoder.build((None, None, embedding))
        self.hidden.build((None, 3 * width + embedding))
        self.output_projection.build((None, maxout))
        if self.fields["initialization"] == "paper":
            normal = keras.initializers.RandomNormal
            tiny = normal(stddev=0.001)
            attention = [("attention/energy/kernel", keras.initializers.Zeros())]
            attention += [("attention/query/kernel", tiny), ("attention/key/kernel", tiny)]
            self.initialize([*attention, ("recurrent_kernel", _orthogonal), ("bias", None), ("", normal(stddev=0.01))])

    def encode(self, source, training=None):
        mask = padding_mask(source)
        embedded = self.dropout(self.source_embedding(source), training=training)
        annotations, _, (backward_first, *_) = self.encoder(embedded, mask=mask)
        state = self.first_state(backward_first)
        # An LSTM's memory cell starts at zero: the paper says nothing of one.
        states = [state, ops.zeros_like(state)][: state_count(self.fields["cell"])]
        keys = self.decoder.cell.attention.keys(annotations)
        return {"annotations": annotations, "keys": keys, "mask": mask, "states": [states]}

    def decode(self, target, memory, training=None):
        cell, width = self.decoder.cell, self.fields["width"]
        constants = memory["annotations"], memory["keys"], memory["mask"]
        covered = [self._uncovered(memory)] if self.fields["coverage"] else []
        embedded = self.dropout(self.target_embedding(target), training=training)
        outputs = self.decoder(embedded, initial_state=cell.pack(memory["states"], covered, *constants))
        states, contexts, weights = outputs[..., :width], outputs[..., width : 3 * width], outputs[..., 3 * width :]
        first = ops.expand_dims(ops.cast(memory["states"][0][0], states.dtype), 1)
        previous = ops.concatenate([first, states[:, :-1]], axis=1)
        if self.fields["coverage"]:
            self.add_loss(self.fields["coverage_weight"] * coverage_loss(weights, padding_mask(target)))
        elif listening():  # the same scores as in the loop, for all positions in one product
            _, weights = cell.attention(previous, *constants[:1], keys=constants[1], mask=constants[2])
        emit("decoder/0/cross", ops.expand_dims(weights, 1))
        states = states if self.fields["output_state"] == "current" else previous
        return self._logits(states, embedded, contexts, training)

    def initial_cache(self, memory, batch, max_length):
        cache = {"states": self.decoder.cell.own(memory["states"])}
        return {**cache, "covered": self._uncovered(memory)} if self.fields["coverage"] else cache

    def step(self, token, index, memory, cache):
        embedded, covered = self.target_embedding(token), cache.get("covered")
        constants = memory["annotations"], memory["keys"], memory["mask"]
        state, context, states, weights = self.decoder.cell.advance(embedded, cache["states"], covered, *constants)
        seen = state if self.fields["output_state"] == "current" else cache["states"][0][0]
        cache = {"states": states} if covered is None else {"states": states, "covered": covered + weights[:, 0]}
        return self._logits(seen, embedded, context), cache, weights

    def _uncovered(self, memory):
        return ops.zeros_like(memory["mask"], dtype="float32")

    def _logits(self, state, embedded, context, training=None):
        state, context = (ops.cast(x, embedded.dtype) for x in (state, context))
        hidden = self.hidden(ops.concatenate([state, embedded, context], axis=-1))
        # A ReLU-free maximum over pairs: (..., 2l) -> (..., l, 2) -> (..., l).
        pairs = ops.reshape(hidden, (*ops.shape(hidden)[:-1], self.fields["maxout"], 2))
        return self.output_projection(self.dropout(ops.max(pairs, axis=-1), training=training))


def _orthogonal(shape, dtype=None):
    """B.1: each gate's recurrent matrix (n, n) is orthogonal by itself; (n, gates x n) holds them side by side."""
    units, columns = shape
    gates = [keras.initializers.Orthogonal()((units, units), dtype=dtype) for _ in range(columns // units)]
    return ops.concatenate(gates, axis=1)
