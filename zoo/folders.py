"""Folders that are kept whole: written beside their place, moved there at once, checked when they are read."""

import hashlib
import json
import os
import shutil
from pathlib import Path

KIND = "attention-zoo text model"
FORMAT = 1
MANIFEST = "manifest.json"


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
    others = {path.name for path in folder.iterdir()} - {MANIFEST, *_read_manifest(folder)["sha256"]}
    if others:
        raise FileExistsError(f"{folder} also holds {', '.join(sorted(others))}: move them, or choose another name")


def save_folder(folder, write, versions):
    """Saves a folder whole: a fault on the way leaves what was there before.

    Args:
        folder: where to.
        write: function(folder) that writes the files.
        versions: {package: version}, for the manifest.
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
        write(fresh)
        checksums = {path.name: _sha256(path) for path in sorted(fresh.iterdir())}
        manifest = {"kind": KIND, "format": FORMAT, "versions": versions, "sha256": checksums}
        (fresh / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        _replace(folder, fresh)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def open_folder(folder, needed):
    """Checks a saved folder and returns its path.

    Args:
        needed: names of files that must be in it.
    Raises:
        FileNotFoundError, ValueError: see `zoo.load`.
    """
    folder = Path(folder)
    _recover(folder.resolve())
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    if not _is_saved(folder):
        raise ValueError(f"{folder} is not a saved text model: it has no {MANIFEST} of the kind {KIND!r}")
    manifest = _read_manifest(folder)
    if manifest.get("format") != FORMAT:
        raise ValueError(f"{folder} has format {manifest.get('format')}: this version of the zoo reads {FORMAT}")
    checksums = manifest["sha256"]
    if not set(needed) <= set(checksums):
        raise ValueError(f"{folder / MANIFEST} is damaged: it does not list the folder's files, save it again")
    for name, expected in checksums.items():
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder / name} is missing: the folder is not whole, save it again")
        if _sha256(folder / name) != expected:
            raise ValueError(f"{folder / name} is damaged: its checksum is not the manifest's, save it again")
    return folder


def _read_manifest(folder):
    """The manifest, or None where there is none; its checksums are a dictionary in any case."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(manifest, dict):
        return None
    checksums = manifest.get("sha256")
    return {**manifest, "sha256": checksums if isinstance(checksums, dict) else {}}


def _is_saved(folder):
    manifest = _read_manifest(folder)
    return manifest is not None and manifest.get("kind") == KIND


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
