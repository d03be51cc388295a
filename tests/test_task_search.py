"""Texts in, texts out, by any search."""

import numpy as np
import pytest

import zoo
from tests.samples import TEXTS, text_model
from zoo.ids import EOS


@pytest.fixture(scope="module")
def tokenizer():
    return zoo.Tokenizer.train(TEXTS * 3, 310)


@pytest.fixture(scope="module")
def text(tokenizer):
    return text_model(tokenizer)


NAMES = ["transformer-tiny", "seq2seq-bahdanau-tiny", "gpt2-tiny"]


def test_a_prompts_padding_takes_no_room(tokenizer):
    """37 tokens are padded to 40 and leave 13 of 50, one by one or together."""
    text = text_model(tokenizer, "gpt2-tiny", max_length=50)
    long = "a b c d e f g " * 9
    ids = text.source_tokenizer.encode([long])[0][:36]
    long = text.source_tokenizer.decode([ids])[0]
    assert len(text.source_tokenizer.encode([long])[0]) == 36
    shown = text.attend(long)
    assert len(shown.target_tokens) <= 13
    assert text.generate([long]) == [shown.text]
    assert len(text.generate([long, "a"], max_length=13)) == 2
    with pytest.raises(ValueError, match="text 1 has 37 tokens: after them the model can write 13, not max_length=14"):
        text.generate([long], max_length=14)
    (view,) = text.attend_pairs([(long, "a b")])
    np.testing.assert_allclose(view.maps["decoder/0/self"], text.attend(long, "a b").maps["decoder/0/self"], atol=1e-5)


def test_searches_by_options(text):
    texts = ["the cat sat", "", "a b c"]
    beams = text.generate(texts, beams=3, max_length=6, length_penalty=0.0)
    source = np.array([[*text.source_tokenizer.encode(["the cat sat"])[0], EOS]])
    found = zoo.beam_search(text.model, source, beams=3, n_best=1, max_length=6, length_penalty=0.0)
    assert beams[0] == text.target_tokenizer.decode(found.tokens[0])[0]
    assert beams[1] == ""
    sampled = [text.generate(texts, temperature=2.0, seed=s, max_length=6) for s in (1, 1, 2)]
    assert sampled[0] == sampled[1] != sampled[2]
    assert all(o.startswith("the cat") for o in text.generate(["a", "b c"], prefix="the cat", max_length=9))
    with pytest.raises(ValueError, match="temperature sample: they do not go with beams"):
        text.generate(texts, temperature=1.0, beams=3)
    with pytest.raises(TypeError, match="beam_widht"):
        text.generate(texts, beam_widht=3)


def test_options_of_a_text_are_its_own(text):
    """Phrases and seeds serve every text alike, whatever the order that rows are run in."""
    texts = ["a b c d e", "the cat", "a b c d e", "the dog ran home"]
    outputs = text.generate(texts, beams=6, max_length=12, must_include=["cat"])
    assert all("cat" in output for output in outputs)
    sampled = text.generate(texts, temperature=1.5, seed=7, max_length=8)
    assert sampled[0] == sampled[2]
    assert sampled == [text.generate([t], temperature=1.5, seed=7, max_length=8)[0] for t in texts]
    for prefix in ("the cat", "a", "the dog ran home a b"):
        assert all(o.startswith(prefix) for o in text.generate(texts, prefix=prefix, beams=2, max_length=40))


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"n_best": 3}, TypeError, "n_best is no option here"),
        ({"return_attention": True}, TypeError, "return_attention is no option here"),
        ({"chunk": 0}, ValueError, "chunk=0: must be a whole number of at least 1"),
        ({"beams": None}, ValueError, "beams=None"),
        ({"length_penalty": -3}, ValueError, "length_penalty=-3"),
    ],
)
def test_options_that_cannot_be_are_refused(options, kind, words, text):
    with pytest.raises(kind, match=words):
        text.generate(["the cat"], **options)


def test_attend_searches_or_is_told(text):
    with pytest.raises(ValueError, match="beams would search for a target, but one is given"):
        text.attend("the cat", "a b", beams=2)
    assert text.attend("the cat sat").text == text.generate(["the cat sat"])[0]
    every = range(3, text.target_tokenizer.vocabulary)
    with pytest.raises(ValueError, match="nothing can be written under these options"):
        text.attend("the cat", beams=2, banned=every, min_length=3, max_length=3)


@pytest.mark.parametrize("name", ["transformer-tiny", "seq2seq-bahdanau-tiny"])
def test_what_is_seen_of_a_winner_is_what_it_saw_in_its_beam(name, tokenizer):
    text = text_model(tokenizer, name)
    for weight in text.model.weights:
        weight.assign_add(0.2 * np.random.default_rng(weight.shape[-1]).normal(size=weight.shape))
    view = text.attend("a b c", beams=4)
    source = np.array([[*tokenizer.encode(["a b c"])[0], EOS]])
    # Padded as the text model pads, so that both may write as much.
    source = np.pad(source, ((0, 0), (0, 8 - source.shape[1]))) if source.shape[1] < 8 else source
    found = zoo.beam_search(text.model, source, beams=4, n_best=1, return_attention="heads")
    length, width = found.lengths[0, 0], len(view.source_tokens)
    assert len(view.target_tokens) == length
    for role, weights in found.maps.items():
        np.testing.assert_allclose(view.maps[role], weights[0, 0, :, :length, :width], atol=1e-5)


def test_a_prompts_room_is_its_own(tokenizer):
    """A longer neighbour takes nothing from a shorter text, and one that cannot be served is named after the others."""
    text = text_model(tokenizer, "gpt2-tiny", max_length=48)
    ids = text.source_tokenizer.encode(["a b c d e f g " * 9])[0]
    short, long = (text.source_tokenizer.decode([ids[:n]])[0] for n in (33, 39))
    alone = [text.generate([t])[0] for t in (short, long)]
    assert text.generate([short, long]) == alone
    stream = text.generate_stream(["a", short, long], max_length=10)
    assert [next(stream), next(stream)] == text.generate(["a", short], max_length=10)
    with pytest.raises(ValueError, match="text 3 has .* tokens: after them the model can write .*, not max_length=10"):
        next(stream)
    together, apart = text.score([(short, "a b c d e f g"), (long, "a")]), text.score([(short, "a b c d e f g")])
    np.testing.assert_allclose(together[0], apart[0], atol=1e-4)


def test_a_stream_reads_no_further_than_its_chunk(text):
    read = []

    def endless():
        while True:
            read.append(1)
            yield "the cat"

    stream = text.generate_stream(endless(), chunk=4, max_length=2)
    outputs = [next(stream) for _ in range(6)]
    assert len(set(outputs)) == 1
    assert len(read) == 8


def test_long_texts_are_cut_and_counted_or_refused_after_those_before(tokenizer):
    text = text_model(tokenizer, "gpt2-tiny", max_length=12)
    texts = ["a b", "a b c d e f g " * 3, "a"]
    with pytest.warns(UserWarning, match="1 texts were cut to what the model takes"):
        outputs = text.generate(texts, truncate=True, max_length=1)
    assert len(outputs) == 3
    stream = text.generate_stream(texts, max_length=1)
    assert isinstance(next(stream), str)
    with pytest.raises(ValueError, match="text 2 has .* takes at most 11, shorten it or truncate"):
        next(stream)


def test_unknown_tokens_become_the_source_word_they_look_at(tokenizer):
    """A model that writes UNK first and attends to one place; the word there takes its place, or its translation."""
    text = text_model(tokenizer, "seq2seq-luong-tiny", score="location", max_source=32)
    model = text.model
    for weight in model.weights:
        weight.assign(np.zeros(weight.shape))
    cell = model.decoder.cell
    cell.stack.stack[0].weights[2].assign(np.ones(512))  # every gate half open: h is not 0
    place = np.zeros((128, 32))
    pieces = text.source_tokenizer.pieces(text.source_tokenizer.encode(["the cat sat"])[0])
    at = next(i for i, piece in enumerate(pieces) if "c" in piece)
    place[:, at] = 50
    cell.attention.location.kernel.assign(place)
    cell.combine.kernel.assign(np.eye(256, 128) + np.eye(256, 128, -128))
    output = np.zeros((128, model.fields["target_vocab"]))
    output[:, 3] = 5
    model.output_projection.kernel.assign(output)
    found = text.generate(["the cat sat"], unknown={}, max_length=2)
    assert found == ["cat cat"]
    backwards = zoo.TextModel(model, tokenizer.reversed())
    place[:, at], place[:, len(pieces) - 1 - at] = 0, 50
    cell.attention.location.kernel.assign(place)
    assert backwards.generate(["the cat sat"], unknown={"cat": "kedi"}, max_length=2) == ["kedi kedi"]
    place[:] = 0
    place[:, 0] = 50
    cell.attention.location.kernel.assign(place)
    assert text.generate(["zéq sat"], unknown={"zéq": "good"}, max_length=1) == ["good"]  # spelled in bytes
    place[:] = 0
    place[:, at] = 50
    cell.attention.location.kernel.assign(place)
    assert text.generate(["the cat sat"], unknown={"cat": "kedi"}, max_length=2) == ["kedi kedi"]
    assert "cat" not in text.generate(["the cat sat"], max_length=2)[0]


def test_scores_of_pairs_are_those_of_the_search(text):
    output = text.generate(["the cat sat"], max_length=8)[0]
    scores = text.score([("the cat sat", "the dog"), ("a b c d", output)])
    assert [len(s) for s in scores] == [len(text.target_tokenizer.encode([t])[0]) + 1 for t in ("the dog", output)]
    assert all((s < 0).all() for s in scores)
    alone = text.score([("the cat sat", "the dog")])[0]
    np.testing.assert_allclose(scores[0], alone, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_pairs_together_are_pairs_alone(name, tokenizer):
    text = text_model(tokenizer, name)
    pairs = [("the cat sat", "the dog"), ("a b c d e f g", "the cat sat a b"), ("the dog ran home", "a")]
    for together, pair in zip(text.attend_pairs(pairs), pairs, strict=True):
        alone = text.attend(*pair)
        assert (together.source_tokens, together.target_tokens) == (alone.source_tokens, alone.target_tokens)
        assert together.text == pair[1]
        assert list(together.maps) == list(alone.maps)
        for role, weights in together.maps.items():
            np.testing.assert_allclose(weights, alone.maps[role], atol=1e-5)
            rows, columns = together.axes(role)
            assert weights.shape[1:] == (len(rows), len(columns))


def test_a_blank_source_among_pairs_is_named(text):
    with pytest.raises(ValueError, match="source 2 is blank"):
        text.attend_pairs([("the cat", "a"), (" ", "b")])


def test_a_reversed_source_reads_backwards_and_is_shown_forwards(tokenizer, tmp_path):
    model = zoo.build("transformer-tiny", **dict.fromkeys(("source_vocab", "target_vocab"), tokenizer.vocabulary))
    plain, backwards = zoo.TextModel(model, tokenizer), zoo.TextModel(model, tokenizer.reversed(), tokenizer)
    backwards.save(tmp_path / "saved")
    backwards = zoo.load(tmp_path / "saved")
    pieces = tokenizer.encode(["the cat sat"])[0]
    mirrored = tokenizer.decode([pieces[::-1]])
    view, expected = backwards.attend("the cat sat", "a b"), plain.attend(mirrored[0], "a b")
    assert view.source_tokens == plain.attend("the cat sat", "a b").source_tokens
    order = [*reversed(range(len(pieces))), len(pieces)]
    np.testing.assert_allclose(view.maps["decoder/1/cross"], expected.maps["decoder/1/cross"][:, :, order], atol=1e-5)
    encoder = expected.maps["encoder/0/self"]
    np.testing.assert_allclose(view.maps["encoder/0/self"], encoder[:, order][:, :, order], atol=1e-5)
    assert backwards.generate(["the cat sat"], max_length=4) == plain.generate(mirrored, max_length=4)


def test_a_target_is_never_read_backwards(tokenizer):
    model = text_model(tokenizer).model
    assert not zoo.TextModel(model, tokenizer.reversed()).target_tokenizer.reverse
    with pytest.raises(ValueError, match="the target tokenizer is reversed"):
        zoo.TextModel(model, tokenizer, tokenizer.reversed())
