"""Gold word alignments, and the Pharaoh format: a line a pair, "0-0 1-2 3p2" with source and target words from 0."""

import re
from dataclasses import dataclass

_LINK = re.compile(r"(\d+)([-p?])(\d+)")


@dataclass(frozen=True)
class Alignment:
    """Gold links of one pair, as sorted (source index, target index) tuples; every sure link is also possible."""

    sure: tuple[tuple[int, int], ...]
    possible: tuple[tuple[int, int], ...]

    def pharaoh(self, possible: bool = False) -> str:
        """Write the sure links, or the possible ones, in the Pharaoh format: ``"1-0 2-3 3-2"``."""
        return " ".join(f"{source}-{target}" for source, target in (self.possible if possible else self.sure))


def read_pharaoh(path):
    """Reads alignments of a file: one line for each pair, a blank one for a pair without links.

    "3-2" is a sure link, "3p2" or "3?2" one that is only possible. Made for guided alignment and for
    `alignment_error_rate`.

    Args:
        path: UTF-8 text, such as fast_align or eflomal write.
    Returns:
        A list of `Alignment`.
    Raises:
        ValueError: anything that is no link, with its line.
    """
    found = []
    with open(path, encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            sure, possible = set(), set()
            for part in line.split():
                match = _LINK.fullmatch(part)
                if match is None:
                    raise ValueError(f"{path}, line {number}: {part!r} is no link: write source-target, such as 3-2")
                link = int(match[1]), int(match[3])
                possible.add(link)
                if match[2] == "-":
                    sure.add(link)
            found.append(Alignment(tuple(sorted(sure)), tuple(sorted(possible))))
    return found
