"""Word alignments in the Pharaoh format: a line a pair, "0-0 1-2 3p2" with source and target words from 0."""

import re
from dataclasses import dataclass

import numpy as np

from zoo.inspection.alignment import word_attention

_LINK = re.compile(r"(\d+)([-p?])(\d+)")


@dataclass(frozen=True)
class Links:
    """Links of one pair: sorted (source word, target word) tuples; every sure one is also possible."""

    sure: tuple
    possible: tuple


def to_pharaoh(view, role, head=0, reading="predicted", threshold=None):
    """One pair's alignment, read off a head's attention, as a line of the Pharaoh format.

    Args:
        view: AttentionView of the pair.
        role, head: which map, such as "decoder/0/cross" and 0.
        reading: which target word a row belongs to: "predicted", the one that is predicted from it, or "read", the one
            before it, which the decoder has just read (see `word_attention`). Additive and Luong models often need the
            latter (Luong et al. 2015, footnote 14); `alignment_scores` tells which a head does.
        threshold: all links of at least this weight; None = for each target word the one with the largest.
    Returns:
        str, such as "0-0 1-2", sorted; "" where nothing is linked.
    Raises:
        ValueError: a role that is no attention from target to source, a head that is not there, or a threshold that is
            not above 0 and at most 1.
    """
    if role not in view.maps or not role.endswith("/cross"):
        raise ValueError(f"role {role!r}: must be one of {', '.join(r for r in view.maps if r.endswith('/cross'))}")
    if head not in range(len(view.maps[role])):
        raise ValueError(f"head {head}: {role} has heads 0 to {len(view.maps[role]) - 1}")
    words = word_attention(view, role, head, reading)
    if threshold is None:
        links = words.links()
    elif 0 < threshold <= 1:
        links = {(int(s), int(t)) for t, s in np.argwhere(words.weights >= threshold)}
    else:
        raise ValueError(f"threshold={threshold!r}: must be above 0 and at most 1")
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def read_pharaoh(path):
    """Reads alignments of a file: one line for each pair, a blank one for a pair without links.

    "3-2" is a sure link, "3p2" or "3?2" one that is only possible. Made for guided alignment and for
    `alignment_error_rate`.

    Args:
        path: UTF-8 text, such as fast_align or eflomal write.
    Returns:
        A list of `Links`.
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
            found.append(Links(tuple(sorted(sure)), tuple(sorted(possible))))
    return found
