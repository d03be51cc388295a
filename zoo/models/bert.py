"""An encoder without a decoder: BERT (Devlin et al. 2019)."""

import keras
from keras import ops

from zoo.layers.blocks import EncoderBlock
from zoo.layers.embeddings import TokenEmbedding
from zoo.layers.masks import padding_mask
from zoo.layers.positions import LearnedPositions
from zoo.layers.sublayers import normalizer
from zoo.models.base import ZooModel

SEGMENTS = 2
EPSILON = 1e-12


@keras.saving.register_keras_serializable("zoo")
class BERT(ZooModel):
    """One stack of encoder blocks, with the two heads that it is pre-trained through.

        x = Norm(E[tokens] + P[positions] + G[segments])          N x (self-attention, FFN), norms after residuals
        tokens = Norm(gelu(x W + b)) E^T + b_V                    the masked tokens' logits (task 1)
        sentence = tanh(x_1 W_p + b_p) W_s + b_s                  does the second segment follow the first (task 2)

    Devlin et al. 2019, sections 3 and 3.1, appendices A.1 and A.2. `model({"tokens": (B, S), "segments": (B, S)})`
    gives {"tokens": float32 (B, S, V), "sentence": float32 (B, 2)}; segments are 0 or 1, and all 0 where left out.
    Compile it with a loss for each head, or for one. `encode` gives what a task of one's own starts from. Initial
    values are the truncated normal of deviation 0.02 of its authors' code.

    Args:
        vocab: number of tokens.
        width, depth, heads, feedforward: sizes of the blocks.
        max_length: positions of the table.
        dropout: rate on embeddings and sub-layers' outputs.
        attention_dropout: rate on attention weights.
    """

    def __init__(self, **fields):
        super().__init__(**fields)
        fields, policy = self.fields, {"dtype": self.dtype_policy}
        width = fields["width"]
        self.embedding = TokenEmbedding(fields["vocab"], width, scaled=False, name="tokens", **policy)
        self.segments = TokenEmbedding(SEGMENTS, width, scaled=False, name="segments", **policy)
        self.positions = LearnedPositions(fields["max_length"], name="positions", **policy)
        self.embedding_norm = normalizer("layer", EPSILON, name="embedding_norm", **policy)
        self.dropout = keras.layers.Dropout(fields["dropout"], **policy)
        attention = {"heads": fields["heads"], "bias": True, "dropout": fields["attention_dropout"]}
        block = {"attention": attention, "feedforward": fields["feedforward"], "dropout": fields["dropout"]}
        block.update(activation="gelu", norm="post", epsilon=EPSILON)
        self.blocks = [
            EncoderBlock(**block, role=f"encoder/{i}", name=f"encoder_{i}", **policy) for i in range(fields["depth"])
        ]
        self.pooler = keras.layers.Dense(width, activation="tanh", name="pooler", **policy)
        self.head = keras.layers.Dense(width, name="head", **policy)
        self.head_norm = normalizer("layer", EPSILON, name="head_norm", **policy)
        self.sentence = keras.layers.Dense(2, name="sentence", dtype="float32")

    @property
    def limits(self):
        return {"tokens": self.fields["max_length"]}

    def build(self, input_shape=None):
        states = (None, None, self.fields["width"])
        self.embedding.build()
        self.segments.build()
        for layer in (self.positions, self.embedding_norm, *self.blocks, self.pooler, self.head, self.head_norm):
            layer.build(states)
        self.sentence.build(states)
        self.token_bias = self.add_weight(
            name="token_bias", shape=(self.fields["vocab"],), initializer="zeros", autocast=False
        )
        normal = keras.initializers.TruncatedNormal(stddev=0.02)
        self.initialize([(ending, normal.clone()) for ending in ("kernel", "matrix", "table")])

    def encode(self, inputs, training=None):
        """Ids {"tokens", "segments"} (B, S) -> (states (B, S, d), pooled (B, d): tanh(x_1 W_p + b_p))."""
        self.check_lengths(inputs)
        tokens = ops.cast(inputs["tokens"], "int32")
        segments = inputs.get("segments")
        segments = ops.zeros_like(tokens) if segments is None else ops.cast(segments, "int32")
        x = self.positions(self.embedding(tokens) + self.segments(segments))
        x = self.dropout(self.embedding_norm(x), training=training)
        mask = padding_mask(tokens)[:, None, None, :]
        for block in self.blocks:
            x = block(x, mask=mask, training=training)
        return x, self.pooler(x[:, 0])

    def call(self, inputs, training=None):
        states, pooled = self.encode(inputs, training=training)
        hidden = self.head_norm(ops.gelu(self.head(states), approximate=False))
        logits = self.embedding.logits(hidden) + self.token_bias
        return {"tokens": logits, "sentence": self.sentence(self.dropout(pooled, training=training))}
