"""Random sentence trees of the toy corpus.

The choices keep every English sentence unambiguous, so that its Turkish is a function of it:

* a relative clause on an object comes last in its clause, so a place after it belongs to the relative clause;
* nouns are joined by "and" only in a sentence of one clause, where no second subject can follow;
* a second verb under the same subject never follows a relative clause on an object.
"""

from functools import cache
from random import Random
from typing import TypeVar

from zoo.data.toy_clauses import Clause, ObjectRelative, Sentence, State, SubjectRelative
from zoo.data.toy_lexicon import (
    ADJECTIVES,
    NOUNS,
    NUMBERS,
    POSSESSORS,
    PREPOSITIONS,
    PRONOUNS,
    VERBS,
    Adjective,
    Noun,
    Verb,
)
from zoo.data.toy_phrases import Both, Elided, NounPhrase, Place, Pronoun, VerbPhrase

Word = TypeVar("Word")

# English order of the places of one verb: "played with the dog in the garden", "walked from the park to the school".
PLACE_ORDER = ("with", "from", "to", "on", "under", "behind", "in front of", "next to", "in")
TENSE_TIMES = {"past": ("yesterday", "today"), "progressive": ("now", "today"), "future": ("tomorrow", "today")}
# Determiner weights of a subject or object, and of the phrase of a place.
SUBJECT = {"the": 34, "plural": 12, "a": 8, "number": 10, "this": 8, "owned": 18, "owner": 10}
OBJECT = {"the": 32, "plural": 8, "a": 20, "number": 10, "this": 7, "owned": 15, "owner": 8}
DEFINITE = {"the": 50, "plural": 10, "this": 10, "owned": 20, "owner": 10}
PLAIN = {"the": 66, "this": 8, "owned": 18, "owner": 8}
OWNER = {"the": 70, "owned": 30}


@cache
def nouns_with(tags: tuple[str, ...]) -> list[Noun]:
    """Return the nouns that have one of the tags."""
    return [noun for noun in NOUNS.values() if set(tags) & set(noun.tags)]


@cache
def adjectives_of(kind: str) -> list[Adjective]:
    """Return the adjectives that fit a kind of noun."""
    return [adjective for adjective in ADJECTIVES.values() if kind in adjective.kinds]


@cache
def verbs_of(tags: tuple[str, ...], tense: str) -> list[Verb]:
    """Return the verbs that a subject with these tags may have in the tense."""
    verbs = [verb for verb in VERBS.values() if set(verb.subjects) & set(tags)]
    return [verb for verb in verbs if verb.progressive or tense != "progressive"]


class Sampler:
    """Draws sentences from a ``random.Random``; within one sentence no noun occurs twice."""

    def __init__(self, random: Random):
        self.random = random
        self.used: set[str] = set()
        self.richness = 0.0

    def sentence(self) -> Sentence:
        """Draw one sentence; its richness, drawn first, decides how many optional parts it has."""
        self.used.clear()
        # A product of draws: plain sentences are the more frequent ones, and the richest stay in reach.
        self.richness = self.random.random() * self.random.random()
        if self._chance(0.6):
            self.richness *= self.random.random()
        tense = self._weighted({"past": 55, "progressive": 25, "future": 20})
        if self._chance(0.18):
            return Sentence(self._question(tense))
        time = self.random.choice(TENSE_TIMES[tense]) if self._chance(0.15) else ""
        if not self._chance(0.7 * self.richness):
            return Sentence(self._statement(tense, joined=False), time=time)
        if tense == "past" and self._chance(0.3):
            return self._shared_subject(time)
        connector = self._weighted({"and": 40, "but": 30, "because": 30})
        return Sentence(self._statement(tense), connector, self._statement(tense), time)

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _common(self, words: list[Word]) -> Word:
        """Draw a word; those that the lexicon lists first are the more frequent, as in any language."""
        return words[int(len(words) * self.random.random() ** 1.5)]

    def _weighted(self, weights: dict[str, int]) -> str:
        point = self.random.random() * sum(weights.values())
        for name, weight in weights.items():
            point -= weight
            if point < 0:
                return name
        return name

    def _noun(self, tags: tuple[str, ...]) -> Noun:
        fitting = nouns_with(tags)
        noun = self._common([noun for noun in fitting if noun.english not in self.used] or fitting)
        self.used.add(noun.english)
        return noun

    def _phrase(self, tags: tuple[str, ...], weights: dict[str, int], noun: Noun | None = None) -> NounPhrase:
        noun = noun or self._noun(tags)
        fitting = dict(weights)
        if "owned" not in noun.tags:
            fitting = {name: weight for name, weight in weights.items() if name not in ("owned", "owner")}
        elif "kin" in noun.tags:
            fitting = {name: weight for name, weight in weights.items() if name in ("owned", "owner")}
        if not {"being", "portable"} & set(noun.tags):
            fitting = {name: weight for name, weight in fitting.items() if name not in ("plural", "number")}
        kind = self._weighted(fitting)
        determiner: str | NounPhrase = kind
        if kind == "plural":
            determiner = "the"
        elif kind == "number":
            determiner = self.random.choice(list(NUMBERS))
        elif kind == "owned":
            determiner = self.random.choice(list(POSSESSORS))
        elif kind == "owner":
            determiner = self._phrase(("owner",), OWNER)
        adjective = None
        if "kin" not in noun.tags and self._chance(0.1 + 0.35 * self.richness):
            adjective = self.random.choice(adjectives_of(noun.kind))
        return NounPhrase(noun, determiner, adjective, plural=kind == "plural")

    def _described(self, phrase: NounPhrase) -> NounPhrase:
        """Add a relative clause to a phrase with an article or a number."""
        if phrase.determiner not in ("the", "a", *NUMBERS):
            return phrase
        noun = phrase.noun
        if "being" in noun.tags and self._chance(0.65):
            tense = self._weighted({"past": 70, "progressive": 30})
            action = self._action(self._verb(noun.tags, tense), pronouns=("i", "you", "we"))
            relative = SubjectRelative(action, tense, self._chance(0.2))
        else:
            verbs = [verb for verb in VERBS.values() if set(verb.objects) & set(noun.tags)]
            if not verbs:
                return phrase
            verb = self.random.choice(verbs)
            subject: NounPhrase | Pronoun = self._phrase(verb.subjects, OWNER)
            if self._chance(0.35):
                subject = Pronoun(self.random.choice(("i", "you", "we", "he", "she")))
            relative = ObjectRelative(subject, VerbPhrase(verb, places=self._places(verb)))
        return NounPhrase(noun, phrase.determiner, phrase.adjective, phrase.plural, relative)

    def _verb(self, subject_tags: tuple[str, ...], tense: str) -> Verb:
        return self._common(verbs_of(subject_tags, tense))

    def _places(self, verb: Verb, pronouns: tuple[str, ...] = ()) -> tuple[Place, ...]:
        """Draw the places of a verb: none, one, or two that go together ("from the park to the school")."""
        frame = dict(verb.places)
        if not frame or not (verb.needs_place or self._chance(0.2 + 0.55 * self.richness)):
            return ()
        # A source comes along with the destination, unless it is what the verb is about (come, take).
        names = [name for name in frame if name != "from" or name == verb.places[0][0]]
        chosen = [self.random.choice(names)]
        second = {"to": "from", "with": "in"}.get(chosen[0], "")
        if second in frame and self._chance(0.15 + 0.4 * self.richness):
            chosen.append(second)
        chosen.sort(key=PLACE_ORDER.index)
        return tuple(Place(PREPOSITIONS[name], self._placed(name, frame[name], pronouns)) for name in chosen)

    def _placed(self, preposition: str, tags: tuple[str, ...], pronouns: tuple[str, ...]) -> NounPhrase | Pronoun:
        if pronouns and preposition in ("to", "with") and {"human", "being"} & set(tags) and self._chance(0.25):
            return Pronoun(self.random.choice(pronouns))
        return self._phrase(tags, PLAIN)

    def _action(
        self, verb: Verb, pronouns: tuple[str, ...] = (), definite: bool = False, last: bool = False, both: bool = False
    ) -> VerbPhrase:
        """Draw the arguments of a verb; ``pronouns`` may be its object, ``last`` allows a relative clause there."""
        places = self._places(verb, pronouns)
        thing: NounPhrase | Pronoun | Both | None = None
        if verb.objects and pronouns and {"being", "human"} & set(verb.objects) and self._chance(0.2):
            thing = Pronoun(self.random.choice(pronouns))
        elif verb.objects:
            weights = OBJECT if verb.indefinite and not definite else DEFINITE
            thing = self._phrase(verb.objects, weights)
            if both and thing.definite and self._chance(0.15):
                thing = Both(thing, self._phrase(verb.objects, DEFINITE))
            elif last and not places and self._chance(0.45 * self.richness):
                thing = self._described(thing)
        return VerbPhrase(verb, thing, places)

    def _subject(self, both: bool = False) -> tuple[NounPhrase | Pronoun | Both, tuple[str, ...], tuple[str, ...]]:
        """Draw a subject; return it with its noun tags and the pronouns that its verb may have as object."""
        if self._chance(0.33):
            name = self.random.choice(list(PRONOUNS))
            others = [other for other in PRONOUNS if other != "she" and PRONOUNS[other][0][0] != PRONOUNS[name][0][0]]
            return Pronoun(name), ("human", "being"), tuple(others)
        phrase = self._phrase(("being",), SUBJECT)
        others = tuple(name for name in PRONOUNS if name != "she")
        if both and self._chance(0.12):
            kind = "human" if "human" in phrase.noun.tags else "animal"
            return Both(phrase, self._phrase((kind,), SUBJECT)), phrase.noun.tags, others
        if self._chance(0.35 * self.richness):
            phrase = self._described(phrase)
        return phrase, phrase.noun.tags, others

    def _statement(self, tense: str, joined: bool = True) -> Clause | State:
        """Draw a statement; ``joined`` says that another clause stands beside it."""
        if tense != "future" and self._chance(0.13):
            return self._state(tense, "")
        subject, tags, pronouns = self._subject(both=not joined)
        action = self._action(self._verb(tags, tense), pronouns, last=True, both=not joined)
        if tense == "past" and self._chance(0.12):
            action = VerbPhrase(action.verb, action.object, action.places, wanted=True)
        return Clause(subject, action, tense, self._chance(0.25))

    def _state(self, tense: str, asks: str) -> State:
        phrase = self._phrase(("being", "portable", "on", "place"), DEFINITE)
        quality = self.random.choice(adjectives_of(phrase.noun.kind))
        if phrase.adjective:
            phrase = NounPhrase(phrase.noun, phrase.determiner, None, phrase.plural)
        if self._chance(0.35 * self.richness):
            phrase = self._described(phrase)
        return State(phrase, quality, tense, not asks and self._chance(0.25), asks)

    def _shared_subject(self, time: str) -> Sentence:
        """Draw "the man saw the cat and went to the garden"."""
        subject, tags, pronouns = self._subject()
        first = Clause(subject, self._action(self._verb(tags, "past"), pronouns))
        person = subject.person if isinstance(subject, Pronoun) else "3sg"
        second = Clause(Elided(person), self._action(self._verb(tags, "past"), pronouns, last=True))
        return Sentence(first, "and", second, time)

    def _question(self, tense: str) -> Clause | State:
        asks = self._weighted({"yes": 55, "who": 15, "what": 15, "where": 15})
        if asks == "yes" and tense != "future" and self._chance(0.2):
            return self._state(tense, "yes")
        if asks == "who":
            verb = self._verb(("human", "being"), tense)
            return Clause(None, self._action(verb, ("i", "you", "we", "he", "they"), definite=True), tense, asks="who")
        subject, tags, pronouns = self._subject()
        if asks == "what":
            verb = self.random.choice([verb for verb in verbs_of(tags, tense) if verb.takes_things])
            return Clause(subject, VerbPhrase(verb, None, self._places(verb)), tense, asks="what")
        if asks == "where":
            verb = self.random.choice([verb for verb in verbs_of(tags, tense) if verb.where])
            thing = self._phrase(verb.objects, DEFINITE) if verb.objects else None
            return Clause(subject, VerbPhrase(verb, thing), tense, asks="where")
        return Clause(subject, self._action(self._verb(tags, tense), pronouns, last=True), tense, asks="yes")
