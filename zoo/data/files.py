"""A user's own sentence pairs: one TSV file or two parallel files, and a split that keeps a sentence in one place."""

import gzip
import hashlib
import os
import zlib
from collections import Counter
from pathlib import Path

Pair = tuple[str, str]

_BOM = "\ufeff"
_LARGEST_SPLIT = 500
_SPLIT_SHARE = 20


def read_tsv(path: str | os.PathLike) -> tuple[list[Pair], dict[str, int]]:
    r"""Read sentence pairs from a TSV file: source, one tab, target on each line.

    There is no quoting: `"` is an ordinary character. Only `\n` ends a line; one `\r` before it and a leading
    byte-order mark are removed, and nothing else is changed. A blank line and a pair with a blank side are dropped
    and counted. A name that ends in `.gz` is read through gzip.

    Args:
        path: The file, in UTF-8.

    Returns:
        The pairs in the order of the file, and the counts `lines`, `kept`, `blank line` and `empty side`.

    Raises:
        FileNotFoundError: The file is not there.
        ValueError: The file is a folder, is empty, is not UTF-8, has a line without exactly one tab, or has no pair.

    Example:
        >>> pairs, counts = read_tsv("pairs.tsv")  # doctest: +SKIP
    """
    lines = _lines(Path(path))
    pairs = []
    blank = empty = 0
    for number, line in enumerate(lines, 1):
        source, tab, target = line.partition("\t")
        if not tab or "\t" in target:
            if line.strip():
                raise ValueError(f"{path}, line {number}: {_tab_fault(line)}")
            blank += 1
        elif source.strip() and target.strip():
            pairs.append((source, target))
        else:
            empty += 1
    counts = {"lines": len(lines), "kept": len(pairs), "blank line": blank, "empty side": empty}
    if not pairs:
        raise ValueError(f"{path}: {len(lines)} lines and no pair with text on both sides; write source, tab, target.")
    return pairs, counts


def read_parallel(source: str | os.PathLike, target: str | os.PathLike) -> tuple[list[Pair], dict[str, int]]:
    r"""Read sentence pairs from two parallel files: line n of one translates line n of the other.

    Lines end as in `read_tsv`. A tab is an ordinary character here. A pair with a blank side is dropped and counted.

    Args:
        source: The file of source sentences, in UTF-8.
        target: The file of target sentences, in UTF-8.

    Returns:
        The pairs in the order of the files, and the counts `lines`, `kept` and `empty side`.

    Raises:
        FileNotFoundError: A file is not there.
        ValueError: A file is a folder, is empty or is not UTF-8, the files differ in their number of lines, or no
            pair has text on both sides.

    Example:
        >>> pairs, counts = read_parallel("train.en", "train.tr")  # doctest: +SKIP
    """
    sources, targets = _lines(Path(source)), _lines(Path(target))
    if len(sources) != len(targets):
        longer, shorter = (source, target) if len(sources) > len(targets) else (target, source)
        shared = min(len(sources), len(targets))
        raise ValueError(
            f"{longer}, line {shared + 1}: {shorter} has no such line ({source} has {len(sources)} lines, {target} has "
            f"{len(targets)}); line n must translate line n, so add the missing lines or remove the extra ones."
        )
    pairs = [(left, right) for left, right in zip(sources, targets, strict=True) if left.strip() and right.strip()]
    if not pairs:
        raise ValueError(f"{source} and {target}: no line has text on both sides; check that they belong together.")
    return pairs, {"lines": len(sources), "kept": len(pairs), "empty side": len(sources) - len(pairs)}


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees all of it or none of it.

    Args:
        path: The file to write; an old one is replaced.
        data: Its content.

    Example:
        >>> write_whole(Path("pairs.tsv"), b"yes\tevet")  # doctest: +SKIP
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def split(
    pairs: list[Pair], *, seed: int, dev: int | None = None, test: int | None = None
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Split pairs into train, dev and test so that no source sentence is in two of them.

    Pairs with one source sentence stay together, so dev or test may come out a little smaller than asked. Order within
    a split is the order given. The same pairs, sizes and seed give the same split on every machine.

    Args:
        pairs: `(source, target)` pairs.
        seed: Chooses which sentences are held out.
        dev: Pairs in dev; None for 5 % of the pairs, at least 1 and at most 500 (0 with fewer than 3 source sentences).
        test: Pairs in test; None as for `dev`.

    Returns:
        The train, dev and test pairs.

    Raises:
        ValueError: A size is negative, or dev and test leave nothing to train on.

    Example:
        >>> [len(part) for part in split([(str(n), "x") for n in range(100)], seed=1)]
        [90, 5, 5]
    """
    sizes = Counter(source for source, _ in pairs)
    usual = min(_LARGEST_SPLIT, max(1, len(pairs) // _SPLIT_SHARE)) if len(sizes) >= 3 else 0
    wanted = [usual if dev is None else dev, usual if test is None else test]
    if min(wanted) < 0 or sum(wanted) >= len(pairs):
        raise ValueError(
            f"dev={wanted[0]} and test={wanted[1]} of {len(pairs)} pairs: both must be 0 or more and leave a pair "
            "to train on; choose smaller sizes."
        )
    place = {}
    # A hash and not a shuffle: the order of `random` is promised for no later Python.
    for source in sorted(sizes, key=lambda source: hashlib.sha256(f"{seed} {source}".encode()).digest()):
        for part in (0, 1):
            if sizes[source] <= wanted[part]:
                wanted[part] -= sizes[source]
                place[source] = part
                break
    parts = ([], [], [])
    for pair in pairs:
        parts[place.get(pair[0], 2)].append(pair)
    return parts[2], parts[0], parts[1]


def _lines(path: Path) -> list[str]:
    if path.is_dir():
        raise ValueError(f"{path} is a folder where a file is needed; give the path of the file itself.")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file; check the path (seen from {Path.cwd()}).") from None
    if path.suffix == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path}: not a whole gzip file ({error}); compress or download it again.") from None
    try:
        text = data.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8."
        ) from None
    if not text:
        raise ValueError(f"{path} is empty; it must hold at least one sentence pair.")
    # Not splitlines(): U+2028, U+0085, form feed and a lone \r are characters of a sentence, not ends of lines.
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if "\r" in text:
        lines = [line.removesuffix("\r") for line in lines]
    return lines


def _tab_fault(line: str) -> str:
    shown = repr(line if len(line) <= 60 else line[:57] + "...")
    if "\t" in line:
        return (
            f"{line.count(chr(9))} tabs in {shown}; a line has exactly one, between source and target, so replace the "
            "others with spaces."
        )
    return f"no tab in {shown}; a line is source, one tab, target (two parallel files are read with target=)."
