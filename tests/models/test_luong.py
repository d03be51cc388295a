import numpy as np
import pytest
from keras import ops

import zoo
from tests.reference import lstm, softmax
from tests.samples import batch, small

N = 5


def float64(weight):
    return ops.convert_to_numpy(weight).astype("float64")


def reference(model, source, target):
    """Luong et al., sections 3 to 3.3, score general, for one pair: (logits (T, V), weights (T, S))."""
    e_x, e_y = (float64(e.matrix) for e in (model.source_embedding, model.target_embedding))
    fields, cell = model.fields, model.decoder.cell

    def step(stack, x, states):
        after = []
        for layer, (h, c) in zip(stack.stack, states, strict=True):
            x, c = lstm(x, h, c, *map(float64, layer.weights))
            after.append((x, c))
        return x, after

    states, outputs = [(np.zeros(N), np.zeros(N))] * fields["depth"], []
    for i in source:
        h, states = step(model.encoder, e_x[i], states)
        outputs.append(h)
    outputs = np.array(outputs)
    w_a, *center = map(float64, cell.attention.weights)
    w_c, w_s = float64(cell.combine.kernel), float64(model.output_projection.kernel)
    fed, logits, maps, places = np.zeros(N), [], [], np.arange(len(source))
    for t, y in enumerate(target):
        h, states = step(cell.stack, np.concatenate([e_y[y], fed]) if fields["input_feeding"] else e_y[y], states)
        inside, gaussian = np.ones(len(source), bool), 1
        if fields["local"]:
            p = t
            if fields["local"] == "p":
                p = len(source) / (1 + np.exp(-(np.tanh(h @ center[0]) @ center[1][:, 0])))
                gaussian = np.exp(-((places - p) ** 2) / (2 * (fields["window"] / 2) ** 2))
            inside = abs(places - p) <= fields["window"]
        a = softmax([h @ (h_s @ w_a) for h_s in outputs], inside) * gaussian
        fed = np.tanh(np.concatenate([a @ outputs, h]) @ w_c)
        logits.append(fed @ w_s)
        maps.append(a)
    return np.array(logits), np.array(maps)


@pytest.mark.parametrize("local", [None, "m", "p"])
@pytest.mark.parametrize("feeding", [False, True])
def test_equals_the_paper(local, feeding, random):
    sizes = {"embedding": 3, "width": N, "depth": 2, "window": 2}
    model = small("seq2seq-luong-general", **sizes, local=local, input_feeding=feeding)
    for weight in model.weights:
        weight.assign(random.normal(size=weight.shape, scale=0.7))
    data = batch()
    logits = ops.convert_to_numpy(model(data))
    maps = ops.convert_to_numpy(zoo.attention_maps(model, data)["decoder/0/cross"])[:, 0]
    for row, (source, target) in enumerate(((4, 4), (7, 5))):
        expected, weights = reference(model, data["source"][row, :source], data["target"][row, :target])
        np.testing.assert_allclose(logits[row, :target], expected, atol=1e-4)
        np.testing.assert_allclose(maps[row, :target, :source], weights, atol=1e-5)


def test_initial_values_are_those_of_the_paper():
    for weight in small("seq2seq-luong-local-p", width=40, embedding=40).weights:
        value = float64(weight)
        assert abs(value).max() <= 0.1
        assert value.std() == pytest.approx(0.2 / 12**0.5, rel=0.2), weight.path


def test_bfloat16_counts_past_256_positions():
    """The loop's states are of the compute type, and bfloat16 has no 257."""
    model = small("seq2seq-luong-local-m", dtype="mixed_bfloat16", width=8, depth=1, embedding=8)
    long = {"source": np.full((1, 300), 7, "int32"), "target": np.full((1, 300), 9, "int32")}
    model(long)
    cell = model.decoder.cell
    states = cell.pack(
        [[ops.zeros((1, 8))] * 2],
        [ops.zeros((1, 8)), ops.zeros((1,))],
        *[ops.zeros((1, 300, 8))] * 2,
        ops.ones((1, 300)),
    )
    states = [ops.cast(s, cell.compute_dtype) for s in states]
    for _ in range(300):
        _, states = cell(ops.zeros((1, 8)), states)
    assert float(states[3][0]) == 300
