"""A decoder without an encoder: GPT-2 (Radford et al. 2019)."""

import keras
from keras import ops

from zoo.layers.blocks import CausalBlock
from zoo.layers.embeddings import TokenEmbedding
from zoo.layers.masks import causal_mask, padding_mask
from zoo.layers.multi_head import MultiHeadAttention
from zoo.layers.positions import LearnedPositions
from zoo.layers.sublayers import normalizer
from zoo.layers.tap import closed, tap
from zoo.models.base import Generator


@keras.saving.register_keras_serializable("zoo")
class GPT2(Generator):
    """One stack of causal blocks that reads a prompt and goes on from it.

        x = E[tokens] + P[positions]          N x (x + causal self-attention(Norm(x)), x + FFN(Norm(x)))
        logits = Norm(x) E^T

    Radford et al. 2018 and 2019, section 2.3: learned positions, normalisation before each sub-layer and after the
    last, GELU (the tanh form), one matrix for embedding and output, initial values N(0, 0.02^2) with the projections
    that feed a residual divided by the root of their number.

    The prompt is `source`; the text that the model is to write is `target`, which starts with BOS, as in every model of
    the zoo. Both are one row: prompt, then target, each position seeing those before it. Padding of a prompt is hidden
    and takes no positions. Without a "source" the model is a plain language model over "target".

    Its only attention is "decoder/<layer>/self" (B, H, S + T, S + T); `step` returns what falls on the prompt.

    Args:
        source_vocab, target_vocab: number of tokens; the same for both.
        width, depth, heads, feedforward: sizes of the blocks.
        max_length: positions of the table, prompt and target together.
        dropout: rate on embeddings and sub-layers' outputs.
        attention_dropout: rate on attention weights.
    """

    def __init__(self, **fields):
        super().__init__(**fields)
        fields, policy = self.fields, {"dtype": self.dtype_policy}
        self.embedding = TokenEmbedding(fields["target_vocab"], fields["width"], scaled=False, name="tokens", **policy)
        self.positions = LearnedPositions(fields["max_length"], name="positions", **policy)
        self.dropout = keras.layers.Dropout(fields["dropout"], **policy)
        attention = {"heads": fields["heads"], "bias": True, "dropout": fields["attention_dropout"]}
        block = {"attention": attention, "feedforward": fields["feedforward"], "dropout": fields["dropout"]}
        block.update(activation="gelu-tanh", norm="pre", epsilon=1e-5)
        self.blocks = [
            CausalBlock(**block, role=f"decoder/{i}", name=f"decoder_{i}", **policy) for i in range(fields["depth"])
        ]
        self.last_norm = normalizer("layer", 1e-5, name="norm", **policy)

    @property
    def limits(self):
        # Of the padded row: a prompt's padding takes no positions, but who calls the model need not count them.
        return {"source + target": self.fields["max_length"]}

    @property
    def source_limit(self):
        return self.fields["max_length"] - 1  # one position for what is written

    def target_limit(self, source_length):
        return self.fields["max_length"] - source_length

    @property
    def step_heads(self):
        return {f"decoder/{i}/self": self.fields["heads"] for i in range(self.fields["depth"])}

    def build(self, input_shape=None):
        states = (None, None, self.fields["width"])
        self.embedding.build()
        for layer in (self.positions, *self.blocks, self.last_norm):
            layer.build(states)
        normal = keras.initializers.RandomNormal
        residual = normal(stddev=0.02 / (2 * self.fields["depth"]) ** 0.5)
        rules = [("output/kernel", residual), ("outer/kernel", residual)]
        self.initialize([*rules, *((ending, normal(stddev=0.02)) for ending in ("kernel", "matrix", "table"))])

    def call(self, inputs, training=None):
        self.check_lengths(inputs)
        target = ops.cast(inputs["target"], "int32")
        if inputs.get("source") is None:
            x = self._embed(target, 0, training)
            prompt, mask = 0, padding_mask(target)
        else:
            source = ops.cast(inputs["source"], "int32")
            prompt, mask = ops.shape(source)[1], padding_mask(ops.concatenate([source, target], axis=1))
            parts = self._embed(source, 0, training), self._embed(target, _lengths(source), training)
            x = ops.concatenate(parts, axis=1)
        x, _ = self._run(x, mask[:, None, None, :] & causal_mask(ops.shape(mask)[1]), training=training)
        return self.embedding.logits(x[:, prompt:])

    def start(self, source, max_length):
        # How much a prompt leaves depends on its real tokens, which the search counts; what is past the table is NaN.
        self.check_lengths({"source": source})
        source = ops.cast(source, "int32")
        mask, empty = padding_mask(source), ((0, 0), (0, 0), (0, max_length), (0, 0))
        with closed():
            seen = mask[:, None, None, :] & causal_mask(ops.shape(source)[1])
            _, kept = self._run(self._embed(source, 0, False), seen)
        cache = [tuple(ops.pad(old, empty) for old in MultiHeadAttention.keep(layer)) for layer in kept]
        return {"mask": mask, "lengths": _lengths(source)}, cache

    def step(self, token, index, memory, cache):
        prompt = ops.shape(memory["mask"])[1]
        x = self._embed(ops.expand_dims(token, 1), memory["lengths"] + index, False)
        room = ops.shape(cache[0][0])[2] - prompt
        written = ops.broadcast_to(ops.arange(room) <= index, (ops.shape(token)[0], room))
        seen = ops.concatenate([memory["mask"], written], axis=1)[:, None, None, :]
        with tap() as maps:
            x, cache = self._run(x, seen, cache, prompt + index)
        attention = [weights[:, :, 0, :prompt] for weights in maps.values()]
        return self.embedding.logits(x[:, 0]), cache, ops.concatenate(attention, axis=1)

    def _embed(self, ids, start, training):
        return self.dropout(self.positions(self.embedding(ids), start=start), training=training)

    def _run(self, x, mask, cache=None, index=0, training=False):
        kept = []
        for i, block in enumerate(self.blocks):
            x, new = block(x, mask, cache=None if cache is None else cache[i], index=index, training=training)
            kept.append(new)
        return self.last_norm(x), kept


def _lengths(source):
    """Real tokens of each row: the position at which what follows the prompt begins."""
    return ops.sum(ops.cast(padding_mask(source), "int32"), axis=1)
