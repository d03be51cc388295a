import pytest

from zoo.training.evaluate import evaluate

PAIRS = [
    ("a b", "x y z w"),
    ("a b c d e", "x"),
    ("a b c", "x y z v"),
    ("a", "y"),
    ("a b c d", "q"),
    ("a b c d e f", "r"),
]


class Fixed:
    """Says what it is told, and remembers what it was asked."""

    def __init__(self, outputs):
        self.outputs = outputs

    def generate(self, texts, **options):
        self.asked = texts, options
        return self.outputs


def test_perfect_outputs():
    text = Fixed([target for _, target in PAIRS])
    scores = evaluate(text, PAIRS, max_length=9)
    assert text.asked == ([source for source, _ in PAIRS], {"max_length": 9})
    assert scores.bleu == pytest.approx(100)
    assert scores.chrf == pytest.approx(100)
    assert scores.exact == 1
    assert "tok:13a" in scores.bleu_signature
    assert "nc:6" in scores.chrf_signature


def test_exact_match_and_thirds_by_hand():
    scores = evaluate(Fixed(["x y z w", "no", "x y z v", "y", "no", "r"]), PAIRS)
    assert scores.exact == pytest.approx(4 / 6)
    # By words: (a), (a b) | (a b c), (a b c d) | (a b c d e), (a b c d e f)
    assert [row[:4] for row in scores.by_length] == [(1, 2, 2, 1.0), (3, 4, 2, 0.5), (5, 6, 2, 0.5)]


def test_the_report_and_samples(capsys):
    scores = evaluate(Fixed([target for _, target in PAIRS]), PAIRS)
    text = str(scores)
    assert "BLEU 100.00" in text
    assert scores.bleu_signature in text
    assert "exact match 100.0% of 6" in text
    assert "1 to 2" in text
    scores.print_samples(2)
    printed = capsys.readouterr().out
    assert "x y z w" in printed
    assert "a b c d e" in printed
    assert "a b c d e f" not in printed


def test_fewer_pairs_than_thirds():
    assert len(evaluate(Fixed(["x"]), [("a", "x")]).by_length) == 1


def test_nothing_to_evaluate_on():
    with pytest.raises(ValueError, match="no pairs"):
        evaluate(Fixed([]), [])
