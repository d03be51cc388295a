"""Clauses and sentences of the toy corpus, and the pair of sentences with its alignment that a tree stands for.

The Turkish side is verb-final: time, subject, arguments, question word, verb, question particle.
"""

from dataclasses import dataclass

from zoo.data import toy_lexicon as lexicon
from zoo.data import toy_morphology as morphology
from zoo.data.alignment import Alignment
from zoo.data.toy_alignment import Piece, Source, Target, linked_word, sources
from zoo.data.toy_phrases import Both, Elided, NounPhrase, Pronoun, VerbPhrase

BE = {"1sg": "am", "2sg": "are", "3sg": "is", "1pl": "are", "3pl": "are"}
BE_PAST = {"1sg": "was", "2sg": "were", "3sg": "was", "1pl": "were", "3pl": "were"}
Subject = NounPhrase | Pronoun | Both | Elided


def verb_words(
    verb: lexicon.Verb, tense: str, negative: bool, person: str, question: bool = False
) -> tuple[list[Source], Source, list[Source]]:
    """Return the English auxiliaries (with "not"), the main verb and its particle.

    ``("did", "not"), "look", ("for",)``; a question needs an auxiliary in the past too.
    """
    if tense == "past":
        helped = negative or question
        helpers, main = ("did" if helped else "", verb.base if helped else verb.past)
    elif tense == "progressive":
        helpers, main = BE[person], verb.ing
    else:
        helpers, main = "will", verb.base
    return sources(helpers + (" not" if negative else "")), Source(main), sources(verb.particle)


def link_subject(subject: object, piece: Piece, word: Target) -> None:
    """Link a subject pronoun to the word whose ending stands for it; the third person singular has no ending."""
    if isinstance(subject, Pronoun):
        (word.possible if subject.person == "3sg" else word.sure).extend(piece.english)


@dataclass(frozen=True)
class SubjectRelative:
    """A relative clause on the subject: "that saw the cat" is kediyi gören, whatever the English tense."""

    action: VerbPhrase
    tense: str = "past"
    negative: bool = False

    def render(self, person: str) -> Piece:
        that = Source("that")
        helpers, main, particle = verb_words(self.action.verb, self.tense, self.negative, person)
        arguments = self.action.arguments()
        form = morphology.subject_participle(self.action.verb.turkish, self.negative)
        participle = Target(form, [main], [that, *helpers, *particle])
        return Piece([that, *helpers, main, *particle, *arguments.english], [*arguments.turkish, participle])


@dataclass(frozen=True)
class ObjectRelative:
    """A relative clause on the object: "that the teacher read" is öğretmenin okuduğu, "that i read" okuduğum."""

    subject: NounPhrase | Pronoun
    action: VerbPhrase

    def render(self, person: str) -> Piece:
        that = Source("that")
        subject = self.subject.render("genitive")
        _, main, particle = verb_words(self.action.verb, "past", False, self.subject.person)
        arguments = self.action.arguments()
        owner = "3sg" if isinstance(self.subject, NounPhrase) else self.subject.person
        form = morphology.object_participle(self.action.verb.turkish, owner)
        participle = Target(form, [main], [that, *particle])
        link_subject(self.subject, subject, participle)
        return Piece(
            [that, *subject.english, main, *particle, *arguments.english],
            [*subject.turkish, *arguments.turkish, participle],
        )


@dataclass(frozen=True)
class Clause:
    """A subject with a verb phrase.

    ``asks`` makes it a question, an affirmative one: "yes" (did the cat sleep), "who" (the subject, which is then
    None), "what" (the object, left out of ``action``) or "where" (the place, left out too). A question word stands
    right before the Turkish verb: "who saw the cat" is kediyi kim gördü.
    """

    subject: Subject | None
    action: VerbPhrase
    tense: str = "past"
    negative: bool = False
    asks: str = ""

    def render(self) -> Piece:
        """Render the clause without the "?" of a question."""
        verb = lexicon.WANT if self.action.wanted else self.action.verb
        person = "3sg" if self.subject is None else self.subject.person
        subject = Piece([], []) if self.subject is None else self.subject.render("nominative")
        inverted = self.asks in ("yes", "what", "where")
        helpers, main, particle = verb_words(verb, self.tense, self.negative, person, inverted)
        arguments = self.action.arguments()
        asked = self._question_word()
        english = [*helpers, *subject.english] if inverted else [*subject.english, *helpers]
        turkish = [*subject.turkish, *arguments.turkish, *asked.turkish]
        if self.action.wanted:
            to, inner, particle = Source("to"), Source(self.action.verb.base), sources(self.action.verb.particle)
            english += [main, to, inner, *particle]
            turkish.append(Target(morphology.infinitive(self.action.verb.turkish), [inner], [to, *particle]))
            particle = []
        else:
            english += [main, *particle]
        turkish += self._predicate(verb, main, helpers, particle, subject)
        return Piece([*asked.english, *english, *arguments.english], turkish)

    def _question_word(self) -> Piece:
        if self.asks == "where":
            return linked_word("where", self.action.verb.where)
        if self.asks in lexicon.QUESTION_WORDS:
            return linked_word(self.asks, lexicon.QUESTION_WORDS[self.asks])
        return Piece([], [])

    def _predicate(
        self, verb: lexicon.Verb, main: Source, helpers: list[Source], particle: list[Source], subject: Piece
    ) -> list[Target]:
        """Return the finite verb, and the question particle when the answer is yes or no.

        The particle translates the inverted auxiliary; a subject pronoun goes with the word that has its ending.
        """
        # A plural noun before the verb already says the number: "kediler uyudu", but "they slept" is uyudular.
        spoken = self.subject is None or isinstance(self.subject, NounPhrase | Both)
        ending = "3sg" if spoken else self.subject.person
        words = morphology.verb_form(verb.turkish, self.tense, ending, self.negative, self.asks == "yes")
        predicate = [Target(words[0], [main], [*helpers, *particle])]
        if self.asks == "yes":
            predicate.append(Target(words[1], [helpers[0]]))
        moved = self.asks == "yes" and self.tense != "past" and ending[0] != "3"
        link_subject(self.subject, subject, predicate[-1] if moved else predicate[0])
        return predicate


@dataclass(frozen=True)
class State:
    """A noun phrase and a quality: "the cat was tired" is kedi yorgundu; the tense is "past" or "progressive"."""

    subject: NounPhrase
    quality: lexicon.Adjective
    tense: str = "past"
    negative: bool = False
    asks: str = ""

    def render(self) -> Piece:
        """Render the clause without the "?" of a question."""
        past = self.tense == "past"
        subject = self.subject.render("nominative")
        be = Source((BE_PAST if past else BE)[self.subject.person])
        quality = linked_word(self.quality.english, self.quality.turkish)
        adjective = quality.turkish[0]
        if self.asks:
            particle = Target(morphology.question_particle(adjective.text, past=past), [be])
            return Piece([be, *subject.english, *quality.english], [*subject.turkish, adjective, particle])
        carrier = adjective
        english = [*subject.english, be]
        turkish = [*subject.turkish, adjective]
        if self.negative:
            english.append(Source("not"))
            carrier = Target("değil", [english[-1]])
            turkish.append(carrier)
        carrier.possible.append(be)
        if past:
            carrier.text = morphology.past_copula(carrier.text)
        return Piece(english + quality.english, turkish)


@dataclass(frozen=True)
class Sentence:
    """One clause, or two joined by a connector, perhaps after a word of time."""

    first: Clause | State
    connector: str = ""
    second: Clause | State | None = None
    time: str = ""

    def derive(self) -> tuple[str, str, Alignment]:
        """Return the English sentence, the Turkish one and their alignment."""
        parts = [self.first.render()]
        if self.time:
            parts.insert(0, linked_word(self.time, lexicon.TIMES[self.time]))
        if self.second is not None:
            parts += [linked_word(self.connector, lexicon.CONNECTORS[self.connector]), self.second.render()]
        if self.first.asks:
            parts.append(linked_word("?", "?"))
        english = [source for part in parts for source in part.english]
        turkish = [target for part in parts for target in part.turkish]
        index = {id(source): position for position, source in enumerate(english)}
        sure = {(index[id(s)], place) for place, target in enumerate(turkish) for s in target.sure}
        possible = {(index[id(s)], place) for place, target in enumerate(turkish) for s in target.possible}
        alignment = Alignment(tuple(sorted(sure)), tuple(sorted(sure | possible)))
        return " ".join(s.text for s in english), " ".join(t.text for t in turkish), alignment
