"""Lower-casing by the rules of a language."""

import unicodedata

_DOTTED = ("tr", "az")


def lower(text, language):
    """Lower-cases text as its language does.

    Turkish and Azerbaijani have two letters i: I becomes ı, and İ becomes i. Everywhere else Unicode's rules hold,
    which turn I into i and İ into i with a loose dot above. The text is composed (NFC) before and after, so that İ
    written as I and a combining dot is the same letter. Lower-casing cannot be undone.

    Args:
        text: str.
        language: ISO 639-1 code, such as "tr" or "en".

    Example::

        lower("İSTANBUL IŞIK ÇOK", "tr")        # "istanbul ışık çok"
    """
    text = unicodedata.normalize("NFC", text)
    if language in _DOTTED:
        text = text.replace("İ", "i").replace("I", "ı")
    return unicodedata.normalize("NFC", text.lower())
