"""Sentence trees against pairs and alignments worked out by hand."""

import pytest

from zoo.data.alignment import Alignment
from zoo.data.toy_clauses import Clause, ObjectRelative, Sentence, State, SubjectRelative
from zoo.data.toy_lexicon import ADJECTIVES, NOUNS, PREPOSITIONS, VERBS
from zoo.data.toy_phrases import Both, Elided, NounPhrase, Place, Pronoun, VerbPhrase


def the(noun, determiner="the", adjective=None, **rest):
    return NounPhrase(NOUNS[noun], determiner, adjective and ADJECTIVES[adjective], **rest)


def at(preposition, phrase):
    return Place(PREPOSITIONS[preposition], phrase)


def act(verb, thing=None, *places, **rest):
    return VerbPhrase(VERBS[verb], thing, places, **rest)


SAW_CAT = act("see", the("cat"))
TEACHER_READ = ObjectRelative(the("teacher"), act("read"))
SENTENCES = [
    (Clause(the("cat"), act("sit", None, at("on", the("mat")))),
     "the cat sat on the mat", "kedi paspasın üstüne oturdu"),
    (Clause(the("cat"), act("sleep", None, at("on", the("mat")))),
     "the cat slept on the mat", "kedi paspasın üstünde uyudu"),
    (Clause(Pronoun("i"), SAW_CAT), "i saw the cat", "kediyi gördüm"),
    (Clause(Pronoun("they"), act("read", the("book", "a")), negative=True), "they did not read a book",
     "bir kitap okumadılar"),
    (Clause(the("child", "my", "young"), act("eat", the("apple", "two", "big"))),
     "my young child ate two big apples", "genç çocuğum iki büyük elma yedi"),
    (Clause(the("man"), act("look at", the("book", the("teacher")))),
     "the man looked at the teacher's book", "adam öğretmenin kitabına baktı"),
    (Clause(the("woman"), act("look for", the("book", the("teacher"), "old")), "progressive"),
     "the woman is looking for the teacher's old book", "kadın öğretmenin eski kitabını arıyor"),
    (Clause(the("dog", relative=SubjectRelative(SAW_CAT)), act("sleep")),
     "the dog that saw the cat slept", "kediyi gören köpek uyudu"),
    (Clause(the("dog", relative=SubjectRelative(act("sleep"), "progressive", True)), act("sleep"), "future"),
     "the dog that is not sleeping will sleep", "uyumayan köpek uyuyacak"),
    (Clause(Pronoun("we"), act("find", the("book", relative=TEACHER_READ))),
     "we found the book that the teacher read", "öğretmenin okuduğu kitabı bulduk"),
    (State(the("picture", relative=ObjectRelative(Pronoun("i"), act("look at"))), ADJECTIVES["new"]),
     "the picture that i looked at was new", "baktığım resim yeniydi"),
    (Clause(the("man"), act("put", the("book"), at("on", the("table")))),
     "the man put the book on the table", "adam kitabı masanın üstüne koydu"),
    (Clause(the("man"), act("put", the("book", "a", "old"), at("on", the("table")))),
     "the man put an old book on the table", "adam masanın üstüne eski bir kitap koydu"),
    (Clause(the("man"), act("put", the("key"), at("in", the("bag", "his")))),
     "the man put the key in his bag", "adam anahtarı çantasına koydu"),
    (Clause(Pronoun("she"), act("give", the("flower"), at("to", the("mother", "my"))), "future"),
     "she will give the flower to my mother", "çiçeği anneme verecek"),
    (Clause(the("doctor"), act("wait for", Pronoun("you"), at("in front of", the("school"))), "progressive"),
     "the doctor is waiting for you in front of the school", "doktor okulun önünde seni bekliyor"),
    (Clause(the("child", plural=True), act("play", None, at("with", the("dog")), at("in", the("garden"))),
            "progressive"),
     "the children are playing with the dog in the garden", "çocuklar bahçede köpekle oynuyor"),
    (Clause(the("woman"), act("walk", None, at("from", the("school")), at("to", the("park")))),
     "the woman walked from the school to the park", "kadın okuldan parka yürüdü"),
    (Clause(the("child"), act("talk", None, at("with", Pronoun("i")))), "the child talked with me",
     "çocuk benimle konuştu"),
    (Clause(the("cat"), act("sleep"), asks="yes"), "did the cat sleep ?", "kedi uyudu mu ?"),
    (Clause(Pronoun("you"), act("read", the("book", "a")), "progressive", asks="yes"), "are you reading a book ?",
     "bir kitap okuyor musun ?"),
    (Clause(Pronoun("they"), act("open", the("door")), "future", asks="yes"), "will they open the door ?",
     "kapıyı açacaklar mı ?"),
    (Clause(None, SAW_CAT, asks="who"), "who saw the cat ?", "kediyi kim gördü ?"),
    (Clause(the("man"), act("write"), "progressive", asks="what"), "what is the man writing ?", "adam ne yazıyor ?"),
    (Clause(the("woman"), act("go"), asks="where"), "where did the woman go ?",
     "kadın nereye gitti ?"),
    (Clause(Pronoun("you"), act("find", the("key")), asks="where"), "where did you find the key ?",
     "anahtarı nerede buldun ?"),
    (Clause(the("teacher"), act("go", None, at("to", the("city")), wanted=True), negative=True),
     "the teacher did not want to go to the city", "öğretmen şehre gitmek istemedi"),
    (Clause(the("horse", "this"), act("look for", the("bird", "a"), wanted=True)),
     "this horse wanted to look for a bird", "bu at bir kuş aramak istedi"),
    (Clause(Both(the("man"), the("woman", "a")), act("see", Both(the("dog"), the("bird", plural=True)))),
     "the man and a woman saw the dog and the birds", "adam ve bir kadın köpeği ve kuşları gördü"),
    (State(the("house", the("father", "my")), ADJECTIVES["big"], "progressive", negative=True),
     "my father's house is not big", "babamın evi büyük değil"),
    (State(the("cat"), ADJECTIVES["tired"], negative=True), "the cat was not tired", "kedi yorgun değildi"),
    (State(the("cat", plural=True), ADJECTIVES["happy"], asks="yes"), "were the cats happy ?", "kediler mutlu muydu ?"),
    (State(the("door"), ADJECTIVES["red"], "progressive", asks="yes"), "is the door red ?", "kapı kırmızı mı ?"),
]  # fmt: skip


@pytest.mark.parametrize(("clause", "english", "turkish"), SENTENCES)
def test_clauses(clause, english, turkish):
    assert Sentence(clause).derive()[:2] == (english, turkish)


def test_joined_sentences():
    slept = Clause(the("cat"), act("sleep"))
    late = Sentence(slept, "because", Clause(Pronoun("he"), act("come", None, at("from", the("village")))), "yesterday")
    assert late.derive()[:2] == ("yesterday the cat slept because he came from the village",
                                 "dün kedi uyudu çünkü köyden geldi")  # fmt: skip
    shared = Sentence(Clause(Pronoun("i"), SAW_CAT), "and", Clause(Elided("1sg"), act("cry")))
    assert shared.derive()[:2] == ("i saw the cat and cried", "kediyi gördüm ve ağladım")


def pharaoh(clause):
    alignment = Sentence(clause).derive()[2]
    return alignment.pharaoh(), alignment.pharaoh(possible=True)


def test_alignment_of_the_mat():
    # the0 cat1 sat2 on3 the4 mat5 / kedi0 paspasın1 üstüne2 oturdu3
    assert pharaoh(SENTENCES[0][0]) == ("1-0 2-3 3-2 5-1", "0-0 1-0 2-3 3-2 4-1 5-1")


def test_alignment_of_suffixes_and_helpers():
    # i0 did1 not2 look3 at4 my5 teacher's6 dog7 / öğretmenimin0 köpeğine1 bakmadım2
    clause = Clause(Pronoun("i"), act("look at", the("dog", the("teacher", "my"))), negative=True)
    assert pharaoh(clause) == ("0-2 3-2 5-0 6-0 7-1", "0-2 1-2 2-2 3-2 4-2 5-0 6-0 7-1")


def test_alignment_of_a_question():
    # are0 you1 reading2 a3 book4 ?5 / bir0 kitap1 okuyor2 musun3 ?4
    clause = Clause(Pronoun("you"), act("read", the("book", "a")), "progressive", asks="yes")
    assert pharaoh(clause) == ("0-3 1-3 2-2 3-0 4-1 5-4", "0-2 0-3 1-3 2-2 3-0 4-1 5-4")


def test_alignment_of_a_relative_clause_and_a_place():
    # the0 dog1 that2 is3 waiting4 in5 front6 of7 the8 house9 slept10
    # evin0 önünde1 bekleyen2 köpek3 uyudu4
    relative = SubjectRelative(act("wait", None, at("in front of", the("house"))), "progressive")
    clause = Clause(the("dog", relative=relative), act("sleep"))
    assert pharaoh(clause) == (
        "1-3 4-2 6-1 9-0 10-4",
        "0-3 1-3 2-2 3-2 4-2 5-1 6-1 7-1 8-0 9-0 10-4",
    )


def test_pharaoh_format():
    assert Alignment(((0, 1), (2, 0)), ((0, 1), (1, 1), (2, 0))).pharaoh() == "0-1 2-0"
