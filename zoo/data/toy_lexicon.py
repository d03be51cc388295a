"""The vocabulary of the toy corpus: words, their Turkish stems, and what each may be combined with.

Irregular facts are data here: English plurals and past forms, softening and vowel-dropping Turkish stems,
the case a verb governs. The rules that use them are in ``toy_morphology`` and ``toy_phrases`` and ``toy_clauses``.
"""

from dataclasses import dataclass

from zoo.data.toy_morphology import Stem, stem


@dataclass(frozen=True)
class Noun:
    """A noun: its English forms, its Turkish stem, a kind (which adjectives fit) and tags (where it may stand)."""

    english: str
    plural: str
    turkish: Stem
    kind: str
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Adjective:
    """An adjective, invariable on both sides, with the kinds of noun it fits."""

    english: str
    turkish: str
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Verb:
    """A verb with its forms and its frame.

    ``particle`` is the English word that belongs to the verb ("for" in "look for"). ``objects`` are the noun tags of
    the object, empty for an intransitive verb, and ``case`` the Turkish case the object takes. ``places`` are the
    prepositions the verb combines with, the most usual one first, each with the noun tags it wants. ``goal`` means
    that "in" and "on" name an end point and take the dative in Turkish (sat on the mat: paspasın üstüne oturdu);
    ``needs_place`` makes a place obligatory. ``progressive`` and ``indefinite`` are false for a verb that is not used
    in the progressive (seeing) or with an indefinite object (chase a cat).
    """

    base: str
    past: str
    ing: str
    turkish: Stem
    subjects: tuple[str, ...]
    objects: tuple[str, ...] = ()
    particle: str = ""
    case: str = "accusative"
    places: tuple[tuple[str, tuple[str, ...]], ...] = ()
    goal: bool = False
    needs_place: bool = False
    progressive: bool = True
    indefinite: bool = True

    @property
    def english(self) -> str:
        """The name of the verb with its particle: "look for"."""
        return f"{self.base} {self.particle}".strip()

    @property
    def takes_things(self) -> bool:
        """Whether "what" can ask for the object: it is accusative and not always a living being."""
        return self.case == "accusative" and bool(set(self.objects) - {"human", "animal"})

    @property
    def where(self) -> str:
        """The Turkish "where" of the verb, by its most usual place: nereye (to), nerede (in), or none."""
        preposition, tags = self.places[0] if self.places else ("", ())
        if self.goal or (preposition == "to" and "place" in tags):
            return "nereye"
        return "nerede" if preposition == "in" else ""


def _noun(english: str, turkish: str, kind: str, tags: str, plural: str = "", **stem_flags: bool) -> Noun:
    return Noun(english, plural or english + "s", stem(turkish, **stem_flags), kind, tuple(tags.split()))


_NOUNS = (
    _noun("man", "adam", "human", "human being owner", plural="men"),
    _noun("woman", "kadın", "human", "human being owner", plural="women"),
    _noun("child", "çocuk", "human", "human being owner", plural="children", soft=True),
    _noun("teacher", "öğretmen", "human", "human being owner owned"),
    _noun("doctor", "doktor", "human", "human being owner owned"),
    _noun("friend", "arkadaş", "human", "human being owner owned"),
    _noun("mother", "anne", "human", "human being owner owned kin"),
    _noun("father", "baba", "human", "human being owner owned kin"),
    _noun("cat", "kedi", "animal", "animal being owned washed"),
    _noun("dog", "köpek", "animal", "animal being owned washed", soft=True),
    _noun("bird", "kuş", "animal", "animal being owned"),
    _noun("horse", "at", "animal", "animal being owned washed"),
    _noun("book", "kitap", "paper", "portable owned readable written", soft=True),
    _noun("letter", "mektup", "paper", "portable owned readable written opened", soft=True),
    _noun("picture", "resim", "paper", "portable owned", drops=True),
    _noun("apple", "elma", "food", "portable owned eaten washed"),
    _noun("cake", "pasta", "food", "portable owned eaten"),
    _noun("ball", "top", "thing", "portable owned toy washed"),
    _noun("key", "anahtar", "thing", "portable owned"),
    _noun("flower", "çiçek", "plant", "portable owned", soft=True),
    _noun("bag", "çanta", "thing", "portable owned opened washed container"),
    _noun("box", "kutu", "thing", "portable owned opened container", plural="boxes"),
    _noun("table", "masa", "thing", "owned washed on under next"),
    _noun("chair", "sandalye", "thing", "owned washed on under behind"),
    _noun("bed", "yatak", "thing", "owned on under next", soft=True),
    _noun("mat", "paspas", "thing", "owned washed on"),
    _noun("car", "araba", "thing", "owned washed under behind front next"),
    _noun("door", "kapı", "thing", "opened washed behind front next"),
    _noun("tree", "ağaç", "plant", "under behind front next", soft=True),
    _noun("house", "ev", "place", "owned place behind front"),
    _noun("garden", "bahçe", "place", "owned place"),
    _noun("school", "okul", "place", "owned place behind front"),
    _noun("village", "köy", "place", "owned place"),
    _noun("park", "park", "place", "place"),
    _noun("city", "şehir", "place", "place", plural="cities", drops=True),
)
NOUNS = {noun.english: noun for noun in _NOUNS}

_ADJECTIVES = (
    Adjective("young", "genç", ("human",)),
    Adjective("happy", "mutlu", ("human", "animal")),
    Adjective("tired", "yorgun", ("human", "animal")),
    Adjective("big", "büyük", ("animal", "paper", "food", "thing", "plant", "place")),
    Adjective("small", "küçük", ("animal", "paper", "food", "thing", "plant", "place")),
    Adjective("black", "siyah", ("animal", "thing")),
    Adjective("red", "kırmızı", ("thing",)),
    Adjective("new", "yeni", ("paper", "thing")),
    Adjective("old", "eski", ("paper", "thing", "place")),
    Adjective("beautiful", "güzel", ("food", "plant", "place")),
)
ADJECTIVES = {adjective.english: adjective for adjective in _ADJECTIVES}


_PLACE_TAGS = {
    "in": "place",
    "to": "place",
    "from": "place",
    "with": "human",
    "on": "on",
    "under": "under",
    "behind": "behind",
    "in front of": "front",
    "next to": "next,human",
}


def _verb(
    forms: str, turkish: str, subjects: str, soft: bool = False, objects: str = "", places: str = "", **frame: object
) -> Verb:
    """Make a verb from short notations; a place is ``preposition`` or ``preposition:tag,tag``, parted by ``;``."""
    frames = []
    for place in filter(None, places.split("; ")):
        preposition, _, tags = place.partition(":")
        frames.append((preposition, tuple((tags or _PLACE_TAGS[preposition]).split(","))))
    stems = stem(turkish, soft=soft)
    return Verb(*forms.split(), stems, tuple(subjects.split()), tuple(objects.split()), places=tuple(frames), **frame)


_RELATIONS = "on; under; behind; in front of; next to"
_HERE = "in; " + _RELATIONS
_END = {"goal": True, "needs_place": True}
_VERBS = (
    _verb("sleep slept sleeping", "uyu", "being", places=_HERE),
    _verb("wait waited waiting", "bekle", "being", places=_HERE),
    _verb("cry cried crying", "ağla", "human", places="in; behind; in front of"),
    _verb("work worked working", "çalış", "human", places="in"),
    _verb("play played playing", "oyna", "being", places="in; with:being,toy"),
    _verb("talk talked talking", "konuş", "human", places="with", needs_place=True),
    _verb("sit sat sitting", "otur", "being", places=_RELATIONS, progressive=False, **_END),
    _verb("go went going", "git", "being", soft=True, places="to", needs_place=True),
    _verb("come came coming", "gel", "being", places="from; to", needs_place=True),
    _verb("run ran running", "koş", "being", places="to; in; from"),
    _verb("walk walked walking", "yürü", "human", places="to; from"),
    _verb("see saw seeing", "gör", "being", objects="being portable", places=_HERE, progressive=False),
    _verb("find found finding", "bul", "being", objects="being portable", places=_HERE, progressive=False),
    _verb("look looked looking", "bak", "being", objects="being portable", particle="at", case="dative"),
    _verb("look looked looking", "ara", "being", objects="being portable", particle="for", places="in"),
    _verb("wait waited waiting", "bekle", "human", objects="human", particle="for", places=_HERE, indefinite=False),
    _verb("read read reading", "oku", "human", objects="readable", places=_HERE),
    _verb("write wrote writing", "yaz", "human", objects="written", places="in"),
    _verb("eat ate eating", "ye", "being", objects="eaten", places=_HERE),
    _verb("open opened opening", "aç", "human", objects="opened"),
    _verb("lose lost losing", "kaybet", "human", soft=True, objects="portable", places="in", progressive=False),
    _verb("wash washed washing", "yıka", "human", objects="washed", places="in"),
    _verb("chase chased chasing", "kovala", "animal", objects="animal", places="in", indefinite=False),
    _verb("bring brought bringing", "getir", "human", objects="portable", places="to; from"),
    _verb("take took taking", "al", "human", objects="portable", places="from:on,container,human"),
    _verb("give gave giving", "ver", "human", objects="portable", places="to:human", needs_place=True),
    _verb("put put putting", "koy", "human", objects="portable", places="in:container; " + _RELATIONS, **_END),
)
VERBS = {verb.english: verb for verb in _VERBS}
WANT = _verb("want wanted wanting", "iste", "being")


@dataclass(frozen=True)
class Preposition:
    """A preposition and what stands for it in Turkish.

    Either a case on the noun (``still`` for a place where one is, ``goal`` for an end point) or a relational noun
    that takes the case itself after a genitive: "under the bed" is yatağın alt-ı-n-da. ``head`` is the index of
    the English word that carries the meaning.
    """

    english: str
    still: str
    goal: str
    relation: Stem | None = None
    head: int = 0


_PREPOSITIONS = (
    Preposition("in", "locative", "dative"),
    Preposition("to", "dative", "dative"),
    Preposition("from", "ablative", "ablative"),
    Preposition("with", "instrumental", "instrumental"),
    Preposition("on", "locative", "dative", stem("üst")),
    Preposition("under", "locative", "dative", stem("alt")),
    Preposition("behind", "locative", "dative", stem("arka")),
    Preposition("in front of", "locative", "dative", stem("ön"), head=1),
    Preposition("next to", "locative", "dative", stem("yan")),
)
PREPOSITIONS = {preposition.english: preposition for preposition in _PREPOSITIONS}

NUMBERS = {"two": "iki", "three": "üç", "four": "dört"}
POSSESSORS = {"my": "1sg", "your": "2sg", "his": "3sg", "her": "3sg"}
CONNECTORS = {"and": "ve", "but": "ama", "because": "çünkü"}
TIMES = {"yesterday": "dün", "today": "bugün", "tomorrow": "yarın", "now": "şimdi"}
QUESTION_WORDS = {"who": "kim", "what": "ne"}
# Subject form: person, English object form, Turkish object forms (irregular: bana, sana, benimle, bizimle).
# "her" is left to the possessive, so "she" has no object form.
PRONOUNS = {
    "i": ("1sg", "me", {"accusative": "beni", "dative": "bana", "instrumental": "benimle"}),
    "you": ("2sg", "you", {"accusative": "seni", "dative": "sana", "instrumental": "seninle"}),
    "he": ("3sg", "him", {"accusative": "onu", "dative": "ona", "instrumental": "onunla"}),
    "she": ("3sg", "", {}),
    "we": ("1pl", "us", {"accusative": "bizi", "dative": "bize", "instrumental": "bizimle"}),
    "they": ("3pl", "them", {"accusative": "onları", "dative": "onlara", "instrumental": "onlarla"}),
}
