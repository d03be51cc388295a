"""A small batch that every encoder-decoder takes: rows of different length, padding on both sides."""

import functools

import numpy as np
import pytest

import zoo

VOCAB = 53
# One worker keeps a model for all tests of its name.
NAMES = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in zoo.list_models()]
VARIANTS = [
    ("seq2seq-tiny", {"cell": "lstm", "depth": 2}),
    ("seq2seq-bahdanau-tiny", {"cell": "lstm"}),
    ("seq2seq-luong-tiny", {"input_feeding": True}),
    ("seq2seq-luong-tiny", {"input_feeding": True, "cell": "gru", "depth": 2}),
    ("seq2seq-luong-tiny", {"score": "dot"}),
    ("seq2seq-luong-tiny", {"score": "concat"}),
    ("seq2seq-luong-tiny", {"score": "location", "max_source": 11}),
    ("transformer-tiny", {"norm": "pre", "positions": "halves", "attention_bias": True}),
    ("transformer-tiny", {"tied": False, "target_vocab": VOCAB, "key_width": 7, "value_width": 5, "heads": 3}),
]


def batch():
    source = np.array([[7, 11, 13, 2, 0, 0, 0], [5, 6, 7, 8, 9, 10, 2]], "int32")
    target = np.array([[1, 21, 22, 23, 0], [1, 31, 32, 33, 34]], "int32")
    return {"source": source, "target": target}


def labels():
    return np.array([[21, 22, 23, 2, 0], [31, 32, 33, 34, 2]], "int32")


@functools.lru_cache(maxsize=1)
def model(name):
    return shallow(name)


def shallow(name):
    """The model with two layers at most, which is all that differs between one depth and another."""
    depth = zoo.describe(name).config.get("depth")
    return small(name, **({} if depth is None else {"depth": min(depth, 2)}))


def small(name, **overrides):
    return zoo.build(name, **{"source_vocab": VOCAB, "target_vocab": VOCAB, **overrides})
