import keras
import numpy as np
import pytest
from keras import ops

import zoo
from tests.reference import gated, softmax
from tests.samples import batch, labels, small
from zoo.layers.coverage import coverage_loss
from zoo.training.losses import TokenCrossEntropy

SIZES = {"embedding": 3, "width": 5, "alignment": 7, "maxout": 11, "cell": "gated"}


def float64(weight):
    return ops.convert_to_numpy(weight).astype("float64")


def reference(model, source, target):
    """Appendix A.2 for one sentence pair, index by index: (logits (T, V), weights (T, S), coverage (T, S))."""
    n = model.fields["width"]
    e_x, e_y = (float64(e.matrix) for e in (model.source_embedding, model.target_embedding))

    def run(layer, xs):
        h, states = np.zeros(n), []
        for x in xs:
            h = gated(x, h, *map(float64, layer.weights))
            states.append(h)
        return states

    forward = run(model.encoder.ahead, [e_x[i] for i in source])
    backward = run(model.encoder.back, [e_x[i] for i in source[::-1]])[::-1]
    annotations = [np.concatenate(pair) for pair in zip(forward, backward, strict=True)]
    w_s, b_s = map(float64, model.first_state.weights)
    s = np.tanh(backward[0] @ w_s + b_s)
    cell = model.decoder.cell
    w_a, b_a, u_a, v_a, *w_c = map(float64, cell.attention.weights)
    hidden_kernel, hidden_bias = map(float64, model.hidden.weights)
    w_o, b_o = map(float64, model.output_projection.weights)
    covered, logits, maps, coverage = np.zeros(len(source)), [], [], []
    for y in target:
        scores = [
            v_a[:, 0] @ np.tanh(s @ w_a + b_a + h @ u_a + (w_c[0][0] * covered[j] if w_c else 0))
            for j, h in enumerate(annotations)
        ]
        alpha = softmax(scores)
        coverage.append(covered)
        covered = covered + alpha
        context = alpha @ np.array(annotations)
        before, s = s, gated(np.concatenate([e_y[y], context]), s, *map(float64, cell.stack.weights))
        state = s if model.fields["output_state"] == "current" else before
        t = np.concatenate([state, e_y[y], context]) @ hidden_kernel + hidden_bias
        logits.append([max(t[2 * i], t[2 * i + 1]) for i in range(model.fields["maxout"])] @ w_o + b_o)
        maps.append(alpha)
    return np.array(logits), np.array(maps), np.array(coverage)


@pytest.mark.parametrize("coverage", [False, True])
@pytest.mark.parametrize("output_state", ["current", "previous"])
def test_equals_the_appendix(coverage, output_state, random):
    model = small("seq2seq-bahdanau", **SIZES, coverage=coverage, output_state=output_state, coverage_weight=0.7)
    for weight in model.weights:
        weight.assign(random.normal(size=weight.shape, scale=0.5))
    data = batch()
    logits = ops.convert_to_numpy(model(data))
    losses = [float(loss) for loss in model.losses]
    maps = ops.convert_to_numpy(zoo.attention_maps(model, data)["decoder/0/cross"])[:, 0]
    overlaps = []
    for row, (source, target) in enumerate(((4, 4), (7, 5))):
        expected, weights, covered = reference(model, data["source"][row, :source], data["target"][row, :target])
        np.testing.assert_allclose(logits[row, :target], expected, atol=1e-4)
        np.testing.assert_allclose(maps[row, :target, :source], weights, atol=1e-5)
        overlaps += np.minimum(weights, covered).sum(1).tolist()
    assert losses == (pytest.approx([0.7 * np.mean(overlaps)], abs=1e-5) if coverage else [])


def test_coverage_loss_by_hand():
    weights = ops.convert_to_tensor([[[0.5, 0.5], [0.75, 0.25], [1.0, 0.0], [0.0, 1.0]]])
    # c = (0, 0), (.5, .5), (1.25, .75), ...: overlaps 0, .5 + .25, 1, and a last one that is not real
    real = ops.convert_to_tensor([[True, True, True, False]])
    assert float(coverage_loss(weights, real)) == pytest.approx((0 + 0.75 + 1) / 3)
    assert float(coverage_loss(weights, ops.logical_and(real, False))) == 0


def test_the_coverage_loss_is_part_of_what_is_trained():
    model = small("seq2seq-bahdanau-coverage", **SIZES)
    model.compile(keras.optimizers.SGD(0.0), loss=TokenCrossEntropy(0.0))
    whole = model.train_on_batch(batch(), labels())
    model(batch())
    (overlap,) = model.losses
    plain = float(TokenCrossEntropy(0.0)(labels(), model(batch())))
    assert float(overlap) > 0.1
    assert whole == pytest.approx(plain + float(overlap), abs=1e-5)


@pytest.mark.parametrize("name", ["seq2seq-bahdanau", "seq2seq-bahdanau-coverage"])
def test_attention_starts_exactly_uniform(name):
    """B.1: v_a = 0."""
    maps = ops.convert_to_numpy(zoo.attention_maps(small(name), batch())["decoder/0/cross"])
    np.testing.assert_array_equal(maps[0, 0, :4], [[0.25] * 4 + [0] * 3] * 4)
    np.testing.assert_allclose(maps[1], 1 / 7, rtol=1e-6)


def test_initial_values_are_those_of_the_paper():
    model = small("seq2seq-bahdanau", source_vocab=301, width=64)
    values = {weight.path.split("/", 1)[1]: float64(weight) for weight in model.weights}
    for path, value in values.items():
        if path.endswith("recurrent_kernel"):
            for gate in np.split(value, 3, axis=1):
                np.testing.assert_allclose(gate @ gate.T, np.eye(64), atol=1e-5)
        elif path.endswith(("bias", "energy/kernel")):
            assert (value == 0).all(), path
        else:
            expected = 0.001 if "attention" in path else 0.01
            assert value.std() == pytest.approx(expected, rel=0.1), path


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_coverage_is_summed_in_float32(policy):
    maps = zoo.attention_maps(small("seq2seq-bahdanau-coverage", dtype=policy), batch())
    np.testing.assert_allclose(ops.convert_to_numpy(maps["decoder/0/cross"])[1].sum(-1), 1, atol=1e-6)
