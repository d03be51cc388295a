import contextlib
import itertools

import numpy as np
import pytest
from keras import ops

from tests.reference import layer_norm, multi_head
from zoo.layers.blocks import DecoderBlock, EncoderBlock
from zoo.layers.masks import causal_mask
from zoo.layers.tap import tap

B, T, S, HEADS, FEED, WIDTH = 2, 3, 5, 2, 13, 14
ATTENTION = {"heads": HEADS, "key_width": 11, "value_width": 5, "bias": True}


def numpy(tensor):
    return ops.convert_to_numpy(tensor)


def fill(block, random):
    block.build((None, None, WIDTH))
    for weight in block.weights:
        weight.assign(random.normal(size=weight.shape, scale=0.4))
    return block


class Reference:
    """The block's equations on its own weights, one sentence at a time."""

    def __init__(self, block):
        self.block = block

    def norm(self, residual, x):
        gain, bias = (numpy(w).astype("float64") for w in residual.normalize.weights)
        return layer_norm(x, gain, bias)

    def around(self, residual, x, f):
        if residual.norm == "pre":
            return x + f(self.norm(residual, x))
        return self.norm(residual, x + f(x))

    def attention(self, layer, query, memory, mask):
        parts = layer.query, layer.key, layer.value, layer.output_projection
        kernels, biases = ([numpy(getattr(p, w)).astype("float64") for p in parts] for w in ("kernel", "bias"))
        return multi_head(query, memory, kernels, HEADS, mask, biases)[0]

    def feed(self, x):
        inner, outer = self.block.feedforward.inner, self.block.feedforward.outer
        hidden = np.maximum(x @ numpy(inner.kernel).astype("float64") + numpy(inner.bias), 0)
        return hidden @ numpy(outer.kernel).astype("float64") + numpy(outer.bias)

    def self_sublayer(self, x, mask):
        attend = self.block.self_attention
        return self.around(self.block.self_residual, x, lambda h: self.attention(attend, h, h, mask))

    def last_sublayer(self, x):
        return self.around(self.block.feedforward_residual, x, self.feed)

    def encoder(self, x, mask):
        return self.last_sublayer(self.self_sublayer(x, mask))

    def decoder(self, x, memory, mask, memory_mask):
        x = self.self_sublayer(x, mask)
        attend = self.block.cross_attention
        x = self.around(self.block.cross_residual, x, lambda h: self.attention(attend, h, memory, memory_mask))
        return self.last_sublayer(x)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_encoder_block_equals_the_equations(norm, random):
    block = fill(EncoderBlock(ATTENTION, FEED, norm=norm), random)
    x = random.normal(size=(B, S, WIDTH)).astype("float32")
    mask = np.array([[True] * 5, [True, True, True, False, False]])
    output = numpy(block(x, mask=mask[:, None, None, :]))
    for b in range(B):
        np.testing.assert_allclose(output[b], Reference(block).encoder(x[b].astype("float64"), mask[b]), atol=2e-4)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_decoder_block_equals_the_equations(norm, random):
    block = fill(DecoderBlock(ATTENTION, FEED, norm=norm), random)
    x, memory = (random.normal(size=(B, n, WIDTH)).astype("float32") for n in (T, S))
    memory_mask = np.array([[True] * 5, [True, True, True, False, False]])
    cross = block.cross_attention.project(memory)
    output, _ = block(x, cross, causal_mask(T)[None, None], memory_mask[:, None, None, :])
    for b in range(B):
        expected = Reference(block).decoder(
            x[b].astype("float64"), memory[b].astype("float64"), np.tril(np.ones((T, T), bool)), memory_mask[b]
        )
        np.testing.assert_allclose(numpy(output)[b], expected, atol=2e-4)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_cached_positions_equal_the_whole(norm, random):
    block = fill(DecoderBlock(ATTENTION, FEED, norm=norm), random)
    x, memory = (random.normal(size=(B, n, WIDTH)).astype("float32") for n in (T, S))
    cross = block.cross_attention.project(memory)
    whole, _ = block(x, cross, causal_mask(T)[None, None])
    cache, cross = (ops.zeros((B, HEADS, 7, 11)), ops.zeros((B, HEADS, 7, 5))), block.cross_attention.keep(cross)
    for t in range(T):
        seen = (np.arange(7) <= t)[None, None, None]
        row, cache = block(ops.convert_to_tensor(x[:, t : t + 1]), cross, seen, cache=cache, index=t)
        np.testing.assert_allclose(numpy(row)[:, 0], numpy(whole)[:, t], atol=1e-5)


@pytest.mark.parametrize(("dropout", "listening"), list(itertools.product([0.0, 0.1], [True, False])))
def test_no_position_sees_the_future(dropout, listening, random):
    block = fill(DecoderBlock(ATTENTION, FEED, dropout=dropout), random)
    before = random.normal(size=(1, 4, WIDTH)).astype("float32")
    after = before.copy()
    after[0, 3] += 5
    cross = block.cross_attention.project(random.normal(size=(1, S, WIDTH)).astype("float32"))

    def run(x):
        for residual in (block.self_residual, block.cross_residual, block.feedforward_residual):
            if dropout:  # the same elements are dropped in both runs
                residual.dropout.seed_generator.state.assign([1, 2])
        with tap() if listening else contextlib.nullcontext():
            return numpy(block(x, cross, causal_mask(4)[None, None], training=True)[0])

    first, second = run(before), run(after)
    np.testing.assert_array_equal(first[:, :3], second[:, :3])
    assert abs(first[:, 3] - second[:, 3]).max() > 0.1


def test_roles_are_those_of_the_block(random):
    block = fill(DecoderBlock(ATTENTION, FEED, role="decoder/3"), random)
    x = random.normal(size=(B, T, WIDTH)).astype("float32")
    with tap() as maps:
        block(x, block.cross_attention.project(x))
    assert list(maps) == ["decoder/3/self", "decoder/3/cross"]
