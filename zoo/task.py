"""A model with its tokenizers: text in, text out, and one folder to keep it in."""

import hashlib
import importlib.metadata
import json
import os
import shutil
from pathlib import Path

import numpy as np

from zoo.decoding.greedy import greedy
from zoo.ids import BOS, EOS, PAD
from zoo.inspection.maps import attention_maps, cut_maps
from zoo.inspection.view import AttentionView
from zoo.registry import load_model
from zoo.text.tokenizer import Tokenizer
from zoo.version import VERSION
from zoo.widths import width_for

_KIND = "attention-zoo text model"
_FORMAT = 1
_MANIFEST = "manifest.json"
_MODEL = "model.keras"
_CONFIG = "config.json"
_ROWS = 64  # sentences decoded at a time


class TextModel:
    """A model and the tokenizers of its two sides.

    Args:
        model: a model of the zoo that generates.
        source_tokenizer: `Tokenizer` of the source.
        target_tokenizer: of the target; None = the same for both.
    Raises:
        ValueError: a tokenizer with more pieces than the model's vocabulary of that side.

    Example::

        text = zoo.TextModel(model, tokenizer)
        text.generate(["the cat sat on the mat"])        # ["kedi paspasın üstüne oturdu"]
        text.save("en-tr")
    """

    def __init__(self, model, source_tokenizer, target_tokenizer=None):
        self.model = model
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer or source_tokenizer
        for side, tokenizer in (("source", self.source_tokenizer), ("target", self.target_tokenizer)):
            vocabulary = model.vocabulary(side)
            if tokenizer.vocabulary > vocabulary:
                raise ValueError(
                    f"the {side} tokenizer has {tokenizer.vocabulary} pieces but the model {side}_vocab={vocabulary}: "
                    f"build the model with {side}_vocab={tokenizer.vocabulary}"
                )

    def generate(self, texts, max_length=None):
        """Translates (or summarises, or answers) texts: N in, N out, in the same order.

        Args:
            texts: iterable of str, a sentence each. A blank one gives "" without running the model.
            max_length: most tokens of an output, EOS included; default the source's padded width + 50.
        Returns:
            A list of str. An output does not depend on what else is in `texts`.
        Raises:
            ValueError: a text that is longer than the model can take, named by its row; TypeError: a str for `texts`.
        """
        if isinstance(texts, str):
            raise TypeError("texts is a str: give a list of sentences")
        texts = list(texts)
        outputs = [""] * len(texts)
        for members, source in self._batches(texts):
            tokens = greedy(self.model, source, max_length).tokens[: len(members), 0]
            for i, output in zip(members, self.target_tokenizer.decode(tokens), strict=True):
                outputs[i] = output
        return outputs

    def attend(self, text, target=None, max_length=None):
        """Runs one sentence and returns its attention.

        Args:
            text: the source.
            target: a target that the decoder is forced along; None = what the model itself generates.
            max_length: of the generated target (see `generate`).
        Returns:
            AttentionView.
        Raises:
            ValueError: a blank text, or one that is longer than the model can take.
        """
        batches = list(self._batches([text]))
        if not batches:
            raise ValueError("the text is blank: there is nothing to attend to")
        source = batches[0][1][:1]
        source = source[:, : int((source != PAD).sum())]
        if target is None:
            found = greedy(self.model, source, max_length)
            ids = found.tokens[0, 0, : found.lengths[0, 0]].tolist()
        else:
            ids = [*self.target_tokenizer.encode([target])[0], EOS]
        return next(self._views(source, [ids]))

    def attend_pairs(self, pairs):
        """Runs many pairs, the decoder forced along each target, and yields an AttentionView for each, in their order.

        Raises:
            ValueError: a blank source, or one that is longer than the model can take, named by its row.
        """
        targets = [[*row, EOS] for row in self.target_tokenizer.encode([target for _, target in pairs])]
        views = {}
        for members, source in self._batches([source for source, _ in pairs]):
            views.update(zip(members, self._views(source, [targets[i] for i in members]), strict=True))
        if len(views) < len(pairs):
            blank = next(i for i in range(len(pairs)) if i not in views)
            raise ValueError(f"source {blank + 1} is blank: there is nothing to attend to")
        return (views[i] for i in range(len(pairs)))

    def _views(self, source, targets):
        """Yields the attention of source rows (B, S) for their targets, lists of ids that end in EOS; B may be more."""
        inputs = np.full((len(source), max(map(len, targets))), PAD, "int32")
        for row, ids in zip(inputs, targets, strict=False):
            row[: len(ids)] = [BOS, *ids[:-1]]
        maps = attention_maps(self.model, {"source": source, "target": inputs})
        maps = {role: np.asarray(weights) for role, weights in maps.items()}
        for row, ids in enumerate(targets):
            length = int((source[row] != PAD).sum())
            # In the text's own order, whichever way the model read it; EOS stays last.
            order = [*range(length - 1)]
            order = [*(order[::-1] if self.source_tokenizer.reverse else order), length - 1]
            yield AttentionView(
                source_tokens=self.source_tokenizer.pieces(source[row][order]),
                target_tokens=self.target_tokenizer.pieces(ids),
                maps=cut_maps(maps, row, order, (range(len(ids)), inputs.shape[1])),
                text=self.target_tokenizer.decode([ids])[0],
            )

    def save(self, folder):
        """Saves everything into one folder: model, tokenizers, configuration, a manifest with versions and checksums.

        The folder is written beside its place and moved there whole: a fault on the way leaves what was there before.

        Raises:
            FileExistsError: see `check_folder`.
        """
        check_folder(folder)
        folder = Path(folder).resolve()  # where a link points to is what gets replaced
        folder.parent.mkdir(parents=True, exist_ok=True)
        for leftover in folder.parent.glob(f".{folder.name}.saving-*"):  # of savings that were killed
            shutil.rmtree(leftover, ignore_errors=True)
        fresh = folder.with_name(f".{folder.name}.saving-{os.getpid()}")
        fresh.mkdir()
        try:
            self._write(fresh)
            _replace(folder, fresh)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def _batches(self, texts):
        """Yields (rows of texts, source ids (B, W)): few widths, similar lengths together, blank texts left out."""
        ids = [[*row, EOS] for row in self.source_tokenizer.encode(texts)]
        limit = self.model.source_limit
        for i, row in enumerate(ids):
            if limit is not None and len(row) > limit:
                raise ValueError(f"text {i + 1} has {len(row)} tokens: the model takes at most {limit}, shorten it")
        widths = {}
        for i in sorted((i for i, text in enumerate(texts) if text.strip()), key=lambda i: len(ids[i])):
            widths.setdefault(min(width_for(len(ids[i])), limit or np.inf), []).append(i)
        for width, members in widths.items():
            for start in range(0, len(members), _ROWS):
                chosen = members[start : start + _ROWS]
                # Rows in powers of two bound the shapes; the searches skip empty rows.
                source = np.full((1 << (len(chosen) - 1).bit_length(), width), PAD, "int32")
                for row, i in enumerate(chosen):
                    source[row, : len(ids[i])] = ids[i]
                yield chosen, source

    def _write(self, folder):
        self.model.save(folder / _MODEL)
        shared = self.target_tokenizer is self.source_tokenizer
        sides = {"source": self.source_tokenizer} | ({} if shared else {"target": self.target_tokenizer})
        for side, tokenizer in sides.items():
            (folder / f"{side}.spm").write_bytes(tokenizer.proto)
        config = {side: {"lowercase": t.lowercase, "reverse": t.reverse} for side, t in sides.items()}
        (folder / _CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        manifest = {
            "kind": _KIND,
            "format": _FORMAT,
            "versions": {"attention-zoo": VERSION, "keras": importlib.metadata.version("keras")},
            "sha256": {path.name: _sha256(path) for path in sorted(folder.iterdir())},
        }
        (folder / _MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def check_folder(folder):
    """Checks, before a long training, that `TextModel.save(folder)` may write there.

    Raises:
        FileExistsError: a file, or a folder that is not a saved text model or holds other files too; it is left alone.
    """
    folder = Path(folder)
    _recover(folder.resolve())
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not _is_saved(folder):
        raise FileExistsError(f"{folder} exists and is not a saved text model: choose another name or remove it")
    others = {path.name for path in folder.iterdir()} - {_MANIFEST, *_read_manifest(folder)["sha256"]}
    if others:
        raise FileExistsError(f"{folder} also holds {', '.join(sorted(others))}: move them, or choose another name")


def load(folder):
    """Loads a `TextModel` that `save` wrote.

    Raises:
        FileNotFoundError: no such folder, or a file of it is missing.
        ValueError: a folder that is not a saved text model, one of a newer format, or a damaged file, by name.
    """
    folder = Path(folder)
    _recover(folder.resolve())
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    if not _is_saved(folder):
        raise ValueError(f"{folder} is not a saved text model: it has no {_MANIFEST} of the kind {_KIND!r}")
    manifest = _read_manifest(folder)
    if manifest.get("format") != _FORMAT:
        raise ValueError(f"{folder} has format {manifest.get('format')}: this version of the zoo reads {_FORMAT}")
    checksums = manifest["sha256"]
    if not {_MODEL, _CONFIG, "source.spm"} <= set(checksums):
        raise ValueError(f"{folder / _MANIFEST} is damaged: it does not list the folder's files, save it again")
    for name, expected in checksums.items():
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder / name} is missing: the folder is not whole, save it again")
        if _sha256(folder / name) != expected:
            raise ValueError(f"{folder / name} is damaged: its checksum is not the manifest's, save it again")
    config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
    tokenizers = [Tokenizer((folder / f"{side}.spm").read_bytes(), **options) for side, options in config.items()]
    return TextModel(load_model(folder / _MODEL), *tokenizers)


def _read_manifest(folder):
    """The manifest, or None where there is none; its checksums are a dictionary in any case."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(manifest, dict):
        return None
    checksums = manifest.get("sha256")
    return {**manifest, "sha256": checksums if isinstance(checksums, dict) else {}}


def _is_saved(folder):
    manifest = _read_manifest(folder)
    return manifest is not None and manifest.get("kind") == _KIND


def _sha256(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _replace(folder, fresh):
    """Moves `fresh` to `folder`; what was there goes only once the new one is in place."""
    old = _old(folder)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        os.rename(folder, old)
    try:
        os.rename(fresh, folder)
    finally:
        _recover(folder)
    shutil.rmtree(old, ignore_errors=True)


def _recover(folder):
    """Puts the old folder back where a saving was ended between the two moves."""
    if not folder.exists() and _old(folder).exists():
        os.rename(_old(folder), folder)


def _old(folder):
    return folder.with_name(f".{folder.name}.old")
