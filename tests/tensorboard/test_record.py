"""The format: what comes back, how far off it is, and what damaged or hostile bytes do."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from zoo.tensorboard.record import METRICS, Kind, Record, pack, read_header, statistics, unpack


def record_of(weights, **fields):
    layers = tuple(f"decoder/{i}/cross" for i in range(len(weights)))
    tokens = {
        "target": [f"t{i}" for i in range(weights.shape[2])],
        "source": [f"s{i}" for i in range(weights.shape[3])],
    }
    return Record("a title", tokens, (Kind("cross", "target", "source", layers, weights, **fields),), ((0, 1),))


def softmaxed(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)).astype("float32")


@given(arrays.arrays("float32", (2, 3, 5, 7), elements=st.floats(-9, 9, width=32)))
def test_weights_come_back_within_the_format(scores):
    weights = softmaxed(scores)
    found = unpack(pack(record_of(weights)))
    back = found.kinds[0].weights
    # Of w = r^2 with r off by at most half of 1/255.
    assert (np.abs(back - weights) <= 2 * np.sqrt(weights) * 0.5 / 255 + (0.5 / 255) ** 2 + 1e-7).all()
    assert np.abs(back.sum(-1) - 1).max() < 0.02
    assert found.tokens["source"] == [f"s{i}" for i in range(7)]
    assert (found.gold, found.title, found.kinds[0].layers) == (
        ((0, 1),),
        "a title",
        ("decoder/0/cross", "decoder/1/cross"),
    )


def test_vectors_and_worth_come_back(random):
    weights = softmaxed(random.normal(size=(2, 3, 5, 7)))
    queries, keys = random.normal(size=(2, 3, 5, 11)), random.normal(size=(2, 3, 7, 11))
    record = record_of(weights, queries=queries, keys=keys)
    worth = random.normal(size=(5, 7))
    record = Record(record.title, record.tokens, record.kinds, None, worth, {"cross": worth[:2, :3]}, ("cut",))
    found = unpack(pack(record))
    np.testing.assert_allclose(found.kinds[0].queries, queries, rtol=1e-3)
    np.testing.assert_allclose(found.kinds[0].keys, keys, rtol=1e-3)
    np.testing.assert_allclose(found.occlusion, worth, atol=1e-4)
    np.testing.assert_allclose(found.correlation["cross"], worth[:2, :3], atol=1e-4)
    assert (found.gold, found.notes) == (None, ("cut",))


def test_statistics_by_hand():
    weights = np.array([[[[1, 0, 0], [0.5, 0.25, 0.25], [0, 0, 0]]]], "float32")
    entropy, sharpness, distance, first = statistics(Kind("cross", "t", "s", ("x",), weights))[0, 0]
    # Rows of zeros are left out. Diagonal: row 0 at 0, row 1 at 1.
    assert entropy == pytest.approx((0 + 1.5 * np.log(2)) / 2)
    assert sharpness == pytest.approx(0.75)
    assert distance == pytest.approx((0 + 0.5 * 1 + 0.25 * 0 + 0.25 * 1) / 2)
    assert first == pytest.approx(0.75)
    assert len(METRICS) == 6


def test_a_row_off_the_diagonal_of_an_oblong_map():
    weights = np.array([[[[0, 0, 0, 0, 1.0], [0, 0, 0, 0, 1.0], [0, 0, 0, 0, 1.0]]]], "float32")
    assert statistics(Kind("cross", "t", "s", ("x",), weights))[0, 0, 2] == pytest.approx((4 + 2 + 0) / 3)


def test_what_is_no_record_is_said():
    weights = softmaxed(np.zeros((1, 1, 2, 2)))
    good = pack(record_of(weights))
    header = json.loads(good[0])

    def changed(**fields):
        return json.dumps({**header, **fields}).encode()

    for data, words in [
        (b"\xff\xfe", "no attention record"),
        (b"[1, 2]", "no attention record"),
        (b"{}", "no attention record"),
        (changed(version=2), "format 2 is not known: update attention-zoo"),
        (changed(blocks=[["cross", "weights", "uint8", [9**9, 9, 9, 9]]]), "too large"),
        (changed(blocks=[["cross", "weights", "uint8", [90, 90, 1, 1]]]), "too large"),
        (changed(blocks=[["cross", "weights", "uint8", [2, 2]]]), "has no shape"),
        (changed(tokens={"target": ["a"], "source": ["b", "c"]}), "another shape than its tokens"),
        (changed(tokens=["a"]), "no attention record"),
    ]:
        with pytest.raises(ValueError, match=words):
            read_header(data)
    for block in (b"", b"garbage", gzip.compress(b"123"), good[1][:-9]):
        with pytest.raises(ValueError, match="damaged"):
            unpack([good[0], block])
