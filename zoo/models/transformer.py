"""The Transformer (Vaswani et al. 2017) and what later papers changed in its blocks."""

import keras
from keras import ops

from zoo.layers.blocks import DecoderBlock, EncoderBlock
from zoo.layers.embeddings import TokenEmbedding
from zoo.layers.masks import causal_mask, padding_mask, window_mask
from zoo.layers.multi_head import MultiHeadAttention
from zoo.layers.positions import LearnedPositions, SinusoidalPositions
from zoo.layers.relations import BucketedBias, LinearBias
from zoo.layers.sublayers import normalizer
from zoo.layers.tap import tap
from zoo.models.base import Generator

SIDES = ("source", "target")


@keras.saving.register_keras_serializable("zoo")
class Transformer(Generator):
    """Encoder and decoder stacks of attention and feed-forward blocks.

        x = sqrt(d) E[tokens] + PE          encoder: N x (self-attention, FFN)
        decoder: N x (causal self-attention, attention to the encoder, FFN)          logits = x E^T

    Vaswani et al. 2017, section 3. With `tied`, one matrix E serves source, target and output (section 3.4); without,
    each has its own. Dropout as in 5.4: on each sub-layer's output, and on the sums of embeddings and positions.

    Parameters: 63,045,632 (base) and 214,171,648 (big) at 37,000 tokens, derived from the equations. Table 3 prints 65
    and 213 million, which no one vocabulary gives: its base rows agree for 41,003 to 41,209 tokens, the big one for
    35,368 to 36,344. Shaw et al. print d_ff = 1024 for their base model; here it stays 2048.

    Positions that act inside the attention ("relative", "rope", "alibi", "t5") take the place of PE and act in
    self-attention only. In an encoder they see both directions; Press et al. (ALiBi) define the causal half.

    Args:
        source_vocab, target_vocab: numbers of tokens.
        width: d_model.
        depth: N, blocks of encoder and decoder.
        heads: h.
        key_heads: heads of keys and values, shared by groups of query heads; None = heads, 1 = multi-query.
        feedforward: d_ff.
        activation: "relu", "gelu", "gelu-tanh" or "swiglu" (see `FeedForward`).
        key_width, value_width: d_k and d_v of a head; None = width / heads.
        dropout: P_drop.
        attention_dropout: rate on attention weights; the paper names none.
        norm: "post" (the paper's) or "pre", each stack then ending in a normalisation of its own.
        normalization: "layer" or "rms".
        attention_bias: whether the attention's projections have biases; the paper's equations have none.
        positions: "interleaved" (the paper's sinusoids), "halves" (all sines first), "learned" (Table 3, row E),
            "relative" (Shaw et al. 2018), "rope" (Su et al. 2021), "alibi" (Press et al. 2022) or "t5" (Raffel et al.
            2020).
        max_length: longest source and target of "learned".
        clip, shared_relation: k of "relative", and whether heads share its vectors.
        buckets, max_distance: of "t5".
        window: w, self-attention sees positions less than w away; None = all.
        tied: whether the three embedding matrices are one.
    """

    def __init__(self, **fields):
        super().__init__(**fields)
        fields, policy = self.fields, {"dtype": self.dtype_policy}
        width, depth, positions = fields["width"], fields["depth"], fields["positions"]
        self.source_embedding = TokenEmbedding(fields["source_vocab"], width, **policy)
        self.target_embedding = (
            self.source_embedding if fields["tied"] else TokenEmbedding(fields["target_vocab"], width, **policy)
        )
        self.dropout = keras.layers.Dropout(fields["dropout"], **policy)
        names = ("heads", "key_heads", "key_width", "value_width", "clip", "shared_relation")
        attention = {name: fields[name] for name in names}
        attention.update(bias=fields["attention_bias"], dropout=fields["attention_dropout"])
        attention["relation"] = positions if positions in ("relative", "rope") else None
        names = ("feedforward", "activation", "dropout", "norm", "normalization")
        block = {"attention": attention, **{name: fields[name] for name in names}}

        def stack(kind, side):
            return [kind(**block, role=f"{side}/{i}", name=f"{side}_{i}", **policy) for i in range(depth)]

        self.encoder = stack(EncoderBlock, "encoder")
        self.decoder = stack(DecoderBlock, "decoder")
        if fields["norm"] == "pre":
            self.encoder_norm, self.decoder_norm = (
                normalizer(fields["normalization"], name=f"{side}_norm", **policy) for side in ("encoder", "decoder")
            )
        if not fields["tied"]:
            self.output_projection = keras.layers.Dense(
                fields["target_vocab"], use_bias=False, name="output", dtype="float32"
            )
        self.source_positions, self.target_positions = (self._positions(side, policy) for side in SIDES)

    def _positions(self, side, policy):
        """What tells one side's positions apart: a layer over embeddings, or one that makes a bias, or None."""
        fields, name = self.fields, f"{side}_positions"
        if fields["positions"] == "learned":
            return LearnedPositions(fields["max_length"], name=name, **policy)
        if fields["positions"] == "alibi":
            return LinearBias(fields["heads"], name=name)
        if fields["positions"] == "t5":
            sizes = {"buckets": fields["buckets"], "max_distance": fields["max_distance"]}
            return BucketedBias(fields["heads"], **sizes, two_sided=side == "source", name=name)
        if fields["positions"] in ("interleaved", "halves"):
            return SinusoidalPositions(fields["positions"], name=name, **policy)
        return None

    @property
    def limits(self):
        return dict.fromkeys(SIDES, self.fields["max_length"]) if self.fields["positions"] == "learned" else {}

    @property
    def step_heads(self):
        return {f"decoder/{i}/cross": self.fields["heads"] for i in range(self.fields["depth"])}

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
        for positions in (self.source_positions, self.target_positions):
            if positions is not None:
                positions.build(states)

    def encode(self, source, training=None):
        mask, places = padding_mask(source), ops.arange(ops.shape(source)[1])
        x = self._embed("source", source, 0, training)
        bias = self._bias("source", places, places)
        seen = mask[:, None, None, :]
        if self.fields["window"] is not None:
            seen = seen & window_mask(places, places, self.fields["window"])
        for block in self.encoder:
            x = block(x, mask=seen, bias=bias, training=training)
        x = self.encoder_norm(x) if self.fields["norm"] == "pre" else x
        # Every decoder layer's keys and values of the source depend on nothing else: made here, once for all steps.
        return {"cross": [block.cross_attention.project(x) for block in self.decoder], "mask": mask}

    def decode(self, target, memory, training=None):
        places = ops.arange(ops.shape(target)[1])
        mask = padding_mask(target)[:, None, None, :] & causal_mask(ops.shape(target)[1])
        if self.fields["window"] is not None:
            mask = mask & window_mask(places, places, self.fields["window"])
        x = self._embed("target", target, 0, training)
        x, _ = self._decode(x, memory, mask, self._bias("target", places, places), training=training)
        return self._logits(x)

    def settle(self, memory):
        return {**memory, "cross": [MultiHeadAttention.keep(projected) for projected in memory["cross"]]}

    def initial_cache(self, memory, batch, max_length):
        # What a window no longer sees need not be kept: its place is written over.
        length = min(max_length, self.fields["window"] or max_length)

        def zeros(projected):
            shape = (batch, projected.shape[1], length, projected.shape[3])
            return ops.zeros(shape, dtype=projected.dtype)

        return [(zeros(keys), zeros(values)) for keys, values in memory["cross"]]

    def step(self, token, index, memory, cache):
        length = cache[0][0].shape[2]
        x = self._embed("target", ops.expand_dims(token, 1), index, False)
        # Position p is kept at p modulo the cache's length; a place that is not written yet is before position 0.
        places = index - (index - ops.arange(length)) % length
        here = ops.expand_dims(ops.convert_to_tensor(index, dtype="int32"), 0)
        bias, seen = self._bias("target", here, places), (places >= 0)[None, None, None, :]
        with tap() as maps:  # attention with one query is cheap, so its weights are always taken
            x, cache = self._decode(x, memory, seen, bias, cache, index, places)
        attention = [weights[:, :, 0] for role, weights in maps.items() if role.endswith("/cross")]
        return self._logits(x[:, 0]), cache, ops.concatenate(attention, axis=1)

    def _embed(self, side, ids, start, training):
        embedding = self.source_embedding if side == "source" else self.target_embedding
        positions = self.source_positions if side == "source" else self.target_positions
        x = embedding(ids)
        if isinstance(positions, SinusoidalPositions | LearnedPositions):
            x = positions(x, start=start)
        return self.dropout(x, training=training)

    def _bias(self, side, queries, keys):
        positions = self.source_positions if side == "source" else self.target_positions
        return positions(queries, keys) if isinstance(positions, LinearBias | BucketedBias) else None

    def _decode(self, x, memory, mask, bias, cache=None, index=0, places=None, training=False):
        cross_mask, kept = memory["mask"][:, None, None, :], []
        where = {} if cache is None else {"index": index, "places": places, "slot": index % cache[0][0].shape[2]}
        for i, (block, cross) in enumerate(zip(self.decoder, memory["cross"], strict=True)):
            old = None if cache is None else cache[i]
            x, new = block(x, cross, mask, cross_mask, bias=bias, cache=old, training=training, **where)
            kept.append(new)
        return (self.decoder_norm(x) if self.fields["norm"] == "pre" else x), kept

    def _logits(self, x):
        return self.target_embedding.logits(x) if self.fields["tied"] else self.output_projection(x)
