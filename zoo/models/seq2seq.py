"""Encoder-decoder without attention: the fixed-vector bottleneck."""

import keras
from keras import ops

from zoo.layers.embeddings import TokenEmbedding
from zoo.layers.masks import padding_mask
from zoo.layers.recurrent import RecurrentStack
from zoo.models.base import Generator


@keras.saving.register_keras_serializable("zoo")
class Seq2Seq(Generator):
    """Encodes the source into one vector, and decodes from nothing else.

        c = h_T          s_0 = c          s_t = f(s_{t-1}, E y_{t-1})          p(y_t) = softmax(W_o s_t + b_o)

    Cho et al. 2014; Sutskever et al. 2014; the RNNencdec baseline of Bahdanau et al. 2015. h_T is the state at the
    last real token. With several layers, each decoder layer starts from the encoder layer at its height (Sutskever).
    Deviation: logits are a linear function of s_t; the baseline's maxout output layer is Bahdanau's model's.

    Args:
        source_vocab, target_vocab: numbers of tokens.
        embedding: m, width of a token's vector.
        width: n, units of each layer.
        depth: layers of encoder and decoder.
        cell: "gru", "gated" or "lstm" (see `recurrent_layer`).
        dropout: rate on embeddings and on the decoder's outputs (Zaremba et al. 2014: never on the recurrence).
    """

    def __init__(self, **fields):
        super().__init__(**fields)
        fields, policy = self.fields, {"dtype": self.dtype_policy}
        cell, width, depth = fields["cell"], fields["width"], fields["depth"]
        self.source_embedding = TokenEmbedding(fields["source_vocab"], fields["embedding"], scaled=False, **policy)
        self.target_embedding = TokenEmbedding(fields["target_vocab"], fields["embedding"], scaled=False, **policy)
        self.encoder = RecurrentStack(cell, width, depth, name="encoder", **policy)
        self.decoder = RecurrentStack(cell, width, depth, name="decoder", **policy)
        self.dropout = keras.layers.Dropout(fields["dropout"], **policy)
        self.output_projection = keras.layers.Dense(fields["target_vocab"], name="output", dtype="float32")

    def build(self, input_shape=None):
        embedded = (None, None, self.fields["embedding"])
        self.source_embedding.build()
        self.target_embedding.build()
        self.encoder.build(embedded)
        self.decoder.build(embedded)
        self.output_projection.build((None, self.fields["width"]))

    def encode(self, source, training=None):
        mask = padding_mask(source)
        embedded = self.dropout(self.source_embedding(source), training=training)
        _, states = self.encoder(embedded, mask=mask)
        return {"states": states, "mask": mask}

    def decode(self, target, memory, training=None):
        embedded = self.dropout(self.target_embedding(target), training=training)
        outputs, _ = self.decoder(embedded, states=memory["states"])
        return self.output_projection(self.dropout(outputs, training=training))

    def initial_cache(self, memory, batch, max_length):
        return memory["states"]

    def step(self, token, index, memory, cache):
        output, cache = self.decoder.step(self.target_embedding(token), cache)
        nothing = ops.zeros_like(memory["mask"], dtype="float32")
        return self.output_projection(output), cache, ops.expand_dims(nothing, 1)
