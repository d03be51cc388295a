import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import zoo
from zoo.ids import EOS

TEXTS = ["the cat sat", "the dog ran home", "a b c d e f g"]


@pytest.fixture(scope="module")
def tokenizer():
    return zoo.Tokenizer.train(TEXTS * 3, 310)


def make(tokenizer, name="transformer-tiny", **overrides):
    sizes = {"source_vocab": tokenizer.vocabulary, "target_vocab": tokenizer.vocabulary}
    return zoo.TextModel(zoo.build(name, **{**sizes, **overrides}), tokenizer)


@pytest.fixture(scope="module")
def text(tokenizer):
    return make(tokenizer)


def test_as_many_come_out_as_go_in_and_in_order(text):
    texts = ["the cat sat", "", "a b c d e f g " * 9, "   ", "the dog", "\t", "the cat sat"]
    outputs = text.generate(texts, max_length=6)
    assert len(outputs) == 7
    assert [outputs[i] for i in (1, 3, 5)] == ["", "", ""]
    assert outputs[0] == outputs[6]
    alone = [text.generate([t], max_length=6)[0] for t in texts]
    assert outputs == alone
    assert text.generate((t for t in texts), max_length=6) == outputs


@pytest.mark.parametrize("texts", [[], [""], ["", "  "]])
def test_blank_input_never_runs_the_model(texts, tokenizer, monkeypatch):
    text = make(tokenizer)
    monkeypatch.setattr(text.model, "start", None)
    assert text.generate(texts) == [""] * len(texts)


def test_an_output_does_not_depend_on_the_batch(text):
    texts = [f"{'a ' * (i % 7)}the cat {'b ' * (i % 5)}" for i in range(150)]
    whole = text.generate(texts, max_length=5)
    assert whole == [o for start in range(0, 150, 37) for o in text.generate(texts[start : start + 37], max_length=5)]


def test_one_string_is_not_a_list_of_texts(text):
    with pytest.raises(TypeError, match="list of sentences"):
        text.generate("the cat")


def test_a_text_longer_than_the_model_takes_is_named(tokenizer):
    short = make(tokenizer, "seq2seq-luong-tiny", score="location", max_source=6)
    assert len(short.generate(["the cat"], max_length=3)) == 1
    with pytest.raises(ValueError, match="text 2 has 8 tokens: the model takes at most 6"):
        short.generate(["the cat", "a b c d e f g"])


def test_a_vocabulary_too_small_for_the_tokenizer_is_refused(tokenizer):
    model = zoo.build("seq2seq-tiny", source_vocab=100, target_vocab=400)
    with pytest.raises(ValueError, match=f"source tokenizer has {tokenizer.vocabulary} pieces.*source_vocab=100"):
        zoo.TextModel(model, tokenizer)


def test_attending_gives_tokens_and_maps_that_fit(text):
    view = text.attend("the cat sat", max_length=5)
    assert view.source_tokens[-1] == "</s>"
    assert "".join(view.source_tokens[:-1]) == "▁the▁cat▁sat"
    assert set(view.maps) == set(
        zoo.attention_maps(text.model, {"source": np.array([[5, 2]]), "target": np.array([[1]])})
    )
    for weights in view.maps.values():
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    rows, columns = view.axes("decoder/1/cross")
    assert view.matrix().shape == (len(rows), len(columns))
    assert view.text == text.generate(["the cat sat"], max_length=5)[0]


def test_attending_along_a_given_target(text):
    view = text.attend("the cat", target="the dog")
    assert "".join(view.target_tokens) == "▁the▁dog</s>"
    assert view.text == "the dog"


def test_a_blank_text_has_nothing_to_attend_to(text):
    with pytest.raises(ValueError, match="blank"):
        text.attend("  ")


def test_a_saved_folder_loads_in_a_fresh_process(text, tmp_path):
    text.save(tmp_path / "a" / "model")
    code = """
import sys, json, zoo
print(json.dumps(zoo.load(sys.argv[1]).generate(json.loads(sys.argv[2]), max_length=6)))
"""
    arguments = [sys.executable, "-c", code, tmp_path / "a" / "model", json.dumps(TEXTS)]
    run = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout.splitlines()[-1]) == text.generate(TEXTS, max_length=6)


def test_a_trained_model_loads_in_a_fresh_process_with_its_optimizer(tokenizer, tmp_path):
    text = make(tokenizer)
    metrics = [zoo.TokenAccuracy(), zoo.Perplexity()]
    text.model.compile(zoo.transformer_optimizer(64, averaging=0.9), loss=zoo.TokenCrossEntropy(), metrics=metrics)
    text.model.fit(zoo.batches([("the cat", "the dog")], tokenizer, tokenizer).dataset, verbose=0)
    text.save(tmp_path / "m")
    code = "import sys, zoo; print(int(zoo.load(sys.argv[1]).model.optimizer.iterations))"
    run = subprocess.run([sys.executable, "-c", code, tmp_path / "m"], capture_output=True, text=True, check=True)
    assert run.stdout.split()[-1] == "1"


def test_two_tokenizers_and_their_casing_are_kept(tokenizer, tmp_path):
    other = zoo.Tokenizer.train(["ışık istanbul"], 300, lowercase="tr")
    sizes = {"source_vocab": tokenizer.vocabulary, "target_vocab": other.vocabulary}
    zoo.TextModel(zoo.build("seq2seq-tiny", **sizes), tokenizer, other).save(tmp_path / "m")
    loaded = zoo.load(tmp_path / "m")
    assert (loaded.source_tokenizer.proto, loaded.target_tokenizer.proto) == (tokenizer.proto, other.proto)
    assert (loaded.source_tokenizer.lowercase, loaded.target_tokenizer.lowercase) == (None, "tr")


def test_no_pickle_and_versions_in_the_manifest(text, tmp_path):
    text.save(tmp_path / "m")
    assert {p.suffix for p in (tmp_path / "m").iterdir()} == {".keras", ".spm", ".json"}
    manifest = json.loads((tmp_path / "m" / "manifest.json").read_text())
    assert set(manifest["versions"]) == {"attention-zoo", "keras"}
    assert set(manifest["sha256"]) == {"config.json", "model.keras", "source.spm"}


def test_saving_again_replaces_the_folder(text, tokenizer, tmp_path):
    make(tokenizer, "seq2seq-tiny").save(tmp_path / "m")
    text.save(tmp_path / "m")
    assert zoo.load(tmp_path / "m").model.name == "transformer-tiny"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_fault_while_saving_leaves_what_was_there(text, tokenizer, tmp_path, monkeypatch):
    make(tokenizer, "seq2seq-tiny").save(tmp_path / "m")

    def full_disk(*arguments, **options):
        raise OSError("No space left on device")

    monkeypatch.setattr(text.model, "save", full_disk)
    with pytest.raises(OSError, match="No space"):
        text.save(tmp_path / "m")
    assert zoo.load(tmp_path / "m").model.name == "seq2seq-tiny"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_saving_killed_between_its_two_moves_is_put_right(text, tokenizer, tmp_path, monkeypatch):
    make(tokenizer, "seq2seq-tiny").save(tmp_path / "m")
    moves, rename = [], os.rename

    def killed(source, target):
        moves.append(target)
        if len(moves) > 1:
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr("zoo.folders.os.rename", killed)
    monkeypatch.setattr("zoo.folders._recover", lambda folder: None)  # a kill leaves no time for it
    with pytest.raises(KeyboardInterrupt):
        text.save(tmp_path / "m")
    monkeypatch.undo()
    assert not (tmp_path / "m").exists()
    assert zoo.load(tmp_path / "m").model.name == "seq2seq-tiny"
    text.save(tmp_path / "m")
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_leftovers_of_killed_savings_go(text, tmp_path):
    for leftover in (".m.saving-1", f".m.saving-{os.getpid()}"):
        (tmp_path / leftover).mkdir()
    text.save(tmp_path / "m")
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_link_is_followed(text, tokenizer, tmp_path):
    make(tokenizer, "seq2seq-tiny").save(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    for _ in range(2):
        text.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert zoo.load(tmp_path / "real").model.name == "transformer-tiny"


def test_other_files_in_a_saved_folder_are_not_deleted(text, tmp_path):
    text.save(tmp_path / "m")
    (tmp_path / "m" / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="also holds notes.txt"):
        zoo.check_folder(tmp_path / "m")
    with pytest.raises(FileExistsError, match="also holds notes.txt"):
        text.save(tmp_path / "m")


def test_a_folder_of_somebody_elses_is_left_alone(text, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="not a saved text model"):
        text.save(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError, match="not a saved text model"):
        text.save(tmp_path / "file")


@pytest.fixture(scope="module")
def saved(text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "m"
    text.save(folder)
    return folder


@pytest.fixture
def copy(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "m")


@pytest.mark.parametrize("name", ["model.keras", "source.spm", "config.json"])
def test_a_damaged_file_is_named(copy, name):
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"{name} is damaged"):
        zoo.load(copy)


@pytest.mark.parametrize("name", ["model.keras", "source.spm", "config.json"])
def test_a_cut_or_missing_file_is_named(copy, name):
    os.truncate(copy / name, 10)
    with pytest.raises(ValueError, match=f"{name} is damaged"):
        zoo.load(copy)
    (copy / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"{name} is missing"):
        zoo.load(copy)


@pytest.mark.parametrize("manifest", [b"", b"{", b"[]", b"\xff", b'{"kind": "other"}', None])
def test_a_foreign_folder_is_refused(copy, manifest):
    (copy / "manifest.json").unlink()
    if manifest is not None:
        (copy / "manifest.json").write_bytes(manifest)
    with pytest.raises(ValueError, match="not a saved text model"):
        zoo.load(copy)


def test_a_manifest_that_lists_too_little_is_refused(copy):
    manifest = json.loads((copy / "manifest.json").read_text())
    del manifest["sha256"]["model.keras"]
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="does not list"):
        zoo.load(copy)


@pytest.mark.parametrize("checksums", [None, 3, []])
def test_checksums_that_are_none_are_refused(copy, checksums):
    manifest = json.loads((copy / "manifest.json").read_text()) | {"sha256": checksums}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="does not list"):
        zoo.load(copy)


def test_a_newer_format_is_refused(copy):
    manifest = json.loads((copy / "manifest.json").read_text()) | {"format": 2}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="has format 2.*reads 1"):
        zoo.load(copy)


def test_no_folder_at_all(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        zoo.load(tmp_path / "nowhere")


def test_the_end_of_a_sentence_is_a_token_of_the_source(text):
    assert text.source_tokenizer.encode(["the"])[0][-1] != EOS
    assert text.attend("the", max_length=2).source_tokens[-1] == "</s>"


NAMES = ["transformer-tiny", "seq2seq-bahdanau-tiny", "gpt2-tiny"]


@pytest.mark.parametrize("name", NAMES)
def test_pairs_together_are_pairs_alone(name, tokenizer):
    text = make(tokenizer, name)
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
    model = make(tokenizer).model
    assert not zoo.TextModel(model, tokenizer.reversed()).target_tokenizer.reverse
    with pytest.raises(ValueError, match="the target tokenizer is reversed"):
        zoo.TextModel(model, tokenizer, tokenizer.reversed())


def test_a_prompts_padding_takes_no_room(tokenizer):
    """37 tokens are padded to 40 and leave 13 of 50, one by one or together."""
    text = make(tokenizer, "gpt2-tiny", max_length=50)
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


def test_a_prompts_room_is_its_own(tokenizer):
    """A longer neighbour takes nothing from a shorter text, and one that cannot be served is named after the others."""
    text = make(tokenizer, "gpt2-tiny", max_length=48)
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
    text = make(tokenizer, "gpt2-tiny", max_length=12)
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
    text = make(tokenizer, "seq2seq-luong-tiny", score="location", max_source=32)
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
