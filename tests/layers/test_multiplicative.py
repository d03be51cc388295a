import keras
import numpy as np
import pytest
from keras import ops

from tests.reference import softmax
from zoo.layers.additive import AdditiveAttention
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
@pytest.mark.parametrize("local", ["m", "p"])
def test_local_attention_equals_the_equations(kind, local, random):
    window = 2
    layer = MultiplicativeAttention(kind, units=UNITS, max_source=LONGEST, local=local, window=window)
    query, memory = (random.normal(size=(B, n, N)).astype("float32") for n in (T, 11))
    mask = np.arange(11)[None] < np.array([[11], [6]])
    layer.build(query.shape, memory.shape)
    starts = np.array([4, 1])
    context, attention = (ops.convert_to_numpy(x) for x in layer(query, memory, mask=mask, start=starts))
    weights = [ops.convert_to_numpy(w).astype("float64") for w in layer.weights]
    *own, w_p, v_p = weights if local == "p" else (*weights, None, None)
    for b, t in np.ndindex(B, T):
        length, center = mask[b].sum(), starts[b] + t
        if local == "p":
            center = length / (1 + np.exp(-(np.tanh(query[b, t] @ w_p) @ v_p[:, 0])))
        places = np.arange(11)
        inside = mask[b] & (abs(places - center) <= window)
        align = softmax([score(kind, own, query[b, t], memory[b, s], s) for s in range(11)], inside)
        expected = align * (np.exp(-((places - center) ** 2) / (2 * (window / 2) ** 2)) if local == "p" else 1)
        np.testing.assert_allclose(attention[b, t], expected, atol=2e-6)
        np.testing.assert_allclose(context[b, t], expected @ memory[b].astype("float64"), atol=1e-5)


def test_a_window_past_the_source_leaves_nothing():
    layer = MultiplicativeAttention("dot", local="m", window=2)
    mask = np.array([[True, True, True, False, False, False, False]])
    context, weights = layer(ops.ones((1, 6, 3)), ops.ones((1, 7, 3)), mask=mask)
    sums = ops.convert_to_numpy(weights)[0].sum(-1)
    np.testing.assert_allclose(sums, [1, 1, 1, 1, 1, 0], atol=1e-6)  # t = 5 sees positions 3 to 7, all padding
    np.testing.assert_allclose(ops.convert_to_numpy(context)[0, :, 0], sums, atol=1e-6)


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


def test_a_local_window_needs_a_mask():
    with pytest.raises(ValueError, match="local='m' needs a mask"):
        MultiplicativeAttention("dot", local="m")(ops.ones((1, 2, 3)), ops.ones((1, 4, 3)))


def test_an_unknown_local_form_is_refused():
    with pytest.raises(ValueError, match="local='x'.*None, 'm', 'p'"):
        MultiplicativeAttention("dot", local="x")


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


class Attending(keras.Model):
    """Attends from each row of its input, times a weight, to all of them, with a row that has nothing to attend to."""

    def __init__(self, attention, policy):
        super().__init__(dtype=policy)
        self.attention = attention

    def build(self, shape):
        self.factor = self.add_weight(name="factor", shape=(), initializer="ones")
        self.attention.build(shape, shape)

    def call(self, x):
        context, _ = self.attention(x * self.factor, x, mask=np.array([[True, True], [False, False]]))
        return ops.cast(context, "float32")


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize(
    "make",
    [
        lambda policy: MultiplicativeAttention("dot", dtype=policy),
        lambda policy: MultiplicativeAttention("general", dtype=policy),
        lambda policy: MultiplicativeAttention("general", local="p", dtype=policy),
        lambda policy: AdditiveAttention(3, dtype=policy),
    ],
)
def test_extreme_scores_have_finite_gradients_in_half_precision(make, policy):
    """Raw scores of +-6e4, forwards and backwards."""
    model, x = Attending(make(policy), policy), np.array([[[245.0, 0], [-245, 0]]] * 2, "float32")
    model.build(x.shape)
    for weight in model.attention.weights:
        if weight.shape == (2, 2):
            weight.assign(np.eye(2))
    model.compile(keras.optimizers.SGD(1e-3), loss="mse")
    assert np.isfinite(model.train_on_batch(x, np.zeros((2, 2, 2), "float32")))
    assert np.isfinite(ops.convert_to_numpy(model(x))).all()
    assert all(np.isfinite(ops.convert_to_numpy(w)).all() for w in model.weights)
