"""Tables as text."""


def markdown_table(columns, rows):
    """A Markdown table of cells as text; a "|" in a cell is escaped.

    Args:
        columns: names of the columns.
        rows: sequences of as many cells.
    """
    lines = [columns, ["---"] * len(columns), *rows]
    cells = ([str(cell).replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
