"""What the documents say is what the code says."""

import runpy
from pathlib import Path

import zoo

ROOT = Path(zoo.__file__).parent.parent


def test_the_readmes_table_is_current():
    """If not: python docs/readme_table.py"""
    current = runpy.run_path(str(ROOT / "docs" / "readme_table.py"))["current"]()
    assert (ROOT / "README.md").read_text(encoding="utf-8") == current
    for name in zoo.list_models():
        assert f"| `{name}` |" in current
