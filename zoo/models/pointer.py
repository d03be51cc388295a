"""The pointer-generator, which writes words and copies them (See, Liu and Manning 2017)."""

import keras
from keras import ops

from zoo.ids import UNK
from zoo.layers.coverage import coverage_loss
from zoo.layers.embeddings import TokenEmbedding
from zoo.layers.masks import padding_mask
from zoo.layers.pointer_cell import PointerCell, mixture
from zoo.layers.recurrent import BidirectionalEncoder
from zoo.layers.tap import emit
from zoo.models.base import Generator


@keras.saving.register_keras_serializable("zoo")
class PointerSeq2Seq(Generator):
    """Bidirectional LSTM encoder, attentive LSTM decoder, and a choice at each position between writing and copying.

        h_i = [forward; backward]          s_0 = relu(W_r [last forward; first backward] + b_r)
        P_vocab = softmax(V' (V [h_t; h*_t] + b) + b')                                             (Eq. 4)
        P(w) = p_gen P_vocab(w) + (1 - p_gen) sum_{i: w_i = w} a_i^t                               (Eq. 9)
        loss_t = -log P(w_t) + lambda sum_i min(a_i^t, c_i^t)                                      (Eq. 13)

    See et al. 2017, section 2; the cell's equations are `PointerCell`'s, the sizes section 5's. One embedding serves
    both sides. The logits are log P, so a loss, a metric or a search that takes a softmax of them finds P. (Label
    smoothing, which the paper does not use, would also ask for the words that this source cannot give, at -69.)

    Words that the vocabulary lacks can be copied: a source id V + k stands for the k-th of them in this source. Source
    and target are read with UNK in its place, logits have V + `copies` columns, and a label may be V + k.

    The coverage loss is averaged over real target tokens (of each replica, then over replicas) and added to the loss
    that the model is compiled with. The decoder is float32 under every dtype policy: sums of small weights need it.

    Row t of the attention map belongs to the target token y_t that is predicted from it.

    Args:
        source_vocab, target_vocab: V, number of tokens; the same for both.
        embedding: width of a token's vector.
        width: n, units of each direction and of the decoder.
        copies: the most words outside the vocabulary that one source can have.
        coverage: whether scores see the coverage c^t.
        coverage_weight: lambda; the paper trains with 0 first, then for a short while with 1.
        dropout: rate on embeddings and on the output's hidden layer (the paper has none).
    """

    def __init__(self, **fields):
        super().__init__(**fields)
        fields, policy = self.fields, {"dtype": self.dtype_policy}
        width, embedding = fields["width"], fields["embedding"]
        self.embedding = TokenEmbedding(fields["target_vocab"], embedding, scaled=False, **policy)
        self.encoder = BidirectionalEncoder("lstm", width, name="encoder", **policy)
        self.reduce = [
            keras.layers.Dense(width, activation="relu", name=f"reduce_{part}", **policy) for part in ("output", "cell")
        ]
        cell = PointerCell(width, embedding, 2 * width, fields["coverage"], name="decoder", dtype="float32")
        self.decoder = keras.layers.RNN(cell, return_sequences=True, name="decoder_loop", dtype="float32")
        self.dropout = keras.layers.Dropout(fields["dropout"], **policy)
        self.hidden = keras.layers.Dense(width, name="hidden", **policy)  # V
        self.output_projection = keras.layers.Dense(fields["target_vocab"], name="output", dtype="float32")  # V'

    def vocabulary(self, side):
        return super().vocabulary(side) + self.fields["copies"]

    def build(self, input_shape=None):
        embedding, width = self.fields["embedding"], self.fields["width"]
        self.embedding.build()
        self.encoder.build((None, None, embedding))
        for layer in self.reduce:
            layer.build((None, 2 * width))
        self.decoder.build((None, None, embedding))
        self.hidden.build((None, 3 * width))
        self.output_projection.build((None, width))

    def encode(self, source, training=None):
        mask = padding_mask(source)
        annotations, last, first = self.encoder(self._embed(source, training), mask=mask)
        states = [
            reduce(ops.concatenate([ahead, back], axis=-1))
            for reduce, ahead, back in zip(self.reduce, last, first, strict=True)
        ]
        keys = self.decoder.cell.attention.keys(annotations)
        return {"annotations": annotations, "keys": keys, "mask": mask, "states": [states], "source": source}

    def decode(self, target, memory, training=None):
        cell, width = self.decoder.cell, self.fields["width"]
        constants = memory["annotations"], memory["keys"], memory["mask"]
        start = cell.pack(memory["states"], list(self._first(memory).values()), *constants)
        outputs = self.decoder(self._embed(target, training), initial_state=start)
        weights = outputs[..., 3 * width + 1 :]
        if self.fields["coverage"]:
            self.add_loss(self.fields["coverage_weight"] * coverage_loss(weights, padding_mask(target)))
        emit("decoder/0/cross", ops.expand_dims(weights, 1))
        both, generate = outputs[..., : 3 * width], outputs[..., 3 * width : 3 * width + 1]
        return self._logits(both, generate, weights, memory, training)

    def initial_cache(self, memory, batch, max_length):
        return {"states": self.decoder.cell.own(memory["states"]), **self._first(memory)}

    def step(self, token, index, memory, cache):
        constants = memory["annotations"], memory["keys"], memory["mask"]
        hidden, context, generate, states, weights = self.decoder.cell.advance(
            self._embed(token, False), cache["states"], cache["context"], cache["covered"], *constants
        )
        both = ops.expand_dims(ops.concatenate([hidden, context], axis=-1), 1)
        logits = self._logits(both, ops.expand_dims(generate, 1), weights, memory)
        cache = {"states": states, "context": context, "covered": cache["covered"] + weights[:, 0]}
        return logits[:, 0], cache, weights

    def _embed(self, ids, training):
        known = ops.where(ids < self.fields["target_vocab"], ids, UNK)
        return self.dropout(self.embedding(known), training=training)

    def _first(self, memory):
        """The cell's own states before the first position: no context, nothing covered."""
        context = ops.zeros_like(memory["annotations"][:, 0], dtype="float32")
        return {"context": context, "covered": ops.zeros_like(memory["mask"], dtype="float32")}

    def _logits(self, both, generate, weights, memory, training=None):
        hidden = self.dropout(self.hidden(both), training=training)
        return mixture(self.output_projection(hidden), generate, weights, memory["source"], self.fields["copies"])
