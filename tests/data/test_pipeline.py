import numpy as np
import pytest

from zoo.data.pipeline import batches
from zoo.text.tokenizer import Tokenizer
from zoo.widths import WIDTHS, width_for

LETTERS = "abcdefghijklm"


@pytest.fixture(scope="module")
def letters():
    """A tokenizer that cuts 'a b c' into one piece a letter."""
    return Tokenizer.train([f"{a} {b}" for a in LETTERS for b in LETTERS], vocabulary=4 + 256 + 2 * len(LETTERS) + 1)


def sentence(length):
    return " ".join(LETTERS[i % len(LETTERS)] for i in range(length))


def pairs_of(lengths):
    return [(sentence(n), sentence(max(1, n // 2))) for n in lengths]


def arrays(made):
    return [
        tuple(part.numpy() if not isinstance(part, dict) else {k: v.numpy() for k, v in part.items()} for part in b)
        for b in made.dataset
    ]


def sources(made, tokenizer):
    """The real source sentences of an epoch, sorted."""
    rows = [row for inputs, _, _ in arrays(made) for row in inputs["source"] if row.any()]
    return sorted(tokenizer.decode(rows))


def test_the_target_is_the_label_one_behind(letters):
    ((inputs, labels, weights),) = arrays(batches([("a b c", "d e f")], letters, letters, batch_tokens=8))
    (d, e, f), eos, bos = letters.encode(["d e f"])[0], 2, 1
    np.testing.assert_array_equal(labels, [[d, e, f, eos, 0, 0, 0, 0]])
    np.testing.assert_array_equal(inputs["target"], [[bos, d, e, f, eos, 0, 0, 0]])
    np.testing.assert_array_equal(weights, [[0.25, 0.25, 0.25, 0.25, 0, 0, 0, 0]])
    np.testing.assert_array_equal(inputs["source"], [[*letters.encode(["a b c"])[0], eos, 0, 0, 0, 0]])


def test_copying_the_decoders_input_is_no_better_than_chance(letters):
    """With input and target one apart, an oracle that repeats its input is right only where letters repeat."""
    random = np.random.default_rng(3)
    pairs = [("a", " ".join(random.choice(list(LETTERS), 24))) for _ in range(300)]
    hits = [(x["target"] == y)[w > 0] for x, y, w in arrays(batches(pairs, letters, letters))]
    assert abs(np.concatenate(hits).mean() - 1 / len(LETTERS)) < 0.02


@pytest.mark.parametrize("shuffle", [None, 5])
def test_every_pair_comes_once_an_epoch(letters, shuffle):
    lengths = [1, 4, 5, 9, 10, 11, 25, 7, 8, 300]
    made = batches(pairs_of(lengths), letters, letters, batch_tokens=40, shuffle=shuffle)
    assert made.pairs == 10
    assert len(arrays(made)) == made.steps
    assert sources(made, letters) == sorted(sentence(n) for n in lengths)


def test_a_length_equal_to_a_width_fits_it():
    assert [width_for(n) for n in (1, 8, 9, 256, 257, 384, 385)] == [8, 8, 12, 256, 384, 384, 512]


def test_widths_and_rows_are_static(letters):
    made = batches(pairs_of([3] * 11 + [7] * 5 + [12] * 7), letters, letters, batch_tokens=36, shuffle=1)
    assert made.widths == (8, 16)
    assert {x["source"].shape for x, _, _ in arrays(made)} == {(4, 8), (2, 16)}
    assert made.steps == 4 + 4  # 16 pairs in fours, 7 in twos
    assert set(made.widths) <= set(WIDTHS)


def test_weights_are_shares_of_the_whole_batch(letters):
    made = batches(pairs_of([3, 5, 7, 9, 2, 30]), letters, letters, batch_tokens=64, replicas=2)
    for _, labels, weights in arrays(made):
        assert weights.sum() == pytest.approx(1)
        assert len(set(weights[labels != 0])) == 1
        assert (weights[labels == 0] == 0).all()


def test_rows_divide_among_replicas(letters):
    made = batches(pairs_of([3] * 10), letters, letters, batch_tokens=40, replicas=3)
    assert {x["source"].shape[0] for x, _, _ in arrays(made)} == {3}
    few = batches(pairs_of([3]), letters, letters, batch_tokens=8, replicas=3)
    assert arrays(few)[0][0]["source"].shape == (3, 8)


def test_an_epoch_is_shuffled_anew_and_by_seed(letters):
    pairs = [(f"{a} {b}", a) for a in LETTERS for b in LETTERS]

    def two_epochs(seed):
        made = batches(pairs, letters, letters, batch_tokens=32, shuffle=seed)
        return [np.concatenate([x["source"] for x, _, _ in arrays(made)]) for _ in range(2)]

    first, second = two_epochs(1)
    assert (first != second).any()
    for one, other in zip((first, second), two_epochs(1), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (two_epochs(2)[0] != first).any()


def test_long_pairs_are_dropped_and_counted(letters):
    made = batches(pairs_of([3, 4, 5, 9]), letters, letters, max_tokens=5)
    assert (made.pairs, made.dropped, made.cut) == (2, 2, 0)
    assert sources(made, letters) == [sentence(3), sentence(4)]  # 4 tokens and the EOS are 5


def test_long_pairs_are_cut_to_an_eos_and_counted(letters):
    made = batches([("a b c", "a b c")], letters, letters, max_tokens=3, too_long="cut")
    assert (made.pairs, made.dropped, made.cut) == (1, 0, 1)
    ((inputs, labels, _),) = arrays(made)
    a, b, _ = letters.encode(["a b c"])[0]
    np.testing.assert_array_equal(labels[0, :4], [a, b, 2, 0])
    np.testing.assert_array_equal(inputs["source"][0, :4], [a, b, 2, 0])


def test_marker_words_in_the_text_are_text(letters):
    made = batches([("<s> a </s>", "</s>")], letters, letters)
    ((inputs, labels, _),) = arrays(made)
    assert 1 not in inputs["source"][0]
    assert (labels[0] == 2).sum() == 1


def test_lower_casing_tokenizers_are_obeyed():
    tokenizer = Tokenizer.train(["ışık istanbul"], vocabulary=300, lowercase="tr")
    made = batches([("IŞIK", "İSTANBUL")], tokenizer, tokenizer)
    ((inputs, labels, _),) = arrays(made)
    assert tokenizer.decode(inputs["source"][:1]) + tokenizer.decode(labels[:1]) == ["ışık", "istanbul"]


@pytest.mark.parametrize(
    ("pairs", "options", "words"),
    [
        ([], {}, "no pairs"),
        ([("a", "b")], {"max_tokens": 1}, "max_tokens=1"),
        ([("a b c", "b")], {"max_tokens": 2}, "all 1 pairs are longer than max_tokens=2"),
        ([("a", "b")], {"too_long": "keep"}, "too_long='keep'"),
        ([("a", "b")], {"batch_tokens": 0}, "batch_tokens=0"),
        ([("a", "b")], {"replicas": 0}, "replicas=0"),
        ([("a", "b"), ("a", "b", "c")], {}, "pair 2 is"),
        (["ab", "cd"], {}, "pair 1 is 'ab'"),
    ],
)
def test_what_cannot_be_is_refused(letters, pairs, options, words):
    with pytest.raises(ValueError, match=words):
        batches(pairs, letters, letters, **options)
