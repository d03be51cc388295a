import numpy as np
import pytest
from keras import ops

from tests.samples import batch, small
from zoo.decoding.protocol import check_max_length, check_source, generable, repeat_rows


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
        check_source(source)


@pytest.mark.parametrize("source", [[[-1, 2]], [[2**32 + 4, 2]]])
def test_ids_that_cannot_be_are_refused(source):
    with pytest.raises(ValueError, match="ids are 0 or more"):
        check_source(source)


def test_the_default_limit_is_the_source_and_fifty():
    source = np.zeros((2, 7), int)
    assert check_max_length(None, source, object()) == 57
    assert check_max_length(3, source, object()) == 3
    with pytest.raises(ValueError, match="max_length=0"):
        check_max_length(0, source, object())


class Bounded:
    def target_limit(self, source_length):
        return 20 - source_length


def test_a_model_that_cannot_go_on_for_ever_sets_the_limit():
    source = np.ones((1, 7), "int32")
    assert check_max_length(None, source, Bounded()) == 13
    assert check_max_length(13, source, Bounded()) == 13
    with pytest.raises(ValueError, match="max_length=14: after a source of 7 tokens the model can write 13"):
        check_max_length(14, source, Bounded())
