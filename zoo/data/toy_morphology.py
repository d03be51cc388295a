"""Turkish word forms for the toy corpus, built from general rules.

Suffixes are written as templates with four kinds of variable letter:

``A``
    two-way vowel harmony: ``e`` after a front vowel, ``a`` after a back one (ev-de, okul-da);
``I``
    four-way vowel harmony: ``ı i u ü``, the high vowel that agrees with the last vowel in frontness and
    rounding (at-ı, ev-i, okul-u, köy-ü);
``D``
    ``t`` after a voiceless consonant, ``d`` elsewhere (park-ta, ev-de);
``(x)``
    a buffer, only as the first letter: a buffer consonant appears after a vowel (kedi-yi, ev-i), a buffer vowel
    after a consonant (ev-im, kedi-m).
"""

from dataclasses import dataclass
from functools import cache

VOWELS = "aıoueiöü"
BACK_VOWELS = "aıou"
VOICELESS = "fstkçşhp"
SOFTENED = {"p": "b", "ç": "c", "t": "d", "k": "ğ"}
HIGH_VOWEL = {"a": "ı", "ı": "ı", "o": "u", "u": "u", "e": "i", "i": "i", "ö": "ü", "ü": "ü"}

POSSESSIVES = {"1sg": "(I)m", "2sg": "(I)n", "3sg": "(s)I", "1pl": "(I)mIz"}
CASES = {
    "accusative": "(y)I",
    "dative": "(y)A",
    "locative": "DA",
    "ablative": "DAn",
    "genitive": "(n)In",
    "instrumental": "(y)lA",
}
# After the third person possessive the pronominal n replaces the buffer: kitab-ı-n-ı, kitab-ı-n-da.
CASES_AFTER_THIRD_PERSON = {
    "accusative": "nI",
    "dative": "nA",
    "locative": "nDA",
    "ablative": "nDAn",
    "genitive": "nIn",
    "instrumental": "ylA",
}
PAST_PERSONS = {"1sg": "m", "2sg": "n", "3sg": "", "1pl": "k", "3pl": "lAr"}
PREDICATE_PERSONS = {"1sg": "(y)Im", "2sg": "sIn", "3sg": "", "1pl": "(y)Iz", "3pl": "lAr"}


@dataclass(frozen=True)
class Stem:
    """A stem in its dictionary form and in the form it takes before a vowel.

    ``Stem("kitap", "kitab")`` gives kitap, kitap-ta, kitab-ı; most stems have one form for both.
    """

    form: str
    before_vowel: str


def stem(form: str, soft: bool = False, drops: bool = False) -> Stem:
    """Make a stem; ``soft`` voices its last consonant before a vowel, ``drops`` loses its last vowel there.

    Softening is p > b, ç > c, t > d, k > ğ: ``stem("köpek", soft=True)`` has köpeğ-.
    Vowel drop: ``stem("resim", drops=True)`` has resm-.
    """
    if soft:
        return Stem(form, form[:-1] + SOFTENED[form[-1]])
    if drops:
        return Stem(form, form[:-2] + form[-1])
    return Stem(form, form)


def last_vowel(word: str) -> str:
    """Return the vowel that decides harmony, the last of the word: ``last_vowel("kitap") == "a"``."""
    return next(letter for letter in reversed(word) if letter in VOWELS)


def attach(base: Stem | str, suffix: str) -> str:
    """Add one suffix template to a stem or word: ``attach("kedi", "(y)I") == "kediyi"``."""
    base = stem(base) if isinstance(base, str) else base
    if suffix.startswith("("):
        buffer, rest = suffix[1], suffix[3:]
        wanted = (base.form[-1] in VOWELS) != (buffer == "I")
        suffix = buffer + rest if wanted else rest
    word = base.before_vowel if suffix[:1] in ("A", "I") else base.form
    for letter in suffix:
        if letter == "A":
            letter = "a" if last_vowel(word) in BACK_VOWELS else "e"
        elif letter == "I":
            letter = HIGH_VOWEL[last_vowel(word)]
        elif letter == "D":
            letter = "t" if word[-1] in VOICELESS else "d"
        word += letter
    return word


@cache
def noun_form(noun: Stem, plural: bool = False, owner: str | None = None, case: str = "nominative") -> str:
    """Inflect a noun: stem, plural, possessive, case, in that order.

    ``noun_form(stem("kitap", soft=True), owner="3sg", case="accusative") == "kitabını"``;
    ``noun_form(stem("arkadaş"), plural=True, owner="1pl", case="dative") == "arkadaşlarımıza"``.
    """
    base: Stem | str = attach(noun, "lAr") if plural else noun
    if owner is not None:
        base = attach(base, POSSESSIVES[owner])
    if case != "nominative":
        base = attach(base, (CASES_AFTER_THIRD_PERSON if owner == "3sg" else CASES)[case])
    return base if isinstance(base, str) else base.form


def _negated(verb: Stem, negative: bool) -> Stem:
    """Add the negative suffix -mA when asked: gör- > görme-."""
    return stem(attach(verb, "mA")) if negative else verb


def _before_y(verb: Stem) -> Stem:
    """Raise the e of a stem that is one consonant and e before the buffer y: ye- > yi-yen, yi-yecek."""
    raised = len(verb.form) == 2 and verb.form[1] == "e"
    return stem(verb.form[0] + "i") if raised else verb


def _progressive(verb: Stem) -> str:
    """Add -Iyor, which replaces a final vowel: ara- > arıyor, söyle- > söylüyor, ye- > yiyor, git- > gidiyor."""
    if verb.form[-1] not in VOWELS:
        return attach(verb, "Iyor")
    rest = verb.form[:-1]
    # The suffix vowel agrees with the vowel before the lost one, and with the lost one when there is no other.
    model = rest if any(letter in VOWELS for letter in rest) else verb.form
    return rest + HIGH_VOWEL[last_vowel(model)] + "yor"


def question_particle(word: str, person: str = "3sg", past: bool = False) -> str:
    """Return the separate question word after ``word``; it may carry the person or the past copula.

    ``question_particle("uyudu") == "mu"``, ``question_particle("okuyor", "2sg") == "musun"``,
    ``question_particle("büyük", past=True) == "müydü"``.
    """
    particle = attach(word, " mI")
    particle = attach(particle, "(y)DI") if past else attach(particle, PREDICATE_PERSONS[person])
    return particle.split(" ")[1]


@cache
def verb_form(
    verb: Stem, tense: str, person: str = "3sg", negative: bool = False, question: bool = False
) -> tuple[str, ...]:
    """Return the one or two words of a finite verb; tense is "past", "progressive" or "future".

    ``verb_form(stem("git", soft=True), "progressive", "1sg") == ("gidiyorum",)``;
    ``verb_form(stem("oku"), "progressive", "2sg", question=True) == ("okuyor", "musun")``.
    In a question the past and the third person plural keep the person on the verb (okudun mu, okuyorlar mı);
    elsewhere the person moves to the question word (okuyor musun, okuyacak mıyım).
    """
    base = _negated(verb, negative)
    if tense == "past":
        word = attach(attach(base, "DI"), PAST_PERSONS[person])
        return (word, question_particle(word)) if question else (word,)
    future = stem(attach(_before_y(base), "(y)AcAk"), soft=True)
    tensed = stem(_progressive(base)) if tense == "progressive" else future
    if not question:
        return (attach(tensed, PREDICATE_PERSONS[person]),)
    if person == "3pl":
        word = attach(tensed, PREDICATE_PERSONS[person])
        return (word, question_particle(word))
    return (tensed.form, question_particle(tensed.form, person))


def subject_participle(verb: Stem, negative: bool = False) -> str:
    """Return the -(y)An participle, "who does or did": gör- > gören, oku- > okuyan, git- > giden, görme- > görmeyen."""
    return attach(_before_y(_negated(verb, negative)), "(y)An")


def object_participle(verb: Stem, person: str = "3sg") -> str:
    """Return the -DIk participle with its possessive, "that someone did": oku- > okuduğu, okuduğum."""
    return attach(stem(attach(verb, "DIk"), soft=True), POSSESSIVES[person])


def infinitive(verb: Stem) -> str:
    """Return the -mAk form: gör- > görmek, oku- > okumak."""
    return attach(verb, "mAk")


def past_copula(word: str) -> str:
    """Return "was" joined to a predicate: büyük > büyüktü, mutlu > mutluydu, değil > değildi."""
    return attach(word, "(y)DI")
