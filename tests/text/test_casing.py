import pytest

from zoo.text.casing import lower


def test_turkish_by_hand():
    text = lower("İSTANBUL IŞIK ÇOK", "tr")
    assert text == "istanbul ışık çok"
    assert len(text) == 17


def test_elsewhere_by_unicode():
    assert lower("IŞIK", "en") == "işik"
    assert lower("STRASSE Ä", "de") == "strasse ä"


@pytest.mark.parametrize("language", ["tr", "az"])
def test_a_decomposed_dotted_capital_is_the_same_letter(language):
    assert lower("I\u0307", language) == lower("\u0130", language) == "i"


def test_both_letters_have_one_capital_so_it_cannot_be_undone():
    assert "i".upper() == "ı".upper() == "I"
    assert lower("i", "tr") != lower("ı", "tr")
