import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.text.tokenizer import KINDS, Tokenizer

TEXTS = ["İstanbul'da ışık çok güzel", "the cat sat on the mat", "kedi paspasın üstüne oturdu"] * 5
HARD = [
    "İ ı I i",
    "İSTANBUL IŞIK ÇOK",
    "g\u0306 i\u0307 e\u0301",  # combining marks stay apart
    "👩‍👩‍👧 🇹🇷 ✨",
    "  two  spaces ",
    "",
    " ",
    "a\tb\r\nc\x00\x7f",
    "</s> <unk> <s> <pad> <0x41>",
    "𝔘𝔫𝔦 猫 ﷽",
]


BPE = Tokenizer.train(TEXTS, 330)


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request):
    return Tokenizer.train(TEXTS, 330, kind=request.param)


@pytest.mark.parametrize("text", HARD)
def test_the_round_trip_is_exact(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode([text])) == [text]


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(exclude_characters="▁", exclude_categories=["Cs"])))
def test_the_round_trip_is_exact_for_any_text(text):
    assert BPE.decode(BPE.encode([text])) == [text]


def test_no_text_becomes_a_special_id(tokenizer):
    for ids in tokenizer.encode(HARD):
        assert not {0, 1, 2, 3} & set(ids)


@pytest.mark.parametrize("reverse", [False, True])
def test_the_same_inside_tf_data(reverse, tokenizer):
    import tensorflow as tf

    tokenizer = tokenizer.reversed() if reverse else tokenizer
    dataset = tf.data.Dataset.from_tensor_slices(HARD).batch(3).map(tokenizer.in_graph())
    rows = [row for ragged in dataset for row in ragged.to_list()]
    assert rows == tokenizer.encode(HARD)


def test_special_ids_and_pieces(tokenizer):
    assert tokenizer.pieces([0, 1, 2, 3]) == ["<pad>", "<s>", "</s>", "<unk>"]
    assert "".join(tokenizer.pieces(tokenizer.encode(["the cat"])[0])) == "▁the▁cat"


def test_decoding_ends_at_the_end_and_skips_padding(tokenizer):
    (ids,) = tokenizer.encode(["the cat"])
    (other,) = tokenizer.encode(["mat"])
    rows = [[1, *ids, 2, *other, 0], np.array([*ids, 0, 0]), [2, *ids], []]
    assert tokenizer.decode(rows) == ["the cat", "the cat", "", ""]


def test_lower_casing_is_off_unless_asked_for():
    assert BPE.decode(BPE.encode(["IŞIK"])) == ["IŞIK"]
    turkish = Tokenizer.train(TEXTS, 330, lowercase="tr")
    assert turkish.decode(turkish.encode(["İSTANBUL IŞIK"])) == ["istanbul ışık"]


def test_training_is_deterministic(tokenizer):
    assert tokenizer.proto in [Tokenizer.train(TEXTS, 330, kind).proto for kind in KINDS]


def test_long_lines_are_learned_from():
    """SentencePiece leaves lines of over 4,192 bytes out at its default."""
    tokenizer = Tokenizer.train(["q" + "abcdefgh " * 600], 300)
    assert len(tokenizer.encode(["abcdefgh"])[0]) == 1


@pytest.mark.parametrize(
    ("texts", "options", "words"),
    [
        ([], {}, "no text"),
        (["  "], {}, "no text"),
        (["abc"], {"vocabulary": 263}, "vocabulary=263 is too small for 3 different characters.*at least 264"),
        (["abc"], {"kind": "word"}, "kind='word'.*'bpe'"),
    ],
)
def test_what_cannot_be_trained_is_refused(texts, options, words):
    with pytest.raises(ValueError, match=words):
        Tokenizer.train(texts, **{"vocabulary": 300, **options})


@pytest.mark.parametrize("language", ["TR", True, "", 3])
def test_a_language_that_is_no_code_is_refused(language):
    with pytest.raises(ValueError, match="lowercase=.*language code"):
        Tokenizer(BPE.proto, lowercase=language)


def test_a_string_is_not_a_list_of_texts():
    with pytest.raises(TypeError, match="letters would be taken one by one"):
        BPE.encode("the cat")
    with pytest.raises(TypeError, match="list of sentences"):
        Tokenizer.train("the cat", 300)


def test_the_smallest_vocabulary_works():
    tokenizer = Tokenizer.train(["abc"], 264)
    assert tokenizer.decode(tokenizer.encode(["cab xyz"])) == ["cab xyz"]


def test_bytes_that_are_no_model_are_refused():
    with pytest.raises(ValueError, match="not a SentencePiece model"):
        Tokenizer(b"nothing")


def test_a_model_with_other_special_ids_is_refused(tmp_path):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS), model_prefix=str(tmp_path / "other"), vocab_size=30, minloglevel=2
    )
    with pytest.raises(ValueError, match="pad, bos, eos, unk = .*0, 1, 2, 3"):
        Tokenizer((tmp_path / "other.model").read_bytes())


def test_a_reversed_tokenizer_turns_ids_and_keeps_texts():
    forwards = Tokenizer.train(["the cat sat on the mat", "işık çok"], 310)
    backwards = forwards.reversed()
    texts = ["the cat", "", " sat  çok"]
    assert backwards.encode(texts) == [row[::-1] for row in forwards.encode(texts)]
    assert backwards.decode([[*row, 2, 0] for row in backwards.encode(texts)]) == texts
    assert backwards.reversed().encode(texts) == forwards.encode(texts)
