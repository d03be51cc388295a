import os
import subprocess
import sys
from pathlib import Path

import pytest

import zoo

ROOT = Path(zoo.__file__).parent.parent
RECIPES = sorted((ROOT / "recipes").glob("*.py"))
PAIRS = "".join(f"the {a} saw the {b}\t{a} {b} gördü\n" for a in "abcdefgh" for b in "abcdefgh")


def run(recipe, *arguments, cwd):
    command = [sys.executable, recipe, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env={**os.environ, "COLUMNS": "100"})


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.name)
def test_help_loads_nothing_heavy_and_shows_the_options(recipe, tmp_path):
    done = run(recipe, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "--help" in done.stdout


@pytest.mark.parametrize("name", ["transformer-tiny", "seq2seq-tiny"])
def test_translate_goes_from_a_file_to_a_saved_model(name, tmp_path):
    (tmp_path / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    options = ["--corpus", "pairs.tsv", "--model", name, "--steps", "9", "--batch-tokens", "128", "--vocab", "300"]
    options += ["--set", "dropout=0.0", "--pieces", "unigram", "--optimizer", "adadelta", "--strategy", "one"]
    done = run(ROOT / "recipes" / "translate.py", *options, "--output", "out", "--logdir", "log", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    for words in ("BLEU", "chrF", "tok:13a", "exact match", "source words", "translation", "tensorboard --logdir log"):
        assert words in done.stdout
    assert len(zoo.load(tmp_path / "out").generate(["the a saw the b"])) == 1
    assert (tmp_path / "log" / "attention.png").exists() == (name == "transformer-tiny")
    assert list((tmp_path / "log").glob("events*"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--steps", "0"], "must be at least 1"),
        (["--corpus", "missing.tsv"], "missing.tsv"),
        (["--model", "transformer-bass"], "did you mean"),
        (["--vocab", "5"], "vocabulary=5 is too small"),
        (["--output", "."], "is not a saved text model"),
        (["--output", "a/", "--logdir", "./a"], "--output and --logdir are the same folder"),
    ],
)
def test_a_users_mistake_is_one_clear_line_before_training(options, words, tmp_path):
    (tmp_path / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    done = run(ROOT / "recipes" / "translate.py", "--corpus", "pairs.tsv", "--vocab", "300", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_alignments_compares_variants(tmp_path):
    recipe = ROOT / "recipes" / "alignments.py"
    variants = ["dot=seq2seq-luong-tiny score=dot width=16", "small=transformer-tiny depth=1"]
    sizes = ["--train", "40", "--held-out", "7", "--epochs", "1", "--output", "out"]
    done = run(recipe, *sizes, "--variants", *variants, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    table = (tmp_path / "out" / "alignments.md").read_text(encoding="utf-8")
    assert table in done.stdout
    rows = [line.split(" | ") for line in table.splitlines()[2:]]
    assert [row[0] for row in rows] == ["| dot", "| small"]
    assert all(0 <= float(row[2]) <= 1 and float(row[3]) > 0 for row in rows)
    assert (tmp_path / "out" / "alignments.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--variants", "transformer-tiny"], "'transformer-tiny' is not LABEL=MODEL"),
        (["--variants", "a=transformer-bass"], "did you mean"),
        (["--variants", "a=seq2seq-tiny"], "seq2seq-tiny has no attention from target to source"),
        (["--epochs", "0"], "must be at least 1"),
        (["--sentence", " "], "is blank"),
        (["--variants", "a=transformer-tiny", "a=seq2seq-luong-tiny"], "two variants are called 'a'"),
    ],
)
def test_a_mistake_is_one_clear_line_before_anything_is_trained(options, words, tmp_path):
    done = run(ROOT / "recipes" / "alignments.py", "--train", "40", "--held-out", "7", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr.splitlines()[-1]
    assert "Epoch" not in done.stdout
