import numpy as np
import pytest
from keras import ops

from tests.reference import softmax
from zoo.layers.multiplicative import SCORES, MultiplicativeAttention

B, T, S, N, UNITS, LONGEST = 2, 3, 5, 7, 11, 13


def score(kind, weights, h_t, h_s, s):
    if kind == "dot":
        return h_t @ h_s
    if kind == "general":
        return h_t @ (h_s @ weights[0])
    if kind == "concat":
        w_t, w_s, v_a = weights  # W_a's rows for h_t, and for h_s
        return v_a[:, 0] @ np.tanh(np.concatenate([h_t, h_s]) @ np.concatenate([w_t, w_s]))
    return (h_t @ weights[0])[s]


@pytest.mark.parametrize("kind", SCORES)
def test_equals_the_equations(kind, random):
    layer = MultiplicativeAttention(kind, units=UNITS, max_source=LONGEST)
    query, memory = random.normal(size=(B, T, N)).astype("float32"), random.normal(size=(B, S, N)).astype("float32")
    mask = np.array([[True] * 5, [True, True, False, False, False]])
    layer.build(query.shape, memory.shape)
    context, attention = (ops.convert_to_numpy(x) for x in layer(query, memory, mask=mask))
    weights = [ops.convert_to_numpy(w).astype("float64") for w in layer.weights]
    for b in range(B):
        for t in range(T):
            expected = softmax([score(kind, weights, query[b, t], memory[b, s], s) for s in range(S)], mask[b])
            np.testing.assert_allclose(attention[b, t], expected, atol=2e-6)
            np.testing.assert_allclose(context[b, t], expected @ memory[b].astype("float64"), atol=1e-5)


@pytest.mark.parametrize("kind", SCORES)
def test_keys_computed_before_give_the_same(kind, random):
    layer = MultiplicativeAttention(kind, units=UNITS, max_source=LONGEST)
    query, memory = random.normal(size=(B, T, N)).astype("float32"), random.normal(size=(B, S, N)).astype("float32")
    layer.build(query.shape, memory.shape)
    before = layer(query, memory, keys=layer.keys(memory))
    for one, other in zip(layer(query, memory), before, strict=True):
        np.testing.assert_array_equal(ops.convert_to_numpy(one), ops.convert_to_numpy(other))


def test_an_unknown_score_is_refused():
    with pytest.raises(ValueError, match="score='cosine'.*'dot'"):
        MultiplicativeAttention("cosine")


@pytest.mark.parametrize(("kind", "needed"), [("concat", "units"), ("location", "max_source")])
def test_what_a_score_needs_is_asked_for(kind, needed):
    with pytest.raises(ValueError, match=f"{kind}.*needs {needed}"):
        MultiplicativeAttention(kind)


def test_dot_needs_equal_widths():
    with pytest.raises(ValueError, match="query 7 and memory 11"):
        MultiplicativeAttention("dot").build((B, T, 7), (B, S, 11))


def test_a_source_past_the_location_table_is_refused():
    layer = MultiplicativeAttention("location", max_source=4)
    with pytest.raises(ValueError, match="length 5 is past max_source=4"):
        layer(ops.zeros((1, 1, 3)), ops.zeros((1, 5, 3)))
