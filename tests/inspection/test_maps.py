import numpy as np

import zoo
from tests.samples import batch, small


def test_looking_changes_nothing():
    model = small("transformer-tiny")
    before = np.asarray(model(batch()))
    zoo.attention_maps(model, batch())
    np.testing.assert_array_equal(np.asarray(model(batch())), before)


def test_roles_in_order_of_the_layers():
    assert list(zoo.attention_maps(small("transformer-tiny"), batch())) == [
        "encoder/0/self",
        "encoder/1/self",
        "decoder/0/self",
        "decoder/0/cross",
        "decoder/1/self",
        "decoder/1/cross",
    ]
    assert list(zoo.attention_maps(small("seq2seq-bahdanau-tiny"), batch())) == ["decoder/0/cross"]
    assert zoo.attention_maps(small("seq2seq-tiny"), batch()) == {}


def test_heads_of_each_family():
    assert zoo.attention_maps(small("transformer-tiny", heads=2), batch())["decoder/0/cross"].shape == (2, 2, 5, 7)
    assert zoo.attention_maps(small("seq2seq-luong-tiny"), batch())["decoder/0/cross"].shape == (2, 1, 5, 7)
