import keras_hub
import numpy as np
import pytest
from keras import ops

import zoo
from tests.samples import VOCAB, batch, small

SIZES = {"width": 22, "depth": 2, "heads": 2, "feedforward": 13, "max_length": 17, "dropout": 0.0}


def numpy(tensor):
    return ops.convert_to_numpy(tensor)


def split(kernel, heads):
    return numpy(kernel).reshape(kernel.shape[0], heads, -1)


def give_attention(theirs, ours, heads):
    """Our one matrix for all heads, as Keras's projections by head."""
    for name in ("query", "key", "value"):
        dense = getattr(ours, name)
        getattr(theirs, f"_{name}_dense").set_weights(
            [split(dense.kernel, heads), numpy(dense.bias).reshape(heads, -1)]
        )
    kernel, bias = ours.output_projection.get_weights()
    theirs._output_dense.set_weights([kernel.reshape(heads, -1, kernel.shape[1]), bias])


def give_block(theirs, ours, heads):
    """The weights of our block, to KerasHub's encoder or decoder block."""
    give_attention(theirs._self_attention_layer, ours.self_attention, heads)
    theirs._self_attention_layer_norm.set_weights(ours.self_residual.normalize.get_weights())
    theirs._feedforward_layer_norm.set_weights(ours.feedforward_residual.normalize.get_weights())
    theirs._feedforward_intermediate_dense.set_weights(ours.feedforward.inner.get_weights())
    theirs._feedforward_output_dense.set_weights(ours.feedforward.outer.get_weights())


def test_equals_kerashubs_gpt2_with_the_same_weights(random):
    model = small("gpt2-small", **SIZES)
    sizes = {"vocabulary_size": VOCAB, "num_layers": 2, "num_heads": 2, "hidden_dim": 22, "intermediate_dim": 13}
    theirs = keras_hub.models.GPT2Backbone(**sizes, dropout=0.0, max_sequence_length=17)
    for weight in model.weights:
        weight.assign(random.normal(size=weight.shape, scale=0.3))
    embedding, positions = theirs.token_embedding, theirs.position_embedding
    embedding.set_weights([numpy(model.embedding.matrix)])
    positions.set_weights([numpy(model.positions.table)])
    for block, layer in zip(model.blocks, theirs.transformer_layers, strict=True):
        give_block(layer, block, 2)
    theirs.layer_norm.set_weights(model.last_norm.get_weights())
    tokens = random.integers(4, VOCAB, (2, 11)).astype("int32")
    states = theirs({"token_ids": tokens, "padding_mask": np.ones_like(tokens)})
    expected = numpy(embedding(states, reverse=True))
    np.testing.assert_allclose(numpy(model({"target": tokens})), expected, atol=1e-3)


def test_prompt_and_target_are_one_row(random):
    model = small("gpt2-tiny")
    tokens = random.integers(4, VOCAB, (2, 11)).astype("int32")
    whole = numpy(model({"target": tokens}))
    parted = numpy(model({"source": tokens[:, :4], "target": tokens[:, 4:]}))
    np.testing.assert_allclose(parted, whole[:, 4:], atol=1e-5)


def test_the_prompt_and_what_is_written_share_the_table():
    model = small("gpt2-tiny", max_length=12)
    model(batch())
    longer = {"source": batch()["source"], "target": np.ones((2, 6), "int32")}
    with pytest.raises(ValueError, match=r"source \+ target: 13 tokens, but gpt2-tiny takes at most 12"):
        model(longer)
    with pytest.raises(ValueError, match="max_length=6: after a source of 7 tokens the model can write 5"):
        zoo.greedy(model, batch()["source"], max_length=6)
    assert zoo.greedy(model, batch()["source"]).tokens.shape[2] <= 5


def test_initial_values():
    model = small("gpt2-tiny", width=128, feedforward=256)
    for weight in model.weights:
        value, path = numpy(weight), weight.path
        if path.endswith(("output/kernel", "outer/kernel")):
            assert value.std() == pytest.approx(0.02 / 4**0.5, rel=0.05), path  # two blocks, two residuals each
        elif path.endswith(("kernel", "matrix", "table")):
            assert value.std() == pytest.approx(0.02, rel=0.05), path
