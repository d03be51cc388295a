"""Model names, and what stands behind each: a class, a configuration, a paper. Loads no Keras until it builds."""

import contextlib
import difflib
import fnmatch
import importlib
from collections.abc import Callable
from dataclasses import dataclass

from zoo.models import sizes


@dataclass(frozen=True)
class Family:
    """Models of one class: its import path, its paper, every field with its default, its checks and its arithmetic."""

    path: str
    paper: str
    fields: dict
    check: Callable
    count: Callable


_FAMILIES = {
    "seq2seq": Family(
        "zoo.models.seq2seq:Seq2Seq",
        "Cho et al. 2014; Sutskever et al. 2014",
        # Bahdanau et al. 2015, A.2.3, for its baseline RNNenc
        dict(source_vocab=30_000, target_vocab=30_000, embedding=620, width=1000, depth=1, cell="gru", dropout=0.0),
        sizes.check_seq2seq,
        sizes.count_seq2seq,
    ),
    "seq2seq-bahdanau": Family(
        "zoo.models.bahdanau:BahdanauSeq2Seq",
        "Bahdanau et al. 2015",
        # A.2.3: n, m, l, n'; 4.1: shortlists of 30,000
        dict(
            source_vocab=30_000, target_vocab=30_000, embedding=620, width=1000, alignment=1000, maxout=500,
            cell="gru", dropout=0.0,
        ),
        sizes.check_seq2seq,
        sizes.count_bahdanau,
    ),
    "seq2seq-luong": Family(
        "zoo.models.luong:LuongSeq2Seq",
        "Luong et al. 2015",
        # 4.1: 4 layers of 1,000 cells, 1,000-dimensional embeddings, 50,000 words, sentences up to 50 words, dropout .2
        dict(
            source_vocab=50_000, target_vocab=50_000, embedding=1000, width=1000, depth=4, cell="lstm",
            score="general", input_feeding=False, max_source=50, dropout=0.2,
        ),
        sizes.check_luong,
        sizes.count_luong,
    ),
    "transformer": Family(
        "zoo.models.transformer:Transformer",
        "Vaswani et al. 2017",
        # Table 3, row "base"; 5.1: 37,000 shared tokens
        dict(
            source_vocab=37_000, target_vocab=37_000, width=512, depth=6, heads=8, feedforward=2048, key_width=None,
            value_width=None, dropout=0.1, norm="post", attention_bias=False, positions="interleaved", tied=True,
        ),
        sizes.check_transformer,
        sizes.count_transformer,
    ),
}  # fmt: skip

# What learns the toy corpus in minutes on two CPU cores; models this small underfit, so they drop nothing.
_TINY = {"source_vocab": 1000, "target_vocab": 1000, "dropout": 0.0}
_TINY_RNN = {**_TINY, "embedding": 64, "width": 128}

# name -> (family, what differs from the family's defaults)
_MODELS = {
    "seq2seq-base": ("seq2seq", {}),
    "seq2seq-tiny": ("seq2seq", _TINY_RNN),
    "seq2seq-bahdanau": ("seq2seq-bahdanau", {}),
    "seq2seq-bahdanau-tiny": ("seq2seq-bahdanau", {**_TINY_RNN, "alignment": 64, "maxout": 64}),
    "seq2seq-luong": ("seq2seq-luong", {}),
    "seq2seq-luong-tiny": ("seq2seq-luong", {**_TINY_RNN, "depth": 1}),
    "transformer-tiny": ("transformer", {**_TINY, "width": 64, "depth": 2, "heads": 4, "feedforward": 256}),
    "transformer-small": ("transformer", {"width": 256, "depth": 3, "heads": 4, "feedforward": 1024}),
    "transformer-base": ("transformer", {}),
    "transformer-big": ("transformer", {"width": 1024, "heads": 16, "feedforward": 4096, "dropout": 0.3}),
}

_KERAS_FIELDS = ("dtype", "name")
# What a model may have been compiled with: a saved one asks for these by name.
_COMPILED = ("zoo.training.losses", "zoo.training.metrics", "zoo.training.schedules")


def list_models(pattern="*"):
    """Names of models, sorted; `pattern` may hold wildcards, as in `list_models("seq2seq-*")`."""
    return sorted(fnmatch.filter(_MODELS, pattern))


def resolve(name, overrides):
    """Finds what stands behind a name.

    Returns:
        (family, complete configuration).
    Raises:
        ValueError: an unknown name, with the names nearest to it; a value that cannot be, with field and rule.
        TypeError: an unknown field, with the fields there are.
    """
    if name not in _MODELS:
        near = difflib.get_close_matches(str(name), _MODELS, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(list_models())}"
        raise ValueError(f"no model is named {name!r}: {hint}")
    family_name, changes = _MODELS[name]
    family = _FAMILIES[family_name]
    for field in overrides:
        if field not in family.fields:
            raise TypeError(f"{name} has no field {field!r}: its fields are {', '.join(family.fields)}")
    config = {**family.fields, **changes, **overrides}
    for field, value in config.items():
        _check_value(field, value, family.fields[field])
    family.check(config)
    return family, config


def build(name, /, **overrides):
    """Builds a model by name: weights made, ready for `compile()` and `fit()`.

    Args:
        name: one of `list_models()`.
        overrides: any field of the model's configuration (see `describe(name)`), and Keras's `dtype` and `name`.
    Returns:
        A built `keras.Model` over {"source": (B, S), "target": (B, T)} int ids, giving float32 logits (B, T, V).
    Raises:
        ValueError, TypeError: see `resolve`.

    Example::

        model = zoo.build("transformer-base", source_vocab=8000, target_vocab=8000)
    """
    keras_fields = {field: overrides.pop(field) for field in _KERAS_FIELDS if field in overrides}
    family, config = resolve(name, overrides)
    module, _, kind = family.path.partition(":")
    model = getattr(importlib.import_module(module), kind)(**config, **{"name": name, **keras_fields})
    model.build({"source": (None, None), "target": (None, None)})
    return model


def load_model(path):
    """Loads a model saved as a `.keras` file, optimiser and all: Keras's own loading, with the zoo's classes known."""
    models = [family.path.partition(":")[0] for family in _FAMILIES.values()]
    for module in [*models, *_COMPILED]:
        importlib.import_module(module)
    return importlib.import_module("keras").models.load_model(path)


def parse_fields(texts):
    """Reads fields as they are written on a command line: ["depth=4", "tied=False"] -> {"depth": 4, "tied": False}.

    A value is a number, True, False or None where it reads as one, else a word.

    Raises:
        ValueError: a text without "=".
    """
    return dict(map(_parse_field, texts))


def _parse_field(text):
    field, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is not FIELD=VALUE, such as depth=4")
    words = {"True": True, "False": False, "None": None}
    if value in words:
        return field, words[value]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return field, kind(value)
    return field, value


def _check_value(field, value, default):
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ValueError(f"{field}={value!r}: must be True or False")
    elif isinstance(default, float):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
            raise ValueError(f"{field}={value!r}: must be a rate from 0 up to, not including, 1")
    elif isinstance(default, int) or (default is None and value is not None):
        least = 5 if field.endswith("_vocab") else 1  # four special ids and a token
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"{field}={value!r}: must be a whole number of at least {least}")
