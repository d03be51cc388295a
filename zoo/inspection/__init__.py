"""What is done with attention once it is out: pictures, alignments, and numbers that say what it is worth."""

from zoo.lazy import lazily

_HOMES = {
    "zoo.inspection.maps": ("attention_maps", "attention_vectors"),
    "zoo.inspection.view": ("AttentionView",),
    "zoo.inspection.alignment": (
        "AlignmentScore",
        "WordAttention",
        "alignment_error_rate",
        "alignment_scores",
        "word_attention",
    ),
    "zoo.data.alignment": ("Alignment", "read_pharaoh"),
    "zoo.inspection.pharaoh": ("to_pharaoh",),
    "zoo.inspection.propagation": ("flow", "rollout"),
    "zoo.inspection.faithfulness": ("correlation", "gradient_times_input", "head_ablation", "occlusion"),
    "zoo.inspection.html": ("page",),
}
__getattr__, __dir__, __all__ = lazily(__name__, _HOMES)
