import numpy as np
import pytest
from keras import ops

import zoo
from tests.samples import batch, small
from zoo.decoding.protocol import check_max_length, check_source, generable, repeat_rows


class Bounded:
    name = "bounded"

    def step(self, token, index, memory, cache):
        return None

    def target_limit(self, source_length):
        return 20 - source_length


def test_rows_are_repeated_as_neighbours():
    tree = {"memory": ops.convert_to_tensor([[1, 2], [3, 4]]), "states": [ops.convert_to_tensor([5, 6])]}
    repeated = repeat_rows(tree, 2)
    np.testing.assert_array_equal(ops.convert_to_numpy(repeated["memory"]), [[1, 2], [1, 2], [3, 4], [3, 4]])
    np.testing.assert_array_equal(ops.convert_to_numpy(repeated["states"][0]), [5, 5, 6, 6])


@pytest.mark.parametrize("name", ["seq2seq-tiny", "seq2seq-bahdanau-tiny", "seq2seq-luong-tiny", "transformer-tiny"])
def test_a_models_repeated_memory_and_cache_decode_each_copy_alike(name):
    model, data = small(name), batch()
    token = ops.convert_to_tensor(data["target"][:, 0])
    memory, cache = model.start(data["source"], 16)
    once, _, _ = model.step(token, 0, memory, cache)
    thrice, _, _ = model.step(repeat_rows(token, 3), 0, repeat_rows(memory, 3), repeat_rows(cache, 3))
    np.testing.assert_allclose(
        ops.convert_to_numpy(thrice), np.repeat(ops.convert_to_numpy(once), 3, axis=0), atol=1e-5
    )


def test_padding_and_beginnings_are_never_chosen():
    choices = ops.convert_to_numpy(generable(ops.convert_to_tensor([[9.0, 8, 1, 2, 3]])))
    np.testing.assert_array_equal(choices, [[-np.inf, -np.inf, 1, 2, 3]])


@pytest.mark.parametrize("source", [[1, 2], [[]], np.zeros((0, 3), int), [[1.0, 2.0]], [[[1]]]])
def test_a_source_that_is_no_batch_of_ids_is_refused(source):
    with pytest.raises(ValueError, match=r"source has shape .*ids \(B, S\)"):
        check_source(source, Bounded())


@pytest.mark.parametrize("source", [[[-1, 2]], [[2**32 + 4, 2]]])
def test_ids_that_cannot_be_are_refused(source):
    with pytest.raises(ValueError, match="ids are 0 or more"):
        check_source(source, Bounded())


def test_the_default_limit_is_the_source_and_fifty():
    source = np.zeros((2, 7), int)
    assert check_max_length(None, source, object()) == 57
    assert check_max_length(3, source, object()) == 3
    with pytest.raises(ValueError, match="max_length=0"):
        check_max_length(0, source, object())


def test_a_model_that_cannot_go_on_for_ever_sets_the_limit():
    source = np.ones((1, 7), "int32")
    assert check_max_length(None, source, Bounded()) == 13
    assert check_max_length(13, source, Bounded()) == 13
    with pytest.raises(ValueError, match="max_length=14: after a source of 7 tokens the model can write 13"):
        check_max_length(14, source, Bounded())


def test_the_room_is_counted_in_real_tokens():
    assert check_max_length(None, np.array([[5, 6, 0, 0, 0, 0], [5, 0, 0, 0, 0, 0]]), Bounded()) == 18


def test_a_model_that_writes_nothing_is_named():
    model = small("bert-tiny")
    for call in (lambda: zoo.greedy(model, [[5, 2]]), lambda: zoo.TextModel(model, None)):
        with pytest.raises(ValueError, match="bert-tiny writes nothing"):
            call()


def test_ids_past_the_vocabulary_are_refused():
    with pytest.raises(ValueError, match="ids from 2 to 53: ids are 0 or more, and below 53"):
        zoo.greedy(small("seq2seq-tiny"), [[53, 2]])
    pointer = small("seq2seq-pointer-tiny", copies=2)
    zoo.greedy(pointer, [[54, 2]], max_length=2)
    with pytest.raises(ValueError, match="ids from 2 to 55: ids are 0 or more, and below 55"):
        zoo.greedy(pointer, [[55, 2]], max_length=2)


@pytest.mark.parametrize("search", [zoo.greedy, zoo.beam_search, zoo.sample])
@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("transformer-tiny", {"positions": "learned", "max_length": 10}, "source: 12 tokens"),
        ("seq2seq-luong-tiny", {"score": "location", "max_source": 10}, "source: 12 tokens"),
        ("gpt2-tiny", {"max_length": 11}, "source.*12 tokens"),
    ],
)
def test_other_widths_and_a_source_past_the_limit(search, name, fields, words):
    """The third width meets a graph that no longer knows lengths."""
    model = small(name, **fields)
    for width in (4, 6):
        assert np.isfinite(search(model, np.full((1, width), 5), max_length=4).log_probs).all()
    with pytest.raises(ValueError, match=words):
        search(model, np.full((1, 12), 5), max_length=4)
