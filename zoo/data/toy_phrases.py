"""Phrases of the toy corpus; each renders English, Turkish and the links between their words together.

Modifiers stand before their noun in Turkish, relative clauses included. The arguments of a verb stand before it in the
order place, companion, object and goal; a definite object stands before the goal, an indefinite one next to the
verb: "kitabı masanın üstüne koydu" but "masanın üstüne bir kitap koydu".
"""

from dataclasses import dataclass
from typing import Protocol

from zoo.data import toy_lexicon as lexicon
from zoo.data import toy_morphology as morphology
from zoo.data.toy_alignment import Piece, Source, Target, linked_word, sources


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun, named by its English subject form.

    As a subject it has no Turkish word of its own, the verb ending stands for it: "i saw" is gördüm.
    """

    name: str

    definite = True

    @property
    def person(self) -> str:
        return lexicon.PRONOUNS[self.name][0]

    def render(self, case: str) -> Piece:
        if case in ("nominative", "genitive"):
            return Piece([Source(self.name)], [])
        _, english, forms = lexicon.PRONOUNS[self.name]
        return linked_word(english, forms[case])


@dataclass(frozen=True)
class Elided:
    """The unspoken subject of a second verb: "the man saw the cat and (he) went to the garden"."""

    person: str

    def render(self, case: str) -> Piece:
        return Piece([], [])


class Relative(Protocol):
    """A relative clause; it renders with the person of the noun it describes."""

    def render(self, person: str) -> Piece: ...


@dataclass(frozen=True)
class NounPhrase:
    """A noun with its modifiers.

    ``determiner`` is "the", "a", "this", a possessive ("my"), a number ("three") or the phrase of an owner
    ("the teacher" in "the teacher's book": öğretmenin kitabı). After a number the Turkish noun stays singular.
    """

    noun: lexicon.Noun
    determiner: "str | NounPhrase" = "the"
    adjective: lexicon.Adjective | None = None
    plural: bool = False
    relative: Relative | None = None

    @property
    def counted(self) -> bool:
        return self.determiner in lexicon.NUMBERS

    @property
    def definite(self) -> bool:
        return self.determiner != "a" and not self.counted

    @property
    def person(self) -> str:
        return "3pl" if self.plural or self.counted else "3sg"

    def render(self, case: str, possessor: bool = False) -> Piece:
        english = self.noun.plural if self.person == "3pl" else self.noun.english
        source = Source(english + "'s" if possessor else english)
        owner = "3sg" if isinstance(self.determiner, NounPhrase) else lexicon.POSSESSORS.get(self.determiner)
        form = morphology.noun_form(self.noun.turkish, self.plural and not self.counted, owner, case)
        head = Piece([source], [Target(form, [source])])
        if self.adjective:
            quality = linked_word(self.adjective.english, self.adjective.turkish)
            head = Piece(quality.english + head.english, quality.turkish + head.turkish)
        if isinstance(self.determiner, NounPhrase):
            holder = self.determiner.render("genitive", possessor=True)
            head = Piece(holder.english + head.english, holder.turkish + head.turkish)
        else:
            self._determine(head)
        if self.relative:
            clause = self.relative.render(self.person)
            head = Piece(head.english + clause.english, clause.turkish + head.turkish)
        return head

    def _determine(self, head: Piece) -> None:
        """Put the determiner in: "the" has no Turkish word, bir stands after the adjective, bu and numbers before."""
        word = self.determiner
        article = Source("an" if word == "a" and head.english[0].text[0] in "aeiou" else word)
        head.english.insert(0, article)
        if word == "the":
            head.turkish[-1].possible.append(article)
        elif word == "a":
            head.turkish.insert(-1, Target("bir", [article]))
        elif word in lexicon.POSSESSORS:
            head.turkish[-1].sure.append(article)
        else:
            head.turkish.insert(0, Target(lexicon.NUMBERS.get(word, "bu"), [article]))


@dataclass(frozen=True)
class Both:
    """Two phrases joined by "and"; each takes the case: kediyi ve köpeği."""

    first: NounPhrase
    second: NounPhrase

    person = "3pl"

    @property
    def definite(self) -> bool:
        return self.first.definite and self.second.definite

    def render(self, case: str) -> Piece:
        parts = [self.first.render(case), linked_word("and", "ve"), self.second.render(case)]
        return Piece([s for part in parts for s in part.english], [t for part in parts for t in part.turkish])


@dataclass(frozen=True)
class Place:
    """A preposition with its phrase: a case (bahçede) or a relational noun after a genitive (masanın altında)."""

    preposition: lexicon.Preposition
    phrase: NounPhrase | Pronoun

    def render(self, goal: bool) -> Piece:
        case = self.preposition.goal if goal else self.preposition.still
        words = sources(self.preposition.english)
        head = words[self.preposition.head]
        others = [word for word in words if word is not head]
        if self.preposition.relation is None:
            phrase = self.phrase.render(case)
            phrase.turkish[-1].sure.append(head)
        else:
            phrase = self.phrase.render("genitive")
            relation = morphology.noun_form(self.preposition.relation, owner="3sg", case=case)
            phrase.turkish.append(Target(relation, [head], others))
        return Piece(words + phrase.english, phrase.turkish)


@dataclass(frozen=True)
class VerbPhrase:
    """A verb with its object and places; ``wanted`` puts it under "want to": kitabı okumak istedi."""

    verb: lexicon.Verb
    object: NounPhrase | Pronoun | Both | None = None
    places: tuple[Place, ...] = ()
    wanted: bool = False

    def arguments(self) -> Piece:
        """Render what follows the English verb and precedes the Turkish one."""
        english: list[Source] = []
        still: list[Target] = []
        companion: list[Target] = []
        definite: list[Target] = []
        goal: list[Target] = []
        indefinite: list[Target] = []
        if self.object:
            accusative = self.verb.case == "accusative"
            thing = self.object.render("nominative" if accusative and not self.object.definite else self.verb.case)
            english += thing.english
            (definite if self.object.definite else indefinite).extend(thing.turkish)
        for place in self.places:
            piece = place.render(self.verb.goal)
            english += piece.english
            name = place.preposition.english
            if name == "with":
                companion += piece.turkish
            elif self.verb.goal or name in ("to", "from"):
                goal += piece.turkish
            else:
                still += piece.turkish
        return Piece(english, still + companion + definite + goal + indefinite)
