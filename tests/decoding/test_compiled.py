"""How searches are compiled: by XLA where the model is, to the same outputs; few shapes for many sentences."""

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zoo
from tests.samples import TINY, batch, small
from zoo.generation import row_batches
from zoo.widths import SEARCH_WIDTHS

SEARCHES = {
    "greedy": lambda model, source: zoo.greedy(model, source, max_length=6),
    "beams": lambda model, source: zoo.beam_search(model, source, beams=3, max_length=6, return_attention=True),
    "sample": lambda model, source: zoo.sample(model, source, max_length=6, seed=1),
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("name", TINY)
def test_with_xla_as_without(name, search):
    model, source = small(name), batch()["source"]
    plain = SEARCHES[search](model, source)
    graphs = zoo.compiled_graphs(model)
    model.compile(jit_compile=True)
    compiled = SEARCHES[search](model, source)
    # JAX has compiled it with XLA before; TensorFlow's graph without XLA is not taken for one with it.
    assert zoo.compiled_graphs(model) == graphs + (keras.backend.backend() == "tensorflow")
    np.testing.assert_array_equal(plain.tokens, compiled.tokens)
    np.testing.assert_allclose(plain.log_probs, compiled.log_probs, atol=1e-4)


@given(st.lists(st.integers(0, 40), max_size=300), st.sampled_from([64, 256, 4096]))
def test_batches_take_every_row_once_and_have_few_shapes(lengths, batch_tokens):
    rows = [[7] * length for length in lengths]
    seen, shapes = [], set()
    for members, source in row_batches(rows, batch_tokens=batch_tokens, room=lambda *_: None):
        seen += members
        shapes.add(source.shape)
        assert source.shape[1] in SEARCH_WIDTHS
        assert 2 * len(members) > len(source) or len(source) <= 4
        assert source.size <= max(batch_tokens, source.shape[1])
        assert [int((row != 0).sum()) for row in source[: len(members)]] == [lengths[i] for i in members]
    assert sorted(seen) == [i for i, length in enumerate(lengths) if length]
    for width in SEARCH_WIDTHS:
        assert len({height for height, other in shapes if other == width}) <= 5


def test_a_few_rows_of_any_lengths_are_one_batch():
    ((members, source),) = row_batches([[7] * 5, [], [7] * 19, [7] * 8])
    assert source.shape == (4, 24)
    assert sorted(members) == [0, 2, 3]
