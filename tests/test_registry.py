import pytest

import zoo

# Derived from the papers' equations; see the docstrings of the families.
COUNTS = [
    ("transformer-base", {}, 63_045_632),
    ("transformer-base", {"attention_bias": True}, 63_082_496),
    ("transformer-big", {"attention_bias": True}, 214_171_648 + 18 * 4 * 1024),
    ("transformer-big", {}, 214_171_648),
    # Three matrices of 30,000 x 620 and the rest, with every bias the paper leaves out of its equations.
    ("seq2seq-bahdanau", {}, 80_443_000),
    # Weights, one bias vector per LSTM gate set, W_c and the score's matrix.
    ("seq2seq-luong", {"score": "dot", "input_feeding": True}, 220_000_000 + 32_000),
    ("seq2seq-luong", {"score": "general", "input_feeding": True}, 221_000_000 + 32_000),
    ("seq2seq-luong", {}, 214_000_000 + 2_000_000 + 1_000_000 + 32_000),
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
    assert zoo.list_models("seq2seq-luong*") == ["seq2seq-luong", "seq2seq-luong-tiny"]
    assert zoo.list_models("nothing-*") == []


def test_an_unknown_name_is_answered_with_near_ones():
    with pytest.raises(ValueError, match="'transformer-bass'.*transformer-base"):
        zoo.build("transformer-bass")


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
        ("transformer-tiny", {"positions": "learned"}, "positions='learned'"),
        ("transformer-tiny", {"depth": 0}, "depth=0: must be a whole number of at least 1"),
        ("transformer-tiny", {"depth": 2.0}, "depth=2.0: must be a whole number"),
        ("transformer-tiny", {"depth": True}, "depth=True: must be a whole number"),
        ("transformer-tiny", {"key_width": -1}, "key_width=-1: must be a whole number"),
        ("transformer-tiny", {"tied": "yes"}, "tied='yes': must be True or False"),
        ("transformer-tiny", {"dropout": 1.0}, "dropout=1.0: must be a rate"),
        ("transformer-tiny", {"dropout": "high"}, "dropout='high': must be a rate"),
        ("seq2seq-tiny", {"source_vocab": 4}, "source_vocab=4: must be a whole number of at least 5"),
        ("seq2seq-tiny", {"cell": "rnn"}, "cell='rnn'.*'gru', 'lstm'"),
        ("seq2seq-luong-tiny", {"score": "cosine"}, "score='cosine'.*'dot'"),
        ("seq2seq-luong-tiny", {"cell": "rnn"}, "cell='rnn'"),
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


def test_keras_fields_are_taken():
    model = zoo.build("seq2seq-tiny", dtype="mixed_bfloat16", name="mine")
    assert (model.name, model.dtype_policy.name) == ("mine", "mixed_bfloat16")
