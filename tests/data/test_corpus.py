import functools
import subprocess
import sys

import pytest

from zoo.data import libreoffice, toy
from zoo.data.corpus import Corpus, corpus, list_corpora, split_by_page

# By the digests of `printf '1 a.html' | sha256sum` and so on, pages are held out in the order c, b, a, f, d, e.
ROWS = [(f"{page}.html", f"{page} {n}", f"{page.upper()} {n}") for page in "abcdef" for n in range(3)]


def lines(folder, name, count, start=0):
    pairs = "".join(f"s{n}\tt{n}\n" for n in range(start, start + count))
    (folder / name).write_text(pairs, encoding="utf-8")
    return folder / name


@pytest.fixture
def help_rows(monkeypatch):
    """The LibreOffice help without Debian: gives the arguments it was loaded with."""
    asked = []

    def load(language, cache):
        asked.append((language, cache))
        return ROWS, {"paragraphs": 20, "kept": 18}, "MPL-2.0."

    monkeypatch.setattr(libreoffice, "load", load)
    return asked


def test_a_corpus_is_told_in_a_table_and_in_a_line():
    tiny = Corpus("tiny", "en", "tr", [("yes", "evet")] * 1200, [("no", "hayır")], [], "free.", counts={"lines": 1201})
    assert str(tiny) == (
        "tiny (en to tr)\n"
        "  train       1,200 pairs\n"
        "  dev             1 pairs\n"
        "  test            0 pairs\n"
        "  licence free.\n"
        "  counts  lines 1,201"
    )
    assert repr(tiny) == "Corpus('tiny', en-tr, 1200 train, 1 dev, 0 test)"


def test_a_corpus_cannot_be_changed():
    with pytest.raises(AttributeError):
        Corpus("tiny", "en", "tr", [], [], [], "free.").train = [("yes", "evet")]


def test_alignments_must_be_as_many_as_pairs():
    with pytest.raises(ValueError, match=r"alignments\['dev'\] has 0 entries for 1 pairs"):
        Corpus("tiny", "en", "tr", [], [("no", "hayır")], [], "free.", alignments={"train": [], "dev": []})


def test_the_names_of_the_corpora():
    assert list_corpora() == [
        "toy-en-tr",
        *(f"libreoffice-help-en-{language}" for language in ("tr", "de", "es", "fr")),
    ]


@pytest.mark.parametrize(
    ("name", "near"), [("toy-en-rt", "toy-en-tr"), ("libreoffice-en-de", "libreoffice-help-en-de")]
)
def test_a_wrong_name_is_met_with_near_ones(name, near):
    with pytest.raises(ValueError, match=f"'{name}' is no corpus and no file; did you mean {near}"):
        corpus(name)


def test_a_name_like_no_other_is_met_with_all_of_them():
    with pytest.raises(ValueError) as caught:
        corpus("zzz")
    assert "did you mean" not in str(caught.value)
    assert f"corpora are {', '.join(list_corpora())}, or give the path" in str(caught.value)


def test_a_tsv_file_is_split_by_seed(tmp_path):
    path = lines(tmp_path, "p.tsv", 100)
    mine = corpus(path)
    assert (len(mine.train), len(mine.dev), len(mine.test)) == (90, 5, 5)
    assert sorted(mine.train + mine.dev + mine.test) == sorted((f"s{n}", f"t{n}") for n in range(100))
    assert corpus(str(path)) == mine
    assert corpus(path, seed=2).test != mine.test
    assert [len(part) for part in (corpus(path, dev=7, test=0).dev, corpus(path, dev=7, test=0).test)] == [7, 0]
    assert (mine.name, mine.source_language, mine.target_language) == (str(path), "source", "target")
    assert mine.alignments is None
    assert mine.counts == {"lines": 100, "kept": 100, "blank line": 0, "empty side": 0}


def test_parallel_files_tell_their_languages(tmp_path):
    (tmp_path / "a.en").write_text("yes\nno\nmaybe\n", "utf-8")
    (tmp_path / "a.tr").write_text("evet\nhayır\nbelki\n", "utf-8")
    mine = corpus(tmp_path / "a.en", target=tmp_path / "a.tr", dev=0, test=1)
    assert (mine.source_language, mine.target_language) == ("en", "tr")
    assert sorted(mine.train + mine.test) == [("maybe", "belki"), ("no", "hayır"), ("yes", "evet")]
    with pytest.raises(FileNotFoundError, match=r"a\.de: no such file"):
        corpus(tmp_path / "a.en", target=tmp_path / "a.de")


def test_a_folder_gives_its_own_splits(tmp_path):
    lines(tmp_path, "train.tsv", 10)
    lines(tmp_path, "dev.tsv", 3, start=9)
    lines(tmp_path, "test.tsv", 2, start=20)
    mine = corpus(tmp_path)
    assert mine.train == [(f"s{n}", f"t{n}") for n in range(10)]
    assert mine.dev == [("s9", "t9"), ("s10", "t10"), ("s11", "t11")]
    assert mine.test == [("s20", "t20"), ("s21", "t21")]
    assert mine.counts["train: kept"] == 10
    assert mine.counts["dev: kept"] == 3
    assert mine.counts["train: source in dev or test, kept"] == 1
    with pytest.raises(ValueError, match=r"dev=5: .*dev\.tsv holds the dev pairs"):
        corpus(tmp_path, dev=5)


def test_a_split_that_a_folder_lacks_comes_off_train(tmp_path):
    lines(tmp_path, "train.tsv", 40)
    lines(tmp_path, "test.tsv", 1, start=50)
    mine = corpus(tmp_path)
    assert (len(mine.train), len(mine.dev), mine.test) == (38, 2, [("s50", "t50")])
    (tmp_path / "train.tsv").unlink()
    with pytest.raises(FileNotFoundError, match=r"train\.tsv: no such file"):
        corpus(tmp_path)


def test_limit_takes_train_pairs_in_their_order(tmp_path):
    path = lines(tmp_path, "p.tsv", 100)
    whole, some = corpus(path), corpus(path, limit=10)
    assert len(some.train) == 10
    assert some.train == [pair for pair in whole.train if pair in some.train]
    assert some.train != whole.train[:10]
    assert (some.dev, some.test) == (whole.dev, whole.test)
    assert corpus(path, limit=90) == corpus(path, limit=1000) == whole
    with pytest.raises(ValueError, match="limit=0"):
        corpus(path, limit=0)


def test_the_toy_corpus_has_alignments_that_follow_its_pairs(monkeypatch):
    monkeypatch.setattr(toy, "generate", functools.partial(toy.generate, train=200))
    whole = corpus("toy-en-tr", dev=20, test=30)
    assert (whole.source_language, whole.target_language) == ("en", "tr")
    assert (len(whole.dev), len(whole.test)) == (20, 30)
    assert whole.train[-1] == ("the cat sat on the mat", "kedi paspasın üstüne oturdu")
    assert {split: len(gold) for split, gold in whole.alignments.items()} == {
        "train": len(whole.train),
        "dev": 20,
        "test": 30,
    }
    assert whole.licence == "Apache-2.0, generated by this package."
    some = corpus("toy-en-tr", dev=20, test=30, limit=4)
    assert len(some.train) == 4
    assert some.train[-1] == whole.train[-1]
    gold = dict(zip(whole.train, whole.alignments["train"], strict=True))
    assert some.alignments["train"] == [gold[pair] for pair in some.train]
    assert (some.dev, some.alignments["dev"]) == (whole.dev, whole.alignments["dev"])


def test_a_named_corpus_takes_no_target():
    for name in list_corpora():
        with pytest.raises(ValueError, match=f"target='a.tr': {name} has its own target side"):
            corpus(name, target="a.tr")


def test_pages_are_held_out_whole():
    splits, dropped = split_by_page(ROWS, seed=1, dev=4, test=1)
    assert splits == {
        "train": [(f"{page} {n}", f"{page.upper()} {n}") for page in "def" for n in range(3)],
        "dev": [(f"{page} {n}", f"{page.upper()} {n}") for page in "ab" for n in range(3)],
        "test": [(f"c {n}", f"C {n}") for n in range(3)],
    }
    assert dropped == {"train: source in dev or test": 0, "dev: source in test": 0}


def test_a_source_that_recurs_stays_where_it_is_tested():
    first, second, third = "c.html", "b.html", "a.html"
    rows = [
        (first, "Yes", "Evet"),
        (first, "Open", "Aç"),
        (second, "Yes", "Tamam"),
        (second, "No", "Hayır"),
        (third, "Yes", "Olur"),
        (third, "Open", "Açık"),
        (third, "No", "Yok"),
        (third, "Stop", "Dur"),
    ]
    splits, dropped = split_by_page(rows, seed=1, dev=1, test=1)
    assert splits == {
        "train": [("Stop", "Dur")],
        "dev": [("No", "Hayır")],
        "test": [("Yes", "Evet"), ("Open", "Aç")],
    }
    assert dropped == {"train: source in dev or test": 3, "dev: source in test": 1}


def test_bad_sizes_of_held_out_pages():
    with pytest.raises(ValueError, match="dev=-1 and test=2: a number of pairs must be 0 or more"):
        split_by_page(ROWS, seed=1, dev=-1, test=2)
    with pytest.raises(ValueError, match="dev=9 and test=9 of 18 pairs leave no page to train on"):
        split_by_page(ROWS, seed=1, dev=9, test=9)


def test_the_help_becomes_a_corpus(help_rows):
    loaded = corpus("libreoffice-help-en-de", dev=3, test=3, cache="folder")
    assert help_rows == [("de", "folder")]
    assert (loaded.name, loaded.source_language, loaded.target_language) == ("libreoffice-help-en-de", "en", "de")
    assert (len(loaded.train), len(loaded.dev), len(loaded.test)) == (12, 3, 3)
    assert loaded.licence == "MPL-2.0."
    assert loaded.counts == {"paragraphs": 20, "kept": 18, "train: source in dev or test": 0, "dev: source in test": 0}


def test_the_data_modules_load_no_framework():
    code = "import sys, zoo.data.corpus; print(sorted({'keras', 'tensorflow', 'numpy', 'jax'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
