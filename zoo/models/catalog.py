"""The table of models: families with their fields, and names with what differs from their neighbour. No Keras."""

from collections.abc import Callable
from dataclasses import dataclass, field

from zoo.models.sizes import recurrent, transformer


@dataclass(frozen=True)
class Family:
    """Models of one class: its import path, its paper, every field with its default, its checks and its arithmetic."""

    path: str
    paper: str
    fields: dict
    check: Callable
    count: Callable


@dataclass(frozen=True)
class Entry:
    """A named model: its family, the fields it changes, what that makes different, its paper where it has its own."""

    family: str
    differs: str
    changes: dict = field(default_factory=dict)
    paper: str | None = None


FAMILIES = {
    "seq2seq": Family(
        "zoo.models.seq2seq:Seq2Seq",
        "Cho et al. 2014; Sutskever et al. 2014",
        # Bahdanau et al. 2015, A.2.3, for its baseline RNNenc
        dict(source_vocab=30_000, target_vocab=30_000, embedding=620, width=1000, depth=1, cell="gru", dropout=0.0),
        recurrent.check_seq2seq,
        recurrent.count_seq2seq,
    ),
    "seq2seq-bahdanau": Family(
        "zoo.models.bahdanau:BahdanauSeq2Seq",
        "Bahdanau et al. 2015",
        # A.2.3: n, m, l, n'; 4.1: shortlists of 30,000; B.1
        dict(
            source_vocab=30_000, target_vocab=30_000, embedding=620, width=1000, alignment=1000, maxout=500,
            cell="gated", output_state="current", initialization="paper", coverage=False, coverage_weight=1.0,
            dropout=0.0,
        ),
        recurrent.check_bahdanau,
        recurrent.count_bahdanau,
    ),
    "seq2seq-luong": Family(
        "zoo.models.luong:LuongSeq2Seq",
        "Luong et al. 2015",
        # 4.1: 4 layers of 1,000 cells, 1,000-dimensional embeddings, 50,000 words, sentences up to 50 words, dropout .2
        dict(
            source_vocab=50_000, target_vocab=50_000, embedding=1000, width=1000, depth=4, cell="lstm",
            score="general", local=None, window=10, input_feeding=False, max_source=50, initialization="paper",
            dropout=0.2,
        ),
        recurrent.check_luong,
        recurrent.count_luong,
    ),
    "seq2seq-pointer": Family(
        "zoo.models.pointer:PointerSeq2Seq",
        "See et al. 2017",
        # 5: 256 units, 128-dimensional embeddings, 50,000 words
        dict(
            source_vocab=50_000, target_vocab=50_000, embedding=128, width=256, copies=100, coverage=True,
            coverage_weight=1.0, dropout=0.0,
        ),
        recurrent.check_pointer,
        recurrent.count_pointer,
    ),
    "transformer": Family(
        "zoo.models.transformer:Transformer",
        "Vaswani et al. 2017",
        # Table 3, row "base"; 5.1: 37,000 shared tokens
        dict(
            source_vocab=37_000, target_vocab=37_000, width=512, depth=6, heads=8, key_heads=None, feedforward=2048,
            activation="relu", key_width=None, value_width=None, dropout=0.1, attention_dropout=0.0, norm="post",
            normalization="layer", attention_bias=False, positions="interleaved", max_length=512, clip=16,
            shared_relation=False, buckets=32, max_distance=128, window=None, tied=True,
        ),
        transformer.check_transformer,
        transformer.count_transformer,
    ),
    "bert": Family(
        "zoo.models.bert:BERT",
        "Devlin et al. 2019",
        # 3: L=12, H=768, A=12; 30,522 is the size of the WordPiece vocabulary published with it
        dict(
            vocab=30_522, width=768, depth=12, heads=12, feedforward=3072, max_length=512, dropout=0.1,
            attention_dropout=0.1,
        ),
        transformer.check_bert,
        transformer.count_bert,
    ),
    "gpt2": Family(
        "zoo.models.gpt2:GPT2",
        "Radford et al. 2019",
        # Table 2, first row; 50,257 tokens and 1,024 positions
        dict(
            source_vocab=50_257, target_vocab=50_257, width=768, depth=12, heads=12, feedforward=3072,
            max_length=1024, dropout=0.1, attention_dropout=0.1,
        ),
        transformer.check_gpt2,
        transformer.count_gpt2,
    ),
}  # fmt: skip

# What learns the toy corpus in minutes on two CPU cores; models this small underfit, so they drop nothing.
_TINY = {"source_vocab": 1000, "target_vocab": 1000, "dropout": 0.0}
_TINY_RNN = {**_TINY, "embedding": 64, "width": 128}
_TINY_BAHDANAU = {**_TINY_RNN, "alignment": 64, "maxout": 64, "initialization": "glorot"}
_TINY_TRANSFORMER = {**_TINY, "width": 64, "depth": 2, "heads": 4, "feedforward": 256}
# Pre-norm, RMSNorm, rotary positions, grouped queries, SwiGLU. Two thirds of the inner width keep the size (Shazeer).
_MODERN = {"norm": "pre", "normalization": "rms", "positions": "rope", "activation": "swiglu"}


def _luong(differs, **changes):
    """What Luong et al. compare in section 5.3 (Table 4 leaves concat out); all of them feed h~ back."""
    return Entry("seq2seq-luong", f"seq2seq-luong with input feeding, {differs}", {"input_feeding": True, **changes})


def _base(differs, paper, **changes):
    return Entry("transformer", f"transformer-base with {differs}", changes, paper)


MODELS = {
    "seq2seq-base": Entry("seq2seq", "no attention: one vector carries the sentence"),
    "seq2seq-tiny": Entry("seq2seq", "seq2seq-base, small", _TINY_RNN),
    "seq2seq-bahdanau": Entry("seq2seq-bahdanau", "additive attention, from the state before the step"),
    "seq2seq-bahdanau-tiny": Entry(
        "seq2seq-bahdanau", "seq2seq-bahdanau, small; Keras's initial values", _TINY_BAHDANAU
    ),
    "seq2seq-bahdanau-coverage": Entry(
        "seq2seq-bahdanau",
        "seq2seq-bahdanau whose scores see the weights so far; coverage loss",
        {"coverage": True},
        "Bahdanau et al. 2015; See et al. 2017",
    ),
    "seq2seq-luong": Entry(
        "seq2seq-luong", "multiplicative attention, from the state after the step; score h_t . W h_s"
    ),
    "seq2seq-luong-tiny": Entry(
        "seq2seq-luong", "seq2seq-luong, small; Keras's initial values",
        {**_TINY_RNN, "depth": 1, "initialization": "glorot"},
    ),
    "seq2seq-luong-dot": _luong("score h_t . h_s", score="dot"),
    "seq2seq-luong-general": _luong("score h_t . W h_s", score="general"),
    "seq2seq-luong-concat": _luong("score v . tanh(W [h_t; h_s])", score="concat"),
    "seq2seq-luong-location": _luong("score from h_t alone", score="location"),
    "seq2seq-luong-local-m": _luong("general score in a window around t", local="m"),
    "seq2seq-luong-local-p": _luong("general score in a window around a predicted place", local="p"),
    "seq2seq-pointer": Entry("seq2seq-pointer", "writes a word or copies one of the source; coverage"),
    "seq2seq-pointer-tiny": Entry("seq2seq-pointer", "seq2seq-pointer, small; copies words of the vocabulary only",
                                  {**_TINY_RNN, "copies": 0}),
    "transformer-base": Entry("transformer", "multi-head attention, post-norm, sinusoids"),
    "transformer-big": Entry(
        "transformer", "transformer-base, twice as wide",
        {"width": 1024, "heads": 16, "feedforward": 4096, "dropout": 0.3},
    ),
    "transformer-small": Entry(
        "transformer", "transformer-base, half as wide and deep",
        {"width": 256, "depth": 3, "heads": 4, "feedforward": 1024},
    ),
    "transformer-tiny": Entry("transformer", "transformer-base, small", _TINY_TRANSFORMER),
    "transformer-base-prenorm": _base("normalisation before each sub-layer", "Wang et al. 2019", norm="pre"),
    "transformer-base-relative": _base(
        "vectors for clipped distances, keys and values", "Shaw et al. 2018", positions="relative"
    ),
    "transformer-base-rope": _base("rotary positions", "Su et al. 2021", positions="rope"),
    "transformer-base-alibi": _base("a linear bias for distance", "Press et al. 2022", positions="alibi"),
    "transformer-base-t5bias": _base("a learned bias for distance", "Raffel et al. 2020", positions="t5"),
    "transformer-base-mqa": _base("one head of keys and values", "Shazeer 2019", key_heads=1),
    "transformer-base-gqa": _base("two heads of keys and values", "Ainslie et al. 2023", key_heads=2),
    "transformer-modern": _base(
        "pre-norm, RMSNorm, rotary positions, grouped queries, SwiGLU", "Touvron et al. 2023",
        **_MODERN, key_heads=2, feedforward=1408,
    ),
    "transformer-modern-tiny": Entry(
        "transformer", "transformer-modern, small",
        {**_TINY_TRANSFORMER, **_MODERN, "key_heads": 2, "feedforward": 176},
        "Touvron et al. 2023",
    ),
    "bert-base": Entry("bert", "encoder alone; masked tokens and next sentence"),
    "bert-tiny": Entry(
        "bert", "bert-base, with 2 layers of 128", {"width": 128, "depth": 2, "heads": 2, "feedforward": 512},
        "Devlin et al. 2019; Turc et al. 2019",
    ),
    "gpt2-small": Entry("gpt2", "decoder alone; the source is its prompt"),
    "gpt2-tiny": Entry(
        "gpt2", "gpt2-small, smaller", {**_TINY_TRANSFORMER, "max_length": 256, "attention_dropout": 0.0}
    ),
}  # fmt: skip
