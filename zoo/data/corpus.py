"""Corpora by name or path: the generated one, the LibreOffice help, and a user's own files, all in one shape."""

import difflib
import hashlib
import os
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from zoo.data import files, libreoffice, toy
from zoo.data.files import Pair

_HELD_OUT_PAIRS = 500
_HELP = {f"libreoffice-help-en-{language}": language for language in libreoffice.LANGUAGES}
_OWN_LICENCE = "your own files, under their own terms."


@dataclass(frozen=True, repr=False)
class Corpus:
    """Sentence pairs in two languages, split into train, dev and test.

    `str()` gives a short table; `repr()` is one line, as a corpus may hold a million pairs.

    Args:
        name: The name it was asked for by, or the path.
        source_language: Code such as `en`, or `source` where a user's files do not tell.
        target_language: Code such as `tr`, or `target`.
        train: `(source, target)` pairs to learn from.
        dev: Pairs to choose and stop by.
        test: Pairs to report on.
        licence: Under which terms the texts stand.
        alignments: Gold word alignments by split, one entry for each pair of the split; None where there are none.
        counts: What was read, kept and dropped, by reason.

    Raises:
        ValueError: A split has another number of alignments than of pairs.

    Example:
        >>> Corpus("tiny", "en", "tr", [("yes", "evet")], [], [], "public domain.")
        Corpus('tiny', en-tr, 1 train, 0 dev, 0 test)
    """

    name: str
    source_language: str
    target_language: str
    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
    licence: str
    alignments: dict[str, list] | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self):
        for split, gold in (self.alignments or {}).items():
            if len(gold) != len(getattr(self, split)):
                raise ValueError(
                    f"alignments[{split!r}] has {len(gold)} entries for {len(getattr(self, split))} pairs; give one "
                    "for each pair, in the same order."
                )

    def __repr__(self):
        sizes = ", ".join(f"{len(getattr(self, split))} {split}" for split in ("train", "dev", "test"))
        return f"Corpus({self.name!r}, {self.source_language}-{self.target_language}, {sizes})"

    def __str__(self):
        lines = [f"{self.name} ({self.source_language} to {self.target_language})"]
        lines += [f"  {split:<7} {len(getattr(self, split)):>9,} pairs" for split in ("train", "dev", "test")]
        lines.append(f"  licence {self.licence}")
        if self.alignments:
            lines.append(f"  aligned {', '.join(self.alignments)}")
        if self.counts:
            lines.append(f"  counts  {', '.join(f'{reason} {count:,}' for reason, count in self.counts.items())}")
        return "\n".join(lines)


def list_corpora() -> list[str]:
    """Name the corpora that `corpus` knows.

    Returns:
        The names; a corpus of your own is given by its path instead.

    Example:
        >>> list_corpora()[0]
        'toy-en-tr'
    """
    return ["toy-en-tr", *_HELP]


def corpus(
    name_or_path: str | os.PathLike,
    *,
    target: str | os.PathLike | None = None,
    seed: int = 1,
    dev: int | None = None,
    test: int | None = None,
    limit: int | None = None,
    cache: str | os.PathLike | None = None,
) -> Corpus:
    """Load a corpus by its name, or from your own files.

    A known name comes before a path of the same name. The same arguments give the same corpus on every machine, and
    no source sentence is in two splits, unless a folder of yours says so.

    Args:
        name_or_path: A name of `list_corpora()`; a TSV file; a file of source sentences, with `target`; or a folder
            with `train.tsv` and, if it likes, `dev.tsv` and `test.tsv` (one that is missing is split off train).
        target: The file of target sentences, where the first argument is a file of source sentences.
        seed: Chooses what is generated, held out and, with `limit`, trained on.
        dev: Number of dev pairs. None means 5 % of your file, at most 500, and the usual size of a named corpus. The
            LibreOffice help is held out in whole pages, so there this is the least number.
        test: As `dev`, for test.
        limit: Most train pairs, a random choice in their old order that keeps the last one, which in `toy-en-tr` is
            "the cat sat on the mat"; None for all.
        cache: Folder for what is made of a download; None for `attention-zoo` in `$XDG_CACHE_HOME` or `~/.cache`.

    Returns:
        The corpus.

    Raises:
        ValueError: No corpus or file has this name, an argument does not fit, or a file breaks the rules of
            `zoo.data.files`.
        FileNotFoundError: A file is not there.
        CorpusUnavailableError: The LibreOffice help cannot be downloaded or unpacked.

    Example:
        >>> print(corpus("toy-en-tr", limit=1000))  # doctest: +SKIP
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit={limit}: it is the most train pairs and must be 1 or more; leave it out for all.")
    name = os.fspath(name_or_path)
    if name in list_corpora():
        if target is not None:
            raise ValueError(f"target={os.fspath(target)!r}: {name} has its own target side; leave target out.")
        loaded = _help(name, seed, dev, test, cache) if name in _HELP else _toy(name, seed, dev, test)
    else:
        loaded = _own(name, target, seed, dev, test)
    if limit is None:
        return loaded
    order = sorted(range(len(loaded.train) - 1), key=lambda row: hashlib.sha256(f"{seed} {row}".encode()).digest())
    chosen = [*sorted(order[: limit - 1]), len(loaded.train) - 1]
    alignments = dict(loaded.alignments or {})
    if "train" in alignments:
        alignments["train"] = [alignments["train"][row] for row in chosen]
    return replace(loaded, train=[loaded.train[row] for row in chosen], alignments=alignments or None)


def _toy(name: str, seed: int, dev: int | None, test: int | None) -> Corpus:
    sizes = {split: size for split, size in (("dev", dev), ("test", test)) if size is not None}
    made = toy.generate(seed=seed, **sizes)
    parts = {split: getattr(made, split) for split in ("train", "dev", "test")}
    return Corpus(
        name,
        "en",
        "tr",
        **{split: part.pairs for split, part in parts.items()},
        licence="Apache-2.0, generated by this package.",
        alignments={split: part.alignments for split, part in parts.items()},
        counts={"generated": sum(map(len, parts.values()))},
    )


def _help(name: str, seed: int, dev: int | None, test: int | None, cache: str | os.PathLike | None) -> Corpus:
    rows, counts, licence = libreoffice.load(_HELP[name], cache)
    splits, dropped = split_by_page(rows, seed=seed, dev=dev, test=test)
    return Corpus(name, "en", _HELP[name], **splits, licence=licence, counts=counts | dropped)


def split_by_page(
    rows: list[libreoffice.Row], *, seed: int = 1, dev: int | None = None, test: int | None = None
) -> tuple[dict[str, list[Pair]], dict[str, int]]:
    """Split rows by page, so that a paragraph and its neighbours are in one split.

    Pages go to test and then to dev in the order of a hash of seed and page, until a split has the pairs it needs. As
    a text may stand on several pages, a train pair is dropped where dev or test has its source text, and a dev pair
    where test has it.

    Args:
        rows: `(page, source, target)` rows.
        seed: Chooses the pages.
        dev: Least number of dev pairs before such drops; None for 500. With 0 the split is empty.
        test: As `dev`, for test.

    Returns:
        The pairs of `train`, `dev` and `test`, and the counts `train: source in dev or test` and
        `dev: source in test` of the pairs dropped.

    Raises:
        ValueError: A size is negative, or nothing is left to train on.

    Example:
        >>> rows = [("a.html", "yes", "evet"), ("b.html", "no", "hayır"), ("c.html", "no", "yok")]
        >>> split_by_page(rows, dev=0, test=1)[0]["train"]
        [('yes', 'evet')]
    """
    if min(dev or 0, test or 0) < 0:
        raise ValueError(
            f"dev={dev} and test={test}: a number of pairs must be 0 or more; leave it out for {_HELD_OUT_PAIRS}."
        )
    wanted = {"test": _HELD_OUT_PAIRS if test is None else test, "dev": _HELD_OUT_PAIRS if dev is None else dev}
    pages = Counter(page for page, _, _ in rows)
    place = {}
    for page in sorted(pages, key=lambda page: hashlib.sha256(f"{seed} {page}".encode()).digest()):
        for name, left in wanted.items():
            if left > 0:
                wanted[name] -= pages[page]
                place[page] = name
                break
    splits = {"train": [], "dev": [], "test": []}
    for page, source, target in rows:
        splits[place.get(page, "train")].append((source, target))
    tested = {source for source, _ in splits["test"]}
    held_out = tested | {source for source, _ in splits["dev"]}
    counts = {}
    for name, elsewhere, label in (("train", held_out, "dev or test"), ("dev", tested, "test")):
        whole = splits[name]
        splits[name] = [pair for pair in whole if pair[0] not in elsewhere]
        counts[f"{name}: source in {label}"] = len(whole) - len(splits[name])
    if not splits["train"]:
        raise ValueError(
            f"dev={dev} and test={test} of {len(rows)} pairs leave no page to train on; choose smaller sizes."
        )
    return splits, counts


def _own(name: str, target: str | os.PathLike | None, seed: int, dev: int | None, test: int | None) -> Corpus:
    path = Path(name).expanduser()
    languages = "source", "target"
    if target is not None:
        languages = _language(path, "source"), _language(Path(target), "target")
        pairs, counts = files.read_parallel(path, Path(target).expanduser())
    elif path.is_dir():
        return _folder(name, path, seed, dev, test)
    elif path.exists():
        pairs, counts = files.read_tsv(path)
    else:
        near = difflib.get_close_matches(name, list_corpora(), n=2)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise ValueError(
            f"{name!r} is no corpus and no file; {hint}corpora are {', '.join(list_corpora())}, or give the path of a "
            "TSV file."
        )
    train, dev_pairs, test_pairs = files.split(pairs, seed=seed, dev=dev, test=test)
    return Corpus(name, *languages, train, dev_pairs, test_pairs, _OWN_LICENCE, counts=counts)


def _folder(name: str, folder: Path, seed: int, dev: int | None, test: int | None) -> Corpus:
    train, read = files.read_tsv(folder / "train.tsv")
    counts = {f"train: {reason}": count for reason, count in read.items()}
    given = {}
    sizes = {"dev": dev, "test": test}
    for split in sizes:
        path = folder / f"{split}.tsv"
        if path.exists():
            if sizes[split] is not None:
                raise ValueError(
                    f"{split}={sizes[split]}: {path} holds the {split} pairs; leave {split} out or remove the file."
                )
            sizes[split] = 0
            given[split], read = files.read_tsv(path)
            counts |= {f"{split}: {reason}": count for reason, count in read.items()}
    train, *split_off = files.split(train, seed=seed, **sizes)
    splits = dict(zip(sizes, split_off, strict=True)) | given
    # Who made the splits may want this, so it is said and not mended.
    held_out = {source for pairs in splits.values() for source, _ in pairs}
    counts["train: source in dev or test, kept"] = sum(source in held_out for source, _ in train)
    return Corpus(name, "source", "target", train, **splits, licence=_OWN_LICENCE, counts=counts)


def _language(path: Path, otherwise: str) -> str:
    suffix = Path(path.name.removesuffix(".gz")).suffix[1:]
    return suffix if len(suffix) == 2 and suffix.isalpha() else otherwise
