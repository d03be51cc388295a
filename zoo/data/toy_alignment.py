"""Words with the links between them."""

from dataclasses import dataclass


class Source:
    """One English word; links refer to the object, so words may move freely until the sentence is complete."""

    def __init__(self, text: str):
        self.text = text


class Target:
    """One Turkish word with the English words it is surely and possibly linked to."""

    def __init__(self, text: str, sure: list[Source] | None = None, possible: list[Source] | None = None):
        self.text = text
        self.sure = list(sure or ())
        self.possible = list(possible or ())


@dataclass
class Piece:
    """The two sides of a constituent."""

    english: list[Source]
    turkish: list[Target]


def sources(text: str) -> list[Source]:
    """Make one source word of each word of the text."""
    return [Source(word) for word in text.split()]


def linked_word(english: str, turkish: str) -> Piece:
    """Make a constituent of one word on each side, surely linked."""
    source = Source(english)
    return Piece([source], [Target(turkish, [source])])
