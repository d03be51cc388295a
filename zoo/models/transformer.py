"""The Transformer (Vaswani et al. 2017)."""

import keras
from keras import ops

from zoo.layers.blocks import DecoderBlock, EncoderBlock
from zoo.layers.embeddings import TokenEmbedding
from zoo.layers.masks import causal_mask, padding_mask
from zoo.layers.positions import SinusoidalPositions
from zoo.layers.tap import tap
from zoo.models.base import EncoderDecoder


@keras.saving.register_keras_serializable("zoo")
class Transformer(EncoderDecoder):
    """Encoder and decoder stacks of attention and feed-forward blocks.

        x = sqrt(d) E[tokens] + PE          encoder: N x (self-attention, FFN)
        decoder: N x (causal self-attention, attention to the encoder, FFN)          logits = x E^T

    Vaswani et al. 2017, section 3. With `tied`, one matrix E serves source, target and output (section 3.4); without,
    each has its own. Layer normalisation is after each residual as in the paper, or before each sub-layer with a last
    one after each stack (`norm="pre"`). Dropout as in 5.4: on each sub-layer's output, and on the sums of embeddings
    and positions; none on attention weights.

    Args:
        source_vocab, target_vocab: numbers of tokens.
        width: d_model.
        depth: N, blocks of encoder and decoder.
        heads: h.
        feedforward: d_ff.
        key_width, value_width: d_k and d_v of a head; None = width / heads.
        dropout: P_drop.
        norm: "post" or "pre".
        attention_bias: whether the attention's projections have biases; the paper's equations have none.
        positions: layout of the sinusoids, "interleaved" (the paper's) or "halves".
        tied: whether the three embedding matrices are one.
    """

    def __init__(
        self,
        source_vocab,
        target_vocab,
        width,
        depth,
        heads,
        feedforward,
        key_width,
        value_width,
        dropout,
        norm,
        attention_bias,
        positions,
        tied,
        **kwargs,
    ):
        fields = {"source_vocab": source_vocab, "target_vocab": target_vocab, "width": width, "depth": depth}
        block = {"heads": heads, "feedforward": feedforward, "key_width": key_width, "value_width": value_width}
        block.update(dropout=dropout, norm=norm, attention_bias=attention_bias)
        super().__init__({**fields, **block, "positions": positions, "tied": tied}, **kwargs)
        policy = {"dtype": self.dtype_policy}
        self.source_embedding = TokenEmbedding(source_vocab, width, **policy)
        self.target_embedding = self.source_embedding if tied else TokenEmbedding(target_vocab, width, **policy)
        self.positions = SinusoidalPositions(positions, **policy)
        self.dropout = keras.layers.Dropout(dropout, **policy)

        def stack(kind, side):
            return [kind(**block, role=f"{side}/{i}", name=f"{side}_{i}", **policy) for i in range(depth)]

        self.encoder = stack(EncoderBlock, "encoder")
        self.decoder = stack(DecoderBlock, "decoder")
        if norm == "pre":
            self.encoder_norm = keras.layers.LayerNormalization(epsilon=1e-6, name="encoder_norm", **policy)
            self.decoder_norm = keras.layers.LayerNormalization(epsilon=1e-6, name="decoder_norm", **policy)
        if not tied:
            self.output_projection = keras.layers.Dense(target_vocab, use_bias=False, name="output", dtype="float32")

    def build(self, input_shape=None):
        states = (None, None, self.fields["width"])
        self.source_embedding.build()
        if not self.fields["tied"]:
            self.target_embedding.build()
            self.output_projection.build(states)
        for block in (*self.encoder, *self.decoder):
            block.build(states)
        if self.fields["norm"] == "pre":
            self.encoder_norm.build(states)
            self.decoder_norm.build(states)

    def encode(self, source, training=None):
        mask = padding_mask(source)
        keys_mask = mask[:, None, None, :]
        x = self._embed(self.source_embedding, source, 0, training)
        for block in self.encoder:
            x = block(x, mask=keys_mask, training=training)
        x = self.encoder_norm(x) if self.fields["norm"] == "pre" else x
        # Every decoder layer's keys and values of the source depend on nothing else: made here, once for all steps.
        return {"cross": [block.cross_attention.project(x) for block in self.decoder], "mask": mask}

    def decode(self, target, memory, training=None):
        mask = padding_mask(target)[:, None, None, :] & causal_mask(ops.shape(target)[1])
        x = self._embed(self.target_embedding, target, 0, training)
        x, _ = self._decode(x, memory, mask, training=training)
        return self._logits(x)

    def initial_cache(self, memory, batch, max_length):
        def zeros(projected):
            shape = (batch, max_length, *projected.shape[2:])
            return ops.zeros(shape, dtype=projected.dtype)

        return [(zeros(keys), zeros(values)) for keys, values in memory["cross"]]

    def step(self, token, index, memory, cache):
        x = self._embed(self.target_embedding, ops.expand_dims(token, 1), index, False)
        seen = ops.arange(cache[0][0].shape[1]) <= index
        with tap() as maps:  # attention with one query is cheap, so its weights are always taken
            x, cache = self._decode(x, memory, seen[None, None, None, :], cache, index)
        attention = [weights[:, :, 0] for role, weights in maps.items() if role.endswith("/cross")]
        return self._logits(x[:, 0]), cache, ops.concatenate(attention, axis=1)

    def _embed(self, embedding, ids, start, training):
        return self.dropout(self.positions(embedding(ids), start=start), training=training)

    def _decode(self, x, memory, mask, cache=None, index=None, training=False):
        cross_mask, kept = memory["mask"][:, None, None, :], []
        for i, (block, cross) in enumerate(zip(self.decoder, memory["cross"], strict=True)):
            old = None if cache is None else cache[i]
            x, new = block(x, cross, mask, cross_mask, cache=old, index=index, training=training)
            kept.append(new)
        return (self.decoder_norm(x) if self.fields["norm"] == "pre" else x), kept

    def _logits(self, x):
        return self.target_embedding.logits(x) if self.fields["tied"] else self.output_projection(x)
