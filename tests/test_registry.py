import numpy as np
import pytest

import zoo

# Derived from the papers' equations; see the docstrings of the families. Where a sum is written out, its last terms are
# the biases, which the papers leave out of their equations, or what the paper adds to the model before.
LUONG = {"embedding": 1000, "width": 1000, "depth": 4, "cell": "lstm", "source_vocab": 50_000, "target_vocab": 50_000}
COUNTS = [
    ("transformer-base", {}, 63_045_632),
    ("transformer-base", {"attention_bias": True}, 63_082_496),
    ("transformer-big", {"attention_bias": True}, 214_171_648 + 18 * 4 * 1024),
    ("transformer-big", {}, 214_171_648),
    # Attention biases, and a last normalisation of two vectors for each stack; no embeddings.
    ("transformer-base-prenorm", {"attention_bias": True}, 44_140_544 + 18_944_000),
    ("transformer-base-relative", {}, 63_045_632 + 12 * 33 * 8 * (64 + 64)),
    ("transformer-base-relative", {"shared_relation": True, "clip": 8}, 63_045_632 + 12 * 17 * (64 + 64)),
    ("transformer-base-rope", {}, 63_045_632),
    ("transformer-base-alibi", {}, 63_045_632),
    ("transformer-base-t5bias", {}, 63_045_632 + 2 * 32 * 8),
    ("transformer-base-mqa", {}, 63_045_632 - 18 * 2 * 512 * 7 * 64),
    ("transformer-base-gqa", {}, 63_045_632 - 18 * 2 * 512 * 6 * 64),
    ("transformer-base", {"positions": "learned"}, 63_045_632 + 2 * 512 * 512),
    # 37,000 x 512; 18 attentions of 2 x 512^2 and 2 x 512 x 128; 12 x 3 x 512 x 1408; 30 norms of 512 and two last ones
    ("transformer-modern", {}, 18_944_000 + 18 * 655_360 + 12 * 2_162_688 + 32 * 512),
    # Weights without biases: 80,401,000. Three matrices of 30,000 x 620 and the rest, with every bias: 80,443,000.
    ("seq2seq-bahdanau", {}, 80_443_000),
    ("seq2seq-bahdanau-coverage", {}, 80_443_000 + 1_000),
    ("seq2seq-base", LUONG, 214_000_000 + 2 * 16_000 + 50_000),
    ("seq2seq-luong-dot", {}, 220_000_000 + 32_000),
    ("seq2seq-luong-general", {}, 221_000_000 + 32_000),
    ("seq2seq-luong-concat", {}, 222_001_000 + 32_000),
    ("seq2seq-luong-location", {}, 220_050_000 + 32_000),
    ("seq2seq-luong-local-m", {}, 221_000_000 + 32_000),
    ("seq2seq-luong-local-p", {}, 221_000_000 + 1_001_000 + 32_000),
    ("seq2seq-luong", {}, 214_000_000 + 2_000_000 + 1_000_000 + 32_000),
    ("seq2seq-pointer", {}, 21_499_600 + 1_153 + 512),
    ("seq2seq-pointer", {"coverage": False}, 21_499_600 + 1_153),
    ("gpt2-small", {}, 124_439_808),
    ("bert-base", {}, 109_482_240 + 768 * 769 + 2 * 768 + 30_522 + 2 * 769),
    ("bert-tiny", {}, 4_385_920 + 128 * 129 + 2 * 128 + 30_522 + 2 * 129),
]

# Vaswani et al., Table 3: differences to the base model, derived.
DIFFERENCES = [
    ({"key_width": 16}, -7_077_888),
    ({"key_width": 32}, -4_718_592),
    ({"depth": 2}, -29_401_088),
    ({"depth": 4}, -14_700_544),
    ({"depth": 8}, 14_700_544),
    ({"feedforward": 1024}, -12_595_200),
    ({"feedforward": 4096}, 25_190_400),
]


@pytest.mark.parametrize(("name", "overrides", "expected"), COUNTS)
def test_counts_of_the_papers(name, overrides, expected):
    assert zoo.describe(name, **overrides).parameters == expected


@pytest.mark.parametrize(("overrides", "difference"), DIFFERENCES)
def test_table_3_differences(overrides, difference):
    base = zoo.describe("transformer-base").parameters
    assert zoo.describe("transformer-base", **overrides).parameters - base == difference


@pytest.mark.parametrize(("name", "published"), [("bert-base", 109_482_240), ("bert-tiny", 4_385_920)])
def test_berts_encoder_with_pooler_has_the_published_size(name, published):
    parts = zoo.describe(name).parts
    assert parts["embeddings"] + parts["encoder"] + parts["pooler"] == published


def test_parts_by_hand():
    tiny = {"source_vocab": 11, "target_vocab": 13, "width": 4, "depth": 1, "heads": 2, "feedforward": 5}
    parts = zoo.describe("transformer-base", tied=False, **tiny).parts
    feedforward = 4 * 5 + 5 + 5 * 4 + 4
    assert parts == {
        "source embedding": 11 * 4,
        "target embedding": 13 * 4,
        "output": 13 * 4,
        "encoder": 4 * 16 + feedforward + 2 * 8,
        "decoder": 8 * 16 + feedforward + 3 * 8,
    }


def test_flops_and_memory_by_hand():
    described = zoo.describe("transformer-base", tied=False, source_vocab=11, target_vocab=13)
    assert described.flops_per_target_token == 2 * (described.parameters - (11 + 13) * 512)
    assert described.training_bytes == 16 * described.parameters


def test_the_table_names_model_paper_and_total():
    text = str(zoo.describe("transformer-base"))
    assert "transformer-base" in text
    assert "Vaswani" in text
    assert "63,045,632" in text


def test_names_are_sorted_and_matched():
    assert zoo.list_models() == sorted(zoo.list_models())
    assert zoo.list_models("seq2seq-bah*y") == ["seq2seq-bahdanau-tiny"]
    assert zoo.list_models("nothing-*") == []


def test_an_unknown_name_is_answered_with_near_ones():
    with pytest.raises(ValueError, match="'transformer-bass'.*transformer-base"):
        zoo.build("transformer-bass")


def test_a_name_that_is_no_text_is_refused():
    with pytest.raises(ValueError, match=r"no model is named \['a'\]"):
        zoo.build(["a"])


def test_a_name_near_nothing_is_answered_with_all():
    with pytest.raises(ValueError, match="there are .*seq2seq-bahdanau.*transformer-tiny"):
        zoo.describe("qqqq")


@pytest.mark.parametrize("call", [zoo.build, zoo.describe])
def test_an_unknown_field_is_named(call):
    with pytest.raises(TypeError, match="transformer-tiny has no field 'widht'.*width"):
        call("transformer-tiny", widht=3)


@pytest.mark.parametrize(
    ("name", "overrides", "words"),
    [
        ("transformer-tiny", {"width": 65}, "heads=4 does not divide width=65"),
        ("transformer-tiny", {"source_vocab": 7}, "source_vocab=7 and target_vocab=1000 differ while tied=True"),
        ("transformer-tiny", {"norm": "both"}, "norm='both'.*'post', 'pre'"),
        ("transformer-tiny", {"positions": "sine"}, "positions='sine'.*'learned', 'relative'"),
        ("transformer-tiny", {"depth": 0}, "depth=0: must be a whole number of at least 1"),
        ("transformer-tiny", {"depth": 2.0}, "depth=2.0: must be a whole number"),
        ("transformer-tiny", {"depth": True}, "depth=True: must be a whole number"),
        ("transformer-tiny", {"key_width": -1}, "key_width=-1: must be a whole number"),
        ("transformer-tiny", {"tied": "yes"}, "tied='yes': must be True or False"),
        ("transformer-tiny", {"dropout": 1.0}, "dropout=1.0: must be a rate"),
        ("transformer-tiny", {"dropout": "high"}, "dropout='high': must be a rate"),
        ("seq2seq-tiny", {"cell": ["gru"]}, r"cell=\['gru'\]: must be one of"),
        ("transformer-tiny", {"norm": np.array([1, 2])}, "norm=array.*must be one of"),
        ("seq2seq-tiny", {"source_vocab": 4}, "source_vocab=4: must be a whole number of at least 5"),
        ("seq2seq-tiny", {"cell": "rnn"}, "cell='rnn'.*'gru', 'gated', 'lstm'"),
        ("seq2seq-luong-tiny", {"score": "cosine"}, "score='cosine'.*'dot'"),
        ("seq2seq-luong-tiny", {"cell": "rnn"}, "cell='rnn'"),
        ("seq2seq-luong-tiny", {"local": "x"}, "local='x'.*None, 'm', 'p'"),
        ("seq2seq-luong-tiny", {"window": 0}, "window=0: must be a whole number of at least 1"),
        ("seq2seq-luong-tiny", {"initialization": "zeros"}, "initialization='zeros'.*'paper'"),
        ("seq2seq-bahdanau-tiny", {"output_state": "next"}, "output_state='next'.*'current', 'previous'"),
        ("seq2seq-bahdanau-tiny", {"initialization": "zeros"}, "initialization='zeros'.*'glorot'"),
        ("seq2seq-bahdanau-tiny", {"coverage_weight": -0.5}, "coverage_weight=-0.5: must be a number of at least 0"),
        ("seq2seq-pointer-tiny", {"copies": -1}, "copies=-1: must be a whole number of at least 0"),
        ("seq2seq-pointer-tiny", {"source_vocab": 7}, "source_vocab=7 and target_vocab=1000 differ.*copied"),
        ("transformer-tiny", {"key_heads": 3}, "key_heads=3 does not divide heads=4"),
        ("transformer-tiny", {"positions": "rope", "key_width": 5}, "key_width=5 of a head is odd"),
        ("transformer-tiny", {"positions": "rope", "width": 36}, "key_width=9 of a head is odd"),
        ("transformer-tiny", {"window": 0}, "window=0: must be a whole number of at least 1"),
        ("transformer-tiny", {"clip": 0}, "clip=0: must be a whole number of at least 1"),
        ("transformer-tiny", {"activation": "tanh"}, "activation='tanh'.*'relu', 'gelu'"),
        ("transformer-tiny", {"normalization": "batch"}, "normalization='batch'.*'layer', 'rms'"),
        ("transformer-tiny", {"positions": "t5", "buckets": 7}, "buckets=7: must be even and at least 4"),
        ("transformer-tiny", {"positions": "t5", "buckets": 2}, "buckets=2: must be even and at least 4"),
        ("transformer-tiny", {"positions": "t5", "max_distance": 16}, "max_distance=16: must be more than buckets / 2"),
        ("gpt2-tiny", {"width": 65}, "heads=4 does not divide width=65"),
        ("gpt2-tiny", {"source_vocab": 7}, "source_vocab=7 and target_vocab=1000 differ.*one row"),
        ("bert-tiny", {"heads": 3}, "heads=3 does not divide width=128"),
        ("bert-tiny", {"vocab": 3}, "vocab=3: must be a whole number of at least 5"),
    ],
)
@pytest.mark.parametrize("call", [zoo.build, zoo.describe])
def test_a_value_that_cannot_be_is_refused(call, name, overrides, words):
    with pytest.raises(ValueError, match=words):
        call(name, **overrides)


def test_fields_as_on_a_command_line():
    texts = ["depth=4", "dropout=0.5", "tied=False", "key_width=None", "norm=pre"]
    expected = {"depth": 4, "dropout": 0.5, "tied": False, "key_width": None, "norm": "pre"}
    assert zoo.parse_fields(texts) == expected
    with pytest.raises(ValueError, match="'depth' is not FIELD=VALUE"):
        zoo.parse_fields(["depth"])


def test_numpys_whole_numbers_are_whole_numbers():
    assert zoo.describe("transformer-tiny", depth=np.int64(3)).config["depth"] == 3
    described = zoo.describe("transformer-tiny", dropout=np.float32(0.5), attention_bias=np.True_)
    assert (described.config["dropout"], described.config["attention_bias"]) == (0.5, True)
    with pytest.raises(ValueError, match="depth=True: must be a whole number"):
        zoo.describe("transformer-tiny", depth=np.True_)


def test_a_description_does_not_count_one_by_one():
    assert zoo.describe("seq2seq-tiny", depth=10**12).parameters > 10**16


def test_keras_fields_are_taken():
    model = zoo.build("seq2seq-tiny", dtype="mixed_bfloat16", name="mine")
    assert (model.name, model.dtype_policy.name) == ("mine", "mixed_bfloat16")
