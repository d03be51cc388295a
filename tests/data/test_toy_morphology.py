"""Turkish word forms against tables written by hand."""

import pytest

from zoo.data import toy_morphology
from zoo.data.toy_lexicon import ADJECTIVES, NOUNS, VERBS

CASES = ("nominative", "accusative", "dative", "locative", "ablative", "genitive", "instrumental")


@pytest.mark.parametrize(
    ("noun", "owner", "plural", "forms"),
    [
        ("cat", None, False, "kedi kediyi kediye kedide kediden kedinin kediyle"),
        ("cat", None, True, "kediler kedileri kedilere kedilerde kedilerden kedilerin kedilerle"),
        ("cat", "1sg", False, "kedim kedimi kedime kedimde kedimden kedimin kedimle"),
        ("cat", "3sg", False, "kedisi kedisini kedisine kedisinde kedisinden kedisinin kedisiyle"),
        ("book", None, False, "kitap kitabı kitaba kitapta kitaptan kitabın kitapla"),
        ("book", "3sg", False, "kitabı kitabını kitabına kitabında kitabından kitabının kitabıyla"),
        ("book", "1pl", True, "kitaplarımız kitaplarımızı kitaplarımıza kitaplarımızda kitaplarımızdan "
         "kitaplarımızın kitaplarımızla"),
        ("tree", None, False, "ağaç ağacı ağaca ağaçta ağaçtan ağacın ağaçla"),
        ("dog", None, False, "köpek köpeği köpeğe köpekte köpekten köpeğin köpekle"),
        ("dog", "2sg", False, "köpeğin köpeğini köpeğine köpeğinde köpeğinden köpeğinin köpeğinle"),
        ("dog", None, True, "köpekler köpekleri köpeklere köpeklerde köpeklerden köpeklerin köpeklerle"),
        ("letter", "1pl", False, "mektubumuz mektubumuzu mektubumuza mektubumuzda mektubumuzdan mektubumuzun "
         "mektubumuzla"),
        ("picture", None, False, "resim resmi resme resimde resimden resmin resimle"),
        ("picture", "1sg", False, "resmim resmimi resmime resmimde resmimden resmimin resmimle"),
        ("city", None, False, "şehir şehri şehre şehirde şehirden şehrin şehirle"),
        ("child", None, False, "çocuk çocuğu çocuğa çocukta çocuktan çocuğun çocukla"),
        ("ball", None, False, "top topu topa topta toptan topun topla"),
        ("horse", "3sg", False, "atı atını atına atında atından atının atıyla"),
        ("key", None, False, "anahtar anahtarı anahtara anahtarda anahtardan anahtarın anahtarla"),
        ("box", None, False, "kutu kutuyu kutuya kutuda kutudan kutunun kutuyla"),
        ("father", "1sg", False, "babam babamı babama babamda babamdan babamın babamla"),
        ("mother", "3sg", False, "annesi annesini annesine annesinde annesinden annesinin annesiyle"),
        ("friend", "1sg", False, "arkadaşım arkadaşımı arkadaşıma arkadaşımda arkadaşımdan arkadaşımın arkadaşımla"),
        ("village", None, False, "köy köyü köye köyde köyden köyün köyle"),
        ("park", None, False, "park parkı parka parkta parktan parkın parkla"),
        ("flower", None, False, "çiçek çiçeği çiçeğe çiçekte çiçekten çiçeğin çiçekle"),
        ("bed", "3sg", False, "yatağı yatağını yatağına yatağında yatağından yatağının yatağıyla"),
        ("bird", None, False, "kuş kuşu kuşa kuşta kuştan kuşun kuşla"),
        ("doctor", "1pl", False, "doktorumuz doktorumuzu doktorumuza doktorumuzda doktorumuzdan doktorumuzun "
         "doktorumuzla"),
        ("car", "2sg", False, "araban arabanı arabana arabanda arabandan arabanın arabanla"),
    ],
)  # fmt: skip
def test_noun_forms(noun, owner, plural, forms):
    stem = NOUNS[noun].turkish
    assert [toy_morphology.noun_form(stem, plural, owner, case) for case in CASES] == forms.split()


@pytest.mark.parametrize(
    ("verb", "tense", "negative", "forms"),
    [
        ("see", "past", False, "gördüm gördün gördü gördük gördüler"),
        ("see", "past", True, "görmedim görmedin görmedi görmedik görmediler"),
        ("read", "past", False, "okudum okudun okudu okuduk okudular"),
        ("look at", "past", False, "baktım baktın baktı baktık baktılar"),
        ("run", "past", False, "koştum koştun koştu koştuk koştular"),
        ("open", "past", False, "açtım açtın açtı açtık açtılar"),
        ("lose", "past", False, "kaybettim kaybettin kaybetti kaybettik kaybettiler"),
        ("go", "past", True, "gitmedim gitmedin gitmedi gitmedik gitmediler"),
        ("sleep", "progressive", False, "uyuyorum uyuyorsun uyuyor uyuyoruz uyuyorlar"),
        ("sleep", "progressive", True, "uyumuyorum uyumuyorsun uyumuyor uyumuyoruz uyumuyorlar"),
        ("wait for", "progressive", False, "bekliyorum bekliyorsun bekliyor bekliyoruz bekliyorlar"),
        ("look for", "progressive", False, "arıyorum arıyorsun arıyor arıyoruz arıyorlar"),
        ("go", "progressive", False, "gidiyorum gidiyorsun gidiyor gidiyoruz gidiyorlar"),
        ("eat", "progressive", False, "yiyorum yiyorsun yiyor yiyoruz yiyorlar"),
        ("eat", "progressive", True, "yemiyorum yemiyorsun yemiyor yemiyoruz yemiyorlar"),
        ("play", "progressive", False, "oynuyorum oynuyorsun oynuyor oynuyoruz oynuyorlar"),
        ("walk", "progressive", False, "yürüyorum yürüyorsun yürüyor yürüyoruz yürüyorlar"),
        ("cry", "progressive", False, "ağlıyorum ağlıyorsun ağlıyor ağlıyoruz ağlıyorlar"),
        ("see", "progressive", True, "görmüyorum görmüyorsun görmüyor görmüyoruz görmüyorlar"),
        ("write", "progressive", True, "yazmıyorum yazmıyorsun yazmıyor yazmıyoruz yazmıyorlar"),
        ("lose", "progressive", False, "kaybediyorum kaybediyorsun kaybediyor kaybediyoruz kaybediyorlar"),
        ("see", "future", False, "göreceğim göreceksin görecek göreceğiz görecekler"),
        ("see", "future", True, "görmeyeceğim görmeyeceksin görmeyecek görmeyeceğiz görmeyecekler"),
        ("read", "future", False, "okuyacağım okuyacaksın okuyacak okuyacağız okuyacaklar"),
        ("go", "future", False, "gideceğim gideceksin gidecek gideceğiz gidecekler"),
        ("eat", "future", False, "yiyeceğim yiyeceksin yiyecek yiyeceğiz yiyecekler"),
        ("eat", "future", True, "yemeyeceğim yemeyeceksin yemeyecek yemeyeceğiz yemeyecekler"),
        ("find", "future", False, "bulacağım bulacaksın bulacak bulacağız bulacaklar"),
        ("wash", "progressive", False, "yıkıyorum yıkıyorsun yıkıyor yıkıyoruz yıkıyorlar"),
        ("chase", "progressive", False, "kovalıyorum kovalıyorsun kovalıyor kovalıyoruz kovalıyorlar"),
        ("put", "future", True, "koymayacağım koymayacaksın koymayacak koymayacağız koymayacaklar"),
    ],
)
def test_verb_forms(verb, tense, negative, forms):
    persons = ("1sg", "2sg", "3sg", "1pl", "3pl")
    stem = VERBS[verb].turkish
    assert [" ".join(toy_morphology.verb_form(stem, tense, person, negative)) for person in persons] == forms.split()


@pytest.mark.parametrize(
    ("verb", "tense", "forms"),
    [
        ("read", "past", ["okudum mu", "okudun mu", "okudu mu", "okuduk mu", "okudular mı"]),
        ("see", "past", ["gördüm mü", "gördün mü", "gördü mü", "gördük mü", "gördüler mi"]),
        ("eat", "progressive", ["yiyor muyum", "yiyor musun", "yiyor mu", "yiyor muyuz", "yiyorlar mı"]),
        ("go", "future", ["gidecek miyim", "gidecek misin", "gidecek mi", "gidecek miyiz", "gidecekler mi"]),
        ("take", "future", ["alacak mıyım", "alacak mısın", "alacak mı", "alacak mıyız", "alacaklar mı"]),
    ],
)
def test_question_forms(verb, tense, forms):
    persons = ("1sg", "2sg", "3sg", "1pl", "3pl")
    stem = VERBS[verb].turkish
    asked = [" ".join(toy_morphology.verb_form(stem, tense, person, question=True)) for person in persons]
    assert asked == forms


@pytest.mark.parametrize(
    ("verb", "subject", "negative", "third", "first", "name"),
    [
        ("see", "gören", "görmeyen", "gördüğü", "gördüğüm", "görmek"),
        ("read", "okuyan", "okumayan", "okuduğu", "okuduğum", "okumak"),
        ("eat", "yiyen", "yemeyen", "yediği", "yediğim", "yemek"),
        ("go", "giden", "gitmeyen", "gittiği", "gittiğim", "gitmek"),
        ("lose", "kaybeden", "kaybetmeyen", "kaybettiği", "kaybettiğim", "kaybetmek"),
        ("look at", "bakan", "bakmayan", "baktığı", "baktığım", "bakmak"),
        ("wash", "yıkayan", "yıkamayan", "yıkadığı", "yıkadığım", "yıkamak"),
        ("put", "koyan", "koymayan", "koyduğu", "koyduğum", "koymak"),
        ("bring", "getiren", "getirmeyen", "getirdiği", "getirdiğim", "getirmek"),
    ],
)
def test_verbal_nouns(verb, subject, negative, third, first, name):
    stem = VERBS[verb].turkish
    assert toy_morphology.subject_participle(stem) == subject
    assert toy_morphology.subject_participle(stem, negative=True) == negative
    assert toy_morphology.object_participle(stem) == third
    assert toy_morphology.object_participle(stem, "1sg") == first
    assert toy_morphology.infinitive(stem) == name


def test_progressive_rounds_after_a_lost_vowel():
    assert toy_morphology.verb_form(toy_morphology.stem("söyle"), "progressive") == ("söylüyor",)


def test_past_copula_and_its_question():
    asked = "büyük müydü, küçük müydü, siyah mıydı, kırmızı mıydı, yeni miydi, eski miydi, genç miydi, "
    asked += "mutlu muydu, yorgun muydu, güzel miydi"
    past = "büyüktü küçüktü siyahtı kırmızıydı yeniydi eskiydi gençti mutluydu yorgundu güzeldi"
    adjectives = [phrase.split()[0] for phrase in asked.split(", ")]
    assert sorted(adjectives) == sorted(adjective.turkish for adjective in ADJECTIVES.values())
    assert [toy_morphology.past_copula(word) for word in adjectives] == past.split()
    assert toy_morphology.past_copula("değil") == "değildi"
    particles = [toy_morphology.question_particle(word, past=True) for word in adjectives]
    assert [f"{word} {particle}" for word, particle in zip(adjectives, particles, strict=True)] == asked.split(", ")
