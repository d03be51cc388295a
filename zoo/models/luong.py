"""Luong's attention models (Luong, Pham and Manning 2015)."""

import keras
from keras import ops

from zoo.layers.attentive_cells import LuongCell
from zoo.layers.embeddings import TokenEmbedding
from zoo.layers.masks import padding_mask
from zoo.layers.recurrent import RecurrentStack
from zoo.layers.tap import emit
from zoo.models.base import Generator


@keras.saving.register_keras_serializable("zoo")
class LuongSeq2Seq(Generator):
    """Stacked recurrent encoder and decoder with attention from the current top state.

        a_t = align(h_t, h_s);   c_t = sum_s a_t(s) h_s          h~_t = tanh(W_c [c_t; h_t])     (Eq. 5)
        p(y_t) = softmax(W_s h~_t)                                                               (Eq. 6)

    Luong et al. 2015, sections 3 to 3.2. The decoder starts from the encoder's last states, layer by layer. Without
    input feeding nothing of the attention goes back into the recurrence, so the whole target is attended from in one
    product; with it (section 3.3), h~_{t-1} joins the next input and the decoder runs in a loop.

    Row t of the attention map belongs to the prediction of y_t, made after reading y_{t-1}; the content scores often
    align that input word (footnote 14).

    Args:
        source_vocab, target_vocab: numbers of tokens.
        embedding: width of a token's vector.
        width: n, units of each layer.
        depth: layers of encoder and decoder.
        cell: "lstm" (the paper's), "gru" or "gated" (see `recurrent_layer`).
        score: "dot", "general", "concat" or "location".
        local: None (global attention), "m" (monotonic) or "p" (predictive local attention).
        window: D of local attention, in tokens on each side.
        input_feeding: whether h~_{t-1} enters the first decoder layer.
        max_source: longest source, for score="location".
        initialization: "paper", all weights and biases from U[-0.1, 0.1] (section 4.1), or "glorot", Keras's.
        dropout: rate on embeddings and on h~_t (the paper also drops between layers).
    """

    def __init__(self, **fields):
        super().__init__(**fields)
        fields, policy = self.fields, {"dtype": self.dtype_policy}
        cell, width, depth = fields["cell"], fields["width"], fields["depth"]
        self.source_embedding = TokenEmbedding(fields["source_vocab"], fields["embedding"], scaled=False, **policy)
        self.target_embedding = TokenEmbedding(fields["target_vocab"], fields["embedding"], scaled=False, **policy)
        self.encoder = RecurrentStack(cell, width, depth, name="encoder", **policy)
        attention = {name: fields[name] for name in ("score", "max_source", "local", "window")}
        # local-m counts positions in its loop, and bfloat16 counts to 256.
        inner = {"dtype": "float32"} if fields["local"] == "m" else policy
        cell = LuongCell(cell, width, depth, attention, fields["input_feeding"], name="decoder", **inner)
        self.decoder = keras.layers.RNN(cell, return_sequences=True, name="decoder_loop", **inner)
        self.dropout = keras.layers.Dropout(fields["dropout"], **policy)
        self.output_projection = keras.layers.Dense(
            fields["target_vocab"], use_bias=False, name="output", dtype="float32"
        )

    @property
    def limits(self):
        return {"source": self.fields["max_source"]} if self.fields["score"] == "location" else {}

    def build(self, input_shape=None):
        embedded = (None, None, self.fields["embedding"])
        self.source_embedding.build()
        self.target_embedding.build()
        self.encoder.build(embedded)
        self.decoder.build(embedded)
        self.output_projection.build((None, self.fields["width"]))
        if self.fields["initialization"] == "paper":
            self.initialize([("", keras.initializers.RandomUniform(-0.1, 0.1))])

    def encode(self, source, training=None):
        mask = padding_mask(source)
        embedded = self.dropout(self.source_embedding(source), training=training)
        outputs, states = self.encoder(embedded, mask=mask)
        keys = self.decoder.cell.attention.keys(outputs)
        return {"outputs": outputs, "keys": keys, "mask": mask, "states": states}

    def decode(self, target, memory, training=None):
        cell, states = self.decoder.cell, memory["states"]
        constants = memory["outputs"], memory["keys"], memory["mask"]
        embedded = self.dropout(self.target_embedding(target), training=training)
        if self.fields["input_feeding"]:
            start = cell.pack(states, cell.first(states), *constants)
            hidden = self.decoder(embedded, initial_state=start)
        else:
            hidden, _ = cell.stack(embedded, states=states)
        # In the loop h~ was computed from these h one by one; all at once costs little and serves both forms.
        attentional, weights = cell.attend(hidden, *constants)
        emit("decoder/0/cross", ops.expand_dims(weights, 1))
        return self.output_projection(self.dropout(attentional, training=training))

    def initial_cache(self, memory, batch, max_length):
        states = self.decoder.cell.own(memory["states"])
        return {"states": states, "fed": self.decoder.cell.first(states)[0]}

    def step(self, token, index, memory, cache):
        embedded = self.target_embedding(token)
        constants = memory["outputs"], memory["keys"], memory["mask"]
        fed, _, states, weights = self.decoder.cell.advance(embedded, cache["states"], cache["fed"], index, *constants)
        return self.output_projection(fed), {"states": states, "fed": fed}, weights
