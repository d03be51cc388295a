"""RNNsearch: the encoder-decoder that learns to align (Bahdanau, Cho and Bengio 2015)."""

import keras
from keras import ops

from zoo.layers.attentive_cells import BahdanauCell
from zoo.layers.embeddings import TokenEmbedding
from zoo.layers.masks import padding_mask
from zoo.layers.recurrent import BidirectionalEncoder
from zoo.layers.tap import emit, listening
from zoo.models.base import EncoderDecoder


@keras.saving.register_keras_serializable("zoo")
class BahdanauSeq2Seq(EncoderDecoder):
    """A bidirectional encoder, and a decoder that attends with its previous state before it moves.

        h_j = [forward h_j; backward h_j]                        (Eq. 7)
        s_0 = tanh(W_s backward h_1)                             (A.2.2)
        alpha_ij from s_{i-1}, h_j;   c_i = sum_j alpha_ij h_j   (Eq. 5, 6)
        s_i = f(s_{i-1}, y_{i-1}, c_i)
        t~_i = U_o s_i + V_o E y_{i-1} + C_o c_i;   t_i = pairwise maximum of t~_i;   p(y_i) ~ exp(y_i . W_o t_i)

    Bahdanau et al. 2015. The text conditions y_i on s_i (Eq. 4) where the appendix prints s_{i-1} in t~; this is the
    text's form. All biases that the paper leaves out of its equations are here. The GRU's gate z has Keras's sign (see
    `zoo.layers.recurrent.recurrent_layer`), and initial values are Keras's, not those of appendix B.1.

    Row i of the attention map belongs to the target token y_i that is predicted from it.

    Args:
        source_vocab, target_vocab: numbers of tokens.
        embedding: m, width of a token's vector.
        width: n, units of each direction and of the decoder.
        alignment: n', width of the alignment model.
        maxout: l, width of the output's hidden layer after the maximum over pairs.
        cell: "gru" (the paper's) or "lstm".
        dropout: rate on embeddings and on t_i (the paper has none).
    """

    def __init__(self, source_vocab, target_vocab, embedding, width, alignment, maxout, cell, dropout, **kwargs):
        fields = {"source_vocab": source_vocab, "target_vocab": target_vocab, "embedding": embedding}
        sizes = {"width": width, "alignment": alignment, "maxout": maxout, "cell": cell, "dropout": dropout}
        super().__init__({**fields, **sizes}, **kwargs)
        policy = {"dtype": self.dtype_policy}
        self.source_embedding = TokenEmbedding(source_vocab, embedding, scaled=False, **policy)
        self.target_embedding = TokenEmbedding(target_vocab, embedding, scaled=False, **policy)
        self.encoder = BidirectionalEncoder(cell, width, name="encoder", **policy)
        self.first_state = keras.layers.Dense(width, activation="tanh", name="first_state", **policy)  # W_s
        cell = BahdanauCell(cell, width, alignment, 2 * width, name="decoder", **policy)
        self.decoder = keras.layers.RNN(cell, return_sequences=True, name="decoder_loop", **policy)
        self.dropout = keras.layers.Dropout(dropout, **policy)
        self.hidden = keras.layers.Dense(2 * maxout, name="maxout", **policy)  # U_o, V_o and C_o side by side
        self.output_projection = keras.layers.Dense(target_vocab, name="output", dtype="float32")  # W_o

    def build(self, input_shape=None):
        embedding, width, maxout = (self.fields[name] for name in ("embedding", "width", "maxout"))
        self.source_embedding.build()
        self.target_embedding.build()
        self.encoder.build((None, None, embedding))
        self.first_state.build((None, width))
        self.decoder.build((None, None, embedding))
        self.hidden.build((None, 3 * width + embedding))
        self.output_projection.build((None, maxout))

    def encode(self, source, training=None):
        mask = padding_mask(source)
        embedded = self.dropout(self.source_embedding(source), training=training)
        annotations, backward_first = self.encoder(embedded, mask=mask)
        state = self.first_state(backward_first)
        # An LSTM's memory cell starts at zero: the paper says nothing of one.
        states = [state] if self.fields["cell"] == "gru" else [state, ops.zeros_like(state)]
        keys = self.decoder.cell.attention.keys(annotations)
        return {"annotations": annotations, "keys": keys, "mask": mask, "states": [states]}

    def decode(self, target, memory, training=None):
        cell, width = self.decoder.cell, self.fields["width"]
        constants = memory["annotations"], memory["keys"], memory["mask"]
        embedded = self.dropout(self.target_embedding(target), training=training)
        outputs = self.decoder(embedded, initial_state=cell.pack(memory["states"], *constants))
        states, contexts = outputs[..., :width], outputs[..., width:]
        if listening():  # the same scores as in the loop, for all positions in one product
            first = ops.expand_dims(memory["states"][0][0], 1)
            previous = ops.concatenate([first, states[:, :-1]], axis=1)
            _, weights = cell.attention(previous, *constants[:1], keys=constants[1], mask=constants[2])
            emit("decoder/0/cross", ops.expand_dims(weights, 1))
        return self._logits(states, embedded, contexts, training)

    def initial_cache(self, memory, batch, max_length):
        return memory["states"]

    def step(self, token, index, memory, cache):
        embedded = self.target_embedding(token)
        constants = memory["annotations"], memory["keys"], memory["mask"]
        state, context, cache, weights = self.decoder.cell.advance(embedded, cache, *constants)
        return self._logits(state, embedded, context), cache, weights

    def _logits(self, state, embedded, context, training=None):
        hidden = self.hidden(ops.concatenate([state, embedded, context], axis=-1))
        # A ReLU-free maximum over pairs: (..., 2l) -> (..., l, 2) -> (..., l).
        pairs = ops.reshape(hidden, (*ops.shape(hidden)[:-1], self.fields["maxout"], 2))
        return self.output_projection(self.dropout(ops.max(pairs, axis=-1), training=training))
