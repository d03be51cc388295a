"""Attention zoo: attention models for Keras 3, built by name, trained with fit(), seen from inside.

Public names load on first use, so `import zoo` loads neither Keras nor TensorFlow.
"""

from zoo.lazy import lazily
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
    "zoo.training.callbacks": ("Scalars",),
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
__getattr__, __dir__, __all__ = lazily(__name__, _HOMES, packages=("inspection", "tensorboard"))
