"""Writes the table of models into README.md, between its two marks: python docs/readme_table.py"""

import contextlib
import io
import re
from pathlib import Path

from zoo.cli import main

README = Path(__file__).parent.parent / "README.md"
MARKS = "<!-- zoo list --markdown -->\n", "<!-- end -->"


def current():
    """README.md as it should be."""
    table = io.StringIO()
    with contextlib.redirect_stdout(table):
        main(["list", "--markdown"])
    between = re.compile(f"({MARKS[0]}).*({MARKS[1]})", re.DOTALL)
    return between.sub(lambda marks: marks[1] + table.getvalue() + marks[2], README.read_text(encoding="utf-8"))


if __name__ == "__main__":
    README.write_text(current(), encoding="utf-8")
