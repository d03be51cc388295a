"""Who may import whom."""

import ast
from pathlib import Path

import pytest

import zoo

ROOT = Path(zoo.__file__).parent
ALWAYS = {"ids", "version", "widths", "lazy"}  # constants that everyone may use
ALLOWED = {
    "layers": {"layers"},
    "decoding": {"decoding"},
    "models": {"models", "layers"},
    "text": {"text"},
    "data": {"data"},
    "inspection": {"inspection", "layers.tap", "layers.embeddings", "decoding", "tensorboard.record"},
    "training": {"training", "decoding", "inspection", "tensorboard"},
    "tensorboard": {"tensorboard"},
    "distribution": {"distribution"},
    "folders": set(),
    "generation": {"decoding", "inspection"},
    "task": {"models", "text", "decoding", "inspection", "registry", "folders", "generation"},
    "registry": {"models"},
    "description": {"registry"},
    "quiet": set(),
    "tables": set(),
}
TENSORFLOW = {
    "data",
    "distribution",
    "training/callbacks.py",
    "training/attention.py",
    "tensorboard/summary.py",
    "inspection/faithfulness.py",  # a gradient: Keras has none that serves all backends
}
RECIPES = ROOT.parent / "recipes"


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def modules():
    return [pytest.param(path, id=path.relative_to(ROOT).as_posix()) for path in sorted(ROOT.rglob("*.py"))]


@pytest.mark.parametrize("path", modules())
def test_a_module_imports_what_its_room_may(path):
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if room in ("__init__", "__main__", "cli"):
        return  # these may import everything
    allowed = ALLOWED.get(room, set()) | ALWAYS
    for name in imports(path):
        if name.startswith("zoo."):
            inner = name.removeprefix("zoo.")
            assert any(inner == door or inner.startswith(f"{door}.") for door in allowed), name


@pytest.mark.parametrize("path", modules())
def test_tensorflow_has_its_places(path):
    inner = path.relative_to(ROOT).as_posix()
    heavy = {name.split(".")[0] for name in imports(path)} & {"tensorflow", "jax", "torch"}
    assert not heavy or any(inner == place or inner.startswith(f"{place}/") for place in TENSORFLOW)


@pytest.mark.parametrize("path", modules())
def test_files_stay_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.py")), ids=lambda path: path.name)
def test_recipes_use_public_names(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [name for name in imports(path) if name.startswith("zoo.")]
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "zoo"
    }
    assert used <= set(zoo.__all__)
