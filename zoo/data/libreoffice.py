"""The help texts of LibreOffice as a translation corpus, read out of Debian packages.

Debian ships the help once per language as HTML, with the same page names and element ids in all of them. The texts are
MPL-2.0: they are loaded from Debian on the user's machine and are no part of this package.
"""

import hashlib
import json
import os
import re
import subprocess
import tempfile
import unicodedata
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

from zoo.data.files import write_whole

LANGUAGES = ("tr", "de", "es", "fr")
Row = tuple[str, str, str]
# Part of the name of a cache file: raised with every change to what is extracted or kept.
_CACHE_FORMAT = 1
_BLOCKS = frozenset(("p", "h1", "h2", "h3", "h4", "h5", "h6"))
_FRAMES = frozenset(("header", "footer"))
_PATTERNS = {
    "markup": re.compile("[<>]"),
    "URL": re.compile(r"https?:|ftp:|mailto:|file:/|www\.", re.IGNORECASE),
    # A percent sign before a letter or one digit; `%50` is how Turkish writes 50 percent and stays.
    "placeholder": re.compile(r"%[-+#]?[0-9.]*[A-Za-z]|%[0-9](?![0-9])|[{}]|\$[\[(]"),
}
_INVISIBLE = str.maketrans("", "", "\u00ad\u200b\u2060\ufeff")


class CorpusUnavailableError(RuntimeError):
    """A corpus that is made on this machine could not be made: the message says why and what else there is."""


def load(language: str, cache: str | os.PathLike | None = None) -> tuple[list[Row], dict[str, int], str]:
    """Load the English help and its translation, from the cache folder or else from Debian.

    The first call downloads two packages (about 5 MB) with `apt-get download`, unpacks them with `dpkg-deb` in a
    temporary folder, without root, and writes the clean pairs to one cache file. Later calls read this file; a damaged
    one is made again.

    Args:
        language: The target language, one of `LANGUAGES`.
        cache: Folder for the cache file; None for `attention-zoo` in `$XDG_CACHE_HOME` or `~/.cache`.

    Returns:
        `(page, source, target)` rows; counts of what was read, kept and dropped, by reason; the licence.

    Raises:
        CorpusUnavailableError: `apt-get` or `dpkg-deb` is missing or fails.
        ValueError: The language is unknown.

    Example:
        >>> rows, counts, licence = load("tr")  # doctest: +SKIP
    """
    if language not in LANGUAGES:
        raise ValueError(f"language={language!r}: the help is loaded for {', '.join(LANGUAGES)}; choose one of these.")
    path = cache_folder(cache) / f"libreoffice-help-en-{language}-{_CACHE_FORMAT}.json"
    content = _read_cache(path)
    if content is None:
        content = _build(language)
        body = json.dumps(content, ensure_ascii=False).encode("utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, hashlib.sha256(body).hexdigest().encode("ascii") + b"\n" + body)
    licence = (
        f"MPL-2.0, LibreOffice contributors; Debian packages {content['packages']}; "
        "loaded on this machine, not part of this package."
    )
    return [tuple(row) for row in content["rows"]], content["counts"], licence


def cache_folder(cache: str | os.PathLike | None = None) -> Path:
    """Give the folder of the cache files.

    Args:
        cache: The folder itself; None for `attention-zoo` in `$XDG_CACHE_HOME`, or in `~/.cache` where that is unset.

    Returns:
        The folder, which may not exist yet.

    Example:
        >>> cache_folder("here").name
        'here'
    """
    if cache is not None:
        return Path(cache).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    # The XDG rules call a relative path invalid and tell programs to ignore it.
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "attention-zoo"


def paragraphs(html: str) -> dict[str, str]:
    """Read the text of the paragraphs and headings of a help page.

    Inline tags vanish, a line break is a space, entities are decoded, runs of white space become one space, invisible
    characters such as soft hyphens go, and the text is normalised to NFC. Of inline alternatives (`Option` on a Mac,
    else `Alt`) the last, which is the default, is read. The header and the footer of the page are left out.

    Args:
        html: The page.

    Returns:
        The texts in the order of the page, some of them empty. The key is the id of the element; for a repeated id, or
        for an element without one, the key is the id, `#` and how often it was there before.

    Example:
        >>> paragraphs('<h1 id="a">Keys</h1><p>Press <b>Ctrl</b>&amp;<b>C</b>.</p>')
        {'a': 'Keys', '#0': 'Press Ctrl&C.'}
    """
    parser = _Paragraphs()
    parser.feed(html)
    parser.close()
    return parser.texts


class _Paragraphs(HTMLParser):
    def __init__(self):
        super().__init__()
        self.texts = {}
        self._before = Counter()
        self._frame = None
        self._start()

    def handle_starttag(self, tag, attrs):
        if tag in _FRAMES:
            self._frame = tag
        elif tag in _BLOCKS:
            # HTML lets a paragraph end without an end tag where the next block starts.
            self._finish()
            self._start(None if self._frame else dict(attrs).get("id") or "")
        elif tag == "br":
            self._pieces.append(" ")
        elif tag == "span":
            attributes = dict(attrs)
            if "hidden" in attributes and self._switches and self._switches[-1] is not None:
                # One more alternative: what the earlier ones said is taken back.
                del self._pieces[self._switches[-1] :]
            self._switches.append(len(self._pieces) if attributes.get("class") == "switchinline" else None)

    def handle_endtag(self, tag):
        if tag == self._frame:
            self._frame = None
        elif tag in _BLOCKS:
            self._finish()
        elif tag == "span" and self._switches:
            self._switches.pop()

    def handle_data(self, data):
        if self._id is not None:
            self._pieces.append(data)

    def close(self):
        super().close()
        self._finish()

    def _start(self, key=None):
        self._id = key
        self._pieces = []
        self._switches = []

    def _finish(self):
        if self._id is not None:
            before = self._before[self._id]
            self._before[self._id] += 1
            key = self._id if self._id and not before else f"{self._id}#{before}"
            text = "".join(self._pieces).translate(_INVISIBLE)
            self.texts[key] = unicodedata.normalize("NFC", " ".join(text.split()))
        self._start()


def fault(source: str, target: str) -> str | None:
    """Say why a pair is no good for training.

    The first that applies of: `copy of the source` (but for white space and letter case); `length` (a side has fewer
    than 1 or more than 60 words); `few letters` (under 60 % of a side's visible characters); `markup` (`<`, `>`);
    `URL`; `placeholder` (`%s`, `%1`, `%PRODUCTNAME`, a brace, `$[`); `length ratio` (a side has more than 3 times the
    words of the other plus 3).

    Args:
        source: The source text.
        target: The target text.

    Returns:
        The reason, or None for a good pair.

    Example:
        >>> fault("Close the window.", "Close the window.")
        'copy of the source'
    """
    if "".join(source.split()).casefold() == "".join(target.split()).casefold():
        return "copy of the source"
    lengths = len(source.split()), len(target.split())
    if min(lengths) < 1 or max(lengths) > 60:
        return "length"
    for text in (source, target):
        visible = sum(not character.isspace() for character in text)
        if sum(map(str.isalpha, text)) * 10 < visible * 6:
            return "few letters"
    for reason, pattern in _PATTERNS.items():
        if pattern.search(source) or pattern.search(target):
            return reason
    return "length ratio" if max(lengths) > 3 * min(lengths) + 3 else None


def read_trees(source: Path, target: Path) -> tuple[list[Row], dict[str, int]]:
    """Read the clean pairs out of two unpacked help folders.

    Paragraphs belong together by the path of their page and their id. Those without an id, or with one that was there
    before, are matched by their place, and only on pages whose two versions have the same elements. A pair is kept
    once, where it comes first.

    Args:
        source: The `text` folder of the source language.
        target: The `text` folder of the target language.

    Returns:
        `(page, source, target)` rows in the order of the pages, and the counts `pages`, `paragraphs`, `kept`, and for
        what was dropped `no text`, the reasons of `fault` and `duplicate`.

    Example:
        >>> rows, counts = read_trees(Path("en-US/text"), Path("tr/text"))  # doctest: +SKIP
    """
    rows = {}
    counts = Counter(pages=0, paragraphs=0, kept=0)
    for page in sorted(path.relative_to(source).as_posix() for path in source.rglob("*.html")):
        if not (target / page).is_file():
            continue
        left, right = (paragraphs((root / page).read_text("utf-8", "replace")) for root in (source, target))
        counts["pages"] += 1
        same = list(left) == list(right)
        for key, text in left.items():
            if key not in right or ("#" in key and not same):
                continue
            pair = text, right[key]
            counts["paragraphs"] += 1
            if not all(pair):
                counts["no text"] += 1
            elif reason := fault(*pair):
                counts[reason] += 1
            elif pair in rows:
                counts["duplicate"] += 1
            else:
                counts["kept"] += 1
                rows[pair] = page
    return [(page, *pair) for pair, page in rows.items()], dict(counts)


def _read_cache(path: Path) -> dict | None:
    try:
        digest, _, body = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    # A file cut short or changed by a bad disk is as good as none: it is made again.
    return json.loads(body) if hashlib.sha256(body).hexdigest().encode("ascii") == digest else None


def _build(language: str) -> dict:
    packages = [f"libreoffice-help-{name}" for name in ("en-us", language)]
    with tempfile.TemporaryDirectory(prefix="attention-zoo-") as name:
        folder = Path(name)
        _run(["apt-get", "download", *packages], folder)
        files = [next(folder.glob(f"{package}_*.deb"), None) for package in packages]
        if None in files:
            raise _unavailable(f"apt-get downloaded no file for {packages[files.index(None)]}")
        for file in files:
            _run(["dpkg-deb", "--extract", file.name, "unpacked"], folder)
        root = folder / "unpacked" / "usr" / "share" / "libreoffice" / "help"
        rows, counts = read_trees(root / "en-US" / "text", root / language / "text")
    if not rows:
        raise _unavailable(f"the packages {' and '.join(packages)} hold no help page in the expected place")
    names = [file.stem.removesuffix("_all").replace("_", " ").replace("%3a", ":") for file in files]
    return {"packages": ", ".join(names), "counts": counts, "rows": rows}


def _run(command: list[str], folder: Path) -> None:
    try:
        # The C locale keeps the messages in English, so that the hint below can know them.
        done = subprocess.run(
            command, cwd=folder, env=os.environ | {"LC_ALL": "C"}, capture_output=True, text=True, errors="replace"
        )
    except FileNotFoundError:
        raise _unavailable(f"{command[0]} is not on this machine (it is part of Debian and Ubuntu)") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        # apt may add warnings after the error, for one that root downloads without its sandbox user.
        said = [line for line in lines if line.startswith("E:")] or lines
        hint = "; run `apt-get update` first" if "Unable to locate package" in done.stderr else ""
        raise _unavailable(f"{' '.join(command)} failed and said {repr(said[-1]) if said else 'nothing'}{hint}")


def _unavailable(why: str) -> CorpusUnavailableError:
    return CorpusUnavailableError(
        f"The LibreOffice help corpus cannot be made: {why}; 'toy-en-tr' and your own files need no download."
    )
