import keras
import numpy as np
import pytest
from keras import ops

import zoo
from tests.reference import lstm, sigmoid, softmax
from tests.samples import VOCAB, batch, labels, small
from zoo.layers.pointer_cell import mixture
from zoo.training.losses import TokenCrossEntropy

SIZES = {"embedding": 3, "width": 5, "copies": 2}


def float64(weight):
    return ops.convert_to_numpy(weight).astype("float64")


def reference(model, source, target):
    """See et al., sections 2.1 to 2.3, for one pair: (P (T, V + copies), weights (T, S), coverage (T, S))."""
    n, embedding = model.fields["width"], float64(model.embedding.matrix)

    def embed(i):
        return embedding[i if i < VOCAB else 3]

    def run(layer, xs):
        h = c = np.zeros(n)
        states = []
        for x in xs:
            h, c = lstm(x, h, c, *map(float64, layer.weights))
            states.append((h, c))
        return states

    forward = run(model.encoder.ahead, [embed(i) for i in source])
    backward = run(model.encoder.back, [embed(i) for i in source[::-1]])[::-1]
    annotations = np.array([np.concatenate([f[0], b[0]]) for f, b in zip(forward, backward, strict=True)])
    h, c = (
        np.maximum(np.concatenate([forward[-1][i], backward[0][i]]) @ float64(d.kernel) + float64(d.bias), 0)
        for i, d in enumerate(model.reduce)
    )
    cell = model.decoder.cell
    w_s, b_attn, w_h, v, *w_c = map(float64, cell.attention.weights)
    join, switch, hidden, output = (
        list(map(float64, layer.weights)) for layer in (cell.join, cell.switch, model.hidden, model.output_projection)
    )
    context, covered, found, maps, coverage = np.zeros(2 * n), np.zeros(len(source)), [], [], []
    for y in target:
        x = np.concatenate([embed(y), context]) @ join[0] + join[1]
        h, c = lstm(x, h, c, *map(float64, cell.stack.weights))
        state = np.concatenate([c, h])
        scores = [
            v[:, 0] @ np.tanh(a @ w_h + state @ w_s + b_attn + (w_c[0][0] * covered[i] if w_c else 0))
            for i, a in enumerate(annotations)
        ]
        weights = softmax(scores)
        coverage.append(covered)
        covered = covered + weights
        context = weights @ annotations
        p_gen = sigmoid(np.concatenate([context, state, x]) @ switch[0] + switch[1])[0]
        vocabulary = softmax((np.concatenate([h, context]) @ hidden[0] + hidden[1]) @ output[0] + output[1])
        p = np.concatenate([p_gen * vocabulary, np.zeros(model.fields["copies"])])
        for i, word in enumerate(source):
            p[word] += (1 - p_gen) * weights[i]
        found.append(p)
        maps.append(weights)
    return np.array(found), np.array(maps), np.array(coverage)


def copying():
    """The batch, with words 53 and 54 that the vocabulary lacks, one of them twice."""
    data = batch()
    data["source"][1] = [5, 53, 7, 54, 53, 10, 2]
    data["target"][1, 2] = 53
    return data


@pytest.mark.parametrize("coverage", [False, True])
def test_equals_the_paper(coverage, random):
    model = small("seq2seq-pointer", **SIZES, coverage=coverage)
    for weight in model.weights:
        weight.assign(random.normal(size=weight.shape, scale=0.5))
    data = copying()
    logits = ops.convert_to_numpy(model(data))
    losses = [float(loss) for loss in model.losses]
    maps = ops.convert_to_numpy(zoo.attention_maps(model, data)["decoder/0/cross"])[:, 0]
    overlaps = []
    for row, (source, target) in enumerate(((4, 4), (7, 5))):
        expected, weights, covered = reference(model, data["source"][row, :source], data["target"][row, :target])
        np.testing.assert_allclose(np.exp(logits[row, :target]), expected, atol=1e-5)
        np.testing.assert_allclose(maps[row, :target, :source], weights, atol=1e-5)
        overlaps += np.minimum(weights, covered).sum(1).tolist()
    assert losses == (pytest.approx([np.mean(overlaps)], abs=1e-5) if coverage else [])


def test_the_mixture_by_hand():
    logits = ops.log(ops.convert_to_tensor([[[0.5, 0.25, 0.25]]]))
    weights, source = ops.convert_to_tensor([[[0.5, 0.25, 0.25]]]), ops.convert_to_tensor([[1, 4, 1]])
    found = ops.exp(mixture(logits, ops.convert_to_tensor([[[0.5]]]), weights, source, copies=2))
    # written .25 .125 .125; copied: word 1 has .375, word 4, the second that the vocabulary lacks, .125
    np.testing.assert_allclose(ops.convert_to_numpy(found)[0, 0], [0.25, 0.5, 0.125, 0, 0.125], atol=1e-6)


def test_words_outside_the_vocabulary_are_learned_and_written():
    """A copying task whose words the vocabulary lacks: nothing but the pointer can solve it."""
    random = np.random.default_rng(3)
    model = small("seq2seq-pointer", embedding=16, width=24, copies=4)
    source = random.permuted(np.tile(np.arange(VOCAB, VOCAB + 4), (64, 1)), axis=1)
    source = np.concatenate([source, np.full((64, 1), 2)], axis=1).astype("int32")
    target = np.concatenate([np.ones((64, 1)), source[:, :-1]], axis=1).astype("int32")
    model.compile(keras.optimizers.Adam(0.02), loss=TokenCrossEntropy(0.0))
    for _ in range(150):
        loss = model.train_on_batch({"source": source, "target": target}, source)
    assert loss < 0.2
    tokens = zoo.greedy(model, source[:5], max_length=6).tokens[:, 0]
    np.testing.assert_array_equal(tokens[:, :5], source[:5])


def test_gradients_are_finite_where_nothing_can_be_copied():
    model = small("seq2seq-pointer", **SIZES)
    model.compile(keras.optimizers.SGD(0.1), loss=TokenCrossEntropy(0.1))
    answers = labels()
    answers[0, 0] = VOCAB + 1  # not in that source: probability 0
    assert np.isfinite(model.train_on_batch(batch(), answers))
    assert all(np.isfinite(ops.convert_to_numpy(w)).all() for w in model.weights)
