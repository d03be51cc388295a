"""Model names, and what stands behind each: a class, a configuration, a paper. Loads no Keras until it builds."""

import contextlib
import difflib
import fnmatch
import importlib

from zoo.models.catalog import FAMILIES, MODELS

_KERAS_FIELDS = ("dtype", "name")
_WORDS = ("local",)  # fields that are a word or None
# What a model may have been compiled with: a saved one asks for these by name.
_COMPILED = ("zoo.training.losses", "zoo.training.metrics", "zoo.training.schedules")


def list_models(pattern="*"):
    """Names of models, sorted; `pattern` may hold wildcards, as in `list_models("seq2seq-*")`."""
    return sorted(fnmatch.filter(MODELS, pattern))


def resolve(name, overrides):
    """Finds what stands behind a name.

    Returns:
        (its `Entry`, its `Family`, complete configuration).
    Raises:
        ValueError: an unknown name, with the names nearest to it; a value that cannot be, with field and rule.
        TypeError: an unknown field, with the fields there are.
    """
    if not isinstance(name, str) or name not in MODELS:
        near = difflib.get_close_matches(str(name), MODELS, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(list_models())}"
        raise ValueError(f"no model is named {name!r}: {hint}")
    entry = MODELS[name]
    family = FAMILIES[entry.family]
    for field in overrides:
        if field not in family.fields:
            raise TypeError(f"{name} has no field {field!r}: its fields are {', '.join(family.fields)}")
    config = {**family.fields, **entry.changes, **overrides}
    config = {field: _check_value(field, value, family.fields[field]) for field, value in config.items()}
    family.check(config)
    return entry, family, config


def build(name, /, **overrides):
    """Builds a model by name: weights made, ready for `compile()` and `fit()`.

    Args:
        name: one of `list_models()`.
        overrides: any field of the model's configuration (see `describe(name)`), and Keras's `dtype` and `name`.
    Returns:
        A built `keras.Model` over {"source": (B, S), "target": (B, T)} int ids, giving float32 logits (B, T, V); BERT's
        inputs and outputs are its class's.
    Raises:
        ValueError, TypeError: see `resolve`.

    Example::

        model = zoo.build("transformer-base", source_vocab=8000, target_vocab=8000)
    """
    keras_fields = {field: overrides.pop(field) for field in _KERAS_FIELDS if field in overrides}
    _, family, config = resolve(name, overrides)
    module, _, kind = family.path.partition(":")
    model = getattr(importlib.import_module(module), kind)(**config, **{"name": name, **keras_fields})
    model.build()
    return model


def load_model(path):
    """Loads a model saved as a `.keras` file, optimiser and all: Keras's own loading, with the zoo's classes known."""
    models = [family.path.partition(":")[0] for family in FAMILIES.values()]
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
    # NumPy's numbers are numbers
    for kind in (bool, int, float):
        if hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0 and isinstance(value.item(), kind):
            value = value.item()
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ValueError(f"{field}={value!r}: must be True or False")
    elif isinstance(default, float):
        _check_number(field, value)
    elif isinstance(default, int) or (default is None and field not in _WORDS and value is not None):
        # four special ids and a token; a source may have nothing to copy
        least = 5 if field.endswith("vocab") else 0 if field == "copies" else 1
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"{field}={value!r}: must be a whole number of at least {least}")
    return value


def _check_number(field, value):
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if field.endswith("_weight"):
        if not number or not 0 <= value < float("inf"):
            raise ValueError(f"{field}={value!r}: must be a number of at least 0")
    elif not number or not 0 <= value < 1:
        raise ValueError(f"{field}={value!r}: must be a rate from 0 up to, not including, 1")
