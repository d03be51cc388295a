"""A small batch that every encoder-decoder takes: rows of different length, padding on both sides."""

import functools

import numpy as np
import pytest

import zoo

VOCAB = 53


def named(names):
    """Names as parameters; one worker keeps a model for all tests of its name."""
    return [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in names]


GENERATORS = [name for name in zoo.list_models() if "target_vocab" in zoo.describe(name).config]
NAMES = named(GENERATORS)
TINY = [name for name in GENERATORS if name.endswith("-tiny")]
VARIANTS = [
    ("seq2seq-tiny", {"cell": "lstm", "depth": 2}),
    ("seq2seq-bahdanau-tiny", {"cell": "lstm"}),
    ("seq2seq-bahdanau-tiny", {"cell": "gru", "output_state": "previous"}),
    ("seq2seq-bahdanau-tiny", {"cell": "lstm", "coverage": True, "output_state": "previous"}),
    ("seq2seq-luong-tiny", {"input_feeding": True}),
    ("seq2seq-luong-tiny", {"input_feeding": True, "cell": "gru", "depth": 2}),
    ("seq2seq-luong-tiny", {"score": "dot"}),
    ("seq2seq-luong-tiny", {"score": "concat", "cell": "gated"}),
    ("seq2seq-luong-tiny", {"score": "location", "max_source": 11}),
    ("seq2seq-luong-tiny", {"local": "m", "window": 5}),
    ("seq2seq-luong-tiny", {"local": "m", "window": 5, "input_feeding": True}),
    ("seq2seq-luong-tiny", {"local": "p", "window": 2, "score": "dot"}),
    ("seq2seq-pointer-tiny", {"coverage": False}),
    ("transformer-tiny", {"norm": "pre", "positions": "halves", "attention_bias": True}),
    ("transformer-tiny", {"tied": False, "target_vocab": VOCAB, "key_width": 7, "value_width": 5, "heads": 3}),
    ("transformer-tiny", {"positions": "learned", "max_length": 12}),
    ("transformer-tiny", {"positions": "relative", "clip": 2, "key_width": 7, "value_width": 5, "key_heads": 2}),
    ("transformer-tiny", {"positions": "relative", "clip": 3, "shared_relation": True}),
    ("transformer-tiny", {"positions": "alibi", "window": 3, "key_heads": 1}),
    ("transformer-tiny", {"positions": "t5", "key_heads": 2, "window": 3}),
    ("transformer-tiny", {"positions": "relative", "clip": 2, "window": 2}),
    ("transformer-tiny", {"positions": "t5", "buckets": 4, "max_distance": 5, "activation": "gelu"}),
    ("transformer-tiny", {"positions": "rope", "window": 2, "attention_dropout": 0.1, "activation": "gelu-tanh"}),
    ("transformer-tiny", {"positions": "rope", "key_heads": 2, "normalization": "rms", "norm": "pre"}),
]

# For each family, every field at a value that is not its default.
TWISTED = {
    "seq2seq-base": dict(
        source_vocab=VOCAB, target_vocab=59, embedding=11, width=13, depth=2, cell="lstm", dropout=0.3
    ),
    "seq2seq-bahdanau": dict(
        source_vocab=VOCAB, target_vocab=59, embedding=11, width=13, alignment=7, maxout=5, cell="lstm",
        output_state="previous", initialization="glorot", coverage=True, coverage_weight=0.5, dropout=0.3,
    ),
    "seq2seq-luong": dict(
        source_vocab=VOCAB, target_vocab=59, embedding=11, width=13, depth=2, cell="gated", score="concat", local="p",
        window=3, input_feeding=True, max_source=17, initialization="glorot", dropout=0.3,
    ),
    "seq2seq-pointer": dict(
        source_vocab=VOCAB, target_vocab=VOCAB, embedding=11, width=13, copies=7, coverage=False, coverage_weight=0.5,
        dropout=0.3,
    ),
    "transformer-base": dict(
        source_vocab=VOCAB, target_vocab=59, width=13, depth=2, heads=6, key_heads=3, feedforward=17,
        activation="swiglu", key_width=2, value_width=5, dropout=0.3, attention_dropout=0.2, norm="pre",
        normalization="rms", attention_bias=True, positions="relative", max_length=19, clip=2, shared_relation=True,
        buckets=6, max_distance=11, window=3, tied=False,
    ),
    "gpt2-small": dict(
        source_vocab=VOCAB, target_vocab=VOCAB, width=14, depth=2, heads=7, feedforward=17, max_length=19, dropout=0.3,
        attention_dropout=0.2,
    ),
    "bert-base": dict(
        vocab=VOCAB, width=14, depth=2, heads=7, feedforward=17, max_length=19, dropout=0.3, attention_dropout=0.2
    ),
}  # fmt: skip


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
    return zoo.build(name, **{**vocabularies(name), **overrides})


def vocabularies(name):
    return {field: VOCAB for field in zoo.describe(name).config if field.endswith("vocab")}


def inputs(model):
    """The batch in the form that the model takes."""
    if "vocab" in model.fields:
        return {
            "tokens": batch()["source"],
            "segments": np.array([[0, 0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1]], "int32"),
        }
    return batch()


TEXTS = ["the cat sat", "the dog ran home", "a b c d e f g"]


def text_model(tokenizer, name="transformer-tiny", **overrides):
    sizes = {"source_vocab": tokenizer.vocabulary, "target_vocab": tokenizer.vocabulary}
    return zoo.TextModel(zoo.build(name, **{**sizes, **overrides}), tokenizer)
