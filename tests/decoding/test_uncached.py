"""Cached decoding gives what running the whole target again for every token gives."""

import keras
import numpy as np
import pytest
from keras import ops

import zoo
from tests.samples import TINY, VARIANTS, batch, small


class Uncached:
    """The step protocol over nothing but the full forward: slow, and without a cache to get wrong."""

    def __init__(self, model):
        self.model = model

    def target_limit(self, source_length):
        return self.model.target_limit(source_length)

    def start(self, source, max_length):
        return {"source": source}, {"target": ops.zeros((ops.shape(source)[0], max_length), "int32")}

    def step(self, token, index, memory, cache):
        target = ops.slice_update(cache["target"], (0, index), token[:, None])
        logits = self.model({"source": memory["source"], "target": target}, training=False)
        nothing = ops.zeros_like(memory["source"], dtype="float32")[:, None]
        return ops.take(logits, index, axis=1), {"target": target}, nothing


def check(model):
    for weight in model.weights:
        weight.assign_add(keras.random.normal(weight.shape, stddev=0.1))
    source = batch()["source"]
    for search in (
        lambda m: zoo.greedy(m, source, max_length=8),
        lambda m: zoo.beam_search(m, source, 3, max_length=8),
    ):
        cached, uncached = search(model), search(Uncached(model))
        np.testing.assert_allclose(cached.log_probs, uncached.log_probs, atol=1e-4)
        np.testing.assert_array_equal(cached.tokens, uncached.tokens)


@pytest.mark.parametrize("name", TINY)
def test_every_model(name):
    check(small(name))


@pytest.mark.parametrize(("name", "overrides"), [v for v in VARIANTS if {"positions", "local", "coverage"} & set(v[1])])
def test_options_with_states_of_their_own(name, overrides):
    check(small(name, **overrides))


def test_a_window_keeps_no_more_than_it_sees():
    model = small("transformer-tiny", window=3, key_heads=2)
    _, cache = model.start(batch()["source"], 9)
    assert {leaf.shape for layer in cache for leaf in layer} == {(2, 2, 3, 16)}  # three positions, two key heads


def test_more_sentences_need_no_more_graphs():
    tokenizer = zoo.Tokenizer.train(["a b c d e f g h"], 280)
    sizes = dict.fromkeys(("source_vocab", "target_vocab"), tokenizer.vocabulary)
    text = zoo.TextModel(zoo.build("seq2seq-tiny", **sizes), tokenizer)
    texts = [" ".join("abcdefgh"[: 1 + i * 7 % 8]) for i in range(300)]
    list(text.generate_stream(texts[:100], chunk=50, max_length=4))
    before = zoo.compiled_graphs(text.model)
    list(text.generate_stream(texts[100:], chunk=50, max_length=4))
    assert zoo.compiled_graphs(text.model) == before
