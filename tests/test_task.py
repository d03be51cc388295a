import json
import os
import shutil
import subprocess
import sys

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
    text = text_model(tokenizer)
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
    short = text_model(tokenizer, "seq2seq-luong-tiny", score="location", max_source=6)
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
    text = text_model(tokenizer)
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
    text_model(tokenizer, "seq2seq-tiny").save(tmp_path / "m")
    text.save(tmp_path / "m")
    assert zoo.load(tmp_path / "m").model.name == "transformer-tiny"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_fault_while_saving_leaves_what_was_there(text, tokenizer, tmp_path, monkeypatch):
    text_model(tokenizer, "seq2seq-tiny").save(tmp_path / "m")

    def full_disk(*arguments, **options):
        raise OSError("No space left on device")

    monkeypatch.setattr(text.model, "save", full_disk)
    with pytest.raises(OSError, match="No space"):
        text.save(tmp_path / "m")
    assert zoo.load(tmp_path / "m").model.name == "seq2seq-tiny"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_saving_killed_between_its_two_moves_is_put_right(text, tokenizer, tmp_path, monkeypatch):
    text_model(tokenizer, "seq2seq-tiny").save(tmp_path / "m")
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
    text_model(tokenizer, "seq2seq-tiny").save(tmp_path / "real")
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
