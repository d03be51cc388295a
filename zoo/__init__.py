"""Attention zoo: attention models for Keras 3, built by name, trained with fit(), seen from inside.

Public names load on first use, so `import zoo` loads neither Keras nor TensorFlow.
"""

import importlib

from zoo.version import VERSION

_HOMES = {
    "zoo.registry": ("build", "list_models", "load_model", "parse_fields"),
    "zoo.description": ("Description", "describe"),
    "zoo.data.corpus": ("Corpus", "corpus", "list_corpora"),
    "zoo.data.pipeline": ("Batches", "batches"),
    "zoo.text.tokenizer": ("Tokenizer",),
    "zoo.training.losses": ("TokenCrossEntropy",),
    "zoo.training.metrics": ("Perplexity", "TokenAccuracy"),
    "zoo.training.schedules": ("InverseSquareRoot", "bahdanau_optimizer", "transformer_optimizer"),
    "zoo.training.callbacks": ("AttentionImages", "Scalars"),
    "zoo.training.evaluate": ("Scores", "evaluate"),
    "zoo.inspection.alignment": (
        "AlignmentScore",
        "WordAttention",
        "alignment_error_rate",
        "alignment_scores",
        "word_attention",
    ),
    "zoo.inspection.heatmap": ("side_by_side",),
    "zoo.inspection.maps": ("attention_maps",),
    "zoo.inspection.view": ("AttentionView",),
    "zoo.decoding.protocol": ("Hypotheses", "compiled_graphs"),
    "zoo.decoding.beam": ("beam_search",),
    "zoo.decoding.greedy": ("greedy",),
    "zoo.decoding.ensemble": ("Ensemble",),
    "zoo.decoding.sample": ("sample",),
    "zoo.decoding.score": ("score",),
    "zoo.distribution.strategies": ("strategy",),
    "zoo.cli": ("guarded",),
    "zoo.quiet": ("quiet",),
    "zoo.tables": ("markdown_table",),
    "zoo.folders": ("check_folder",),
    "zoo.task": ("TextModel", "load"),
}
__version__ = VERSION
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'zoo' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOME})
