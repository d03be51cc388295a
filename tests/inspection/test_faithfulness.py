"""What tokens and heads are worth, against the definitions worked out one by one."""

import numpy as np
import pytest
from keras import ops

import zoo
from tests.samples import TINY, batch, small
from zoo import inspection
from zoo.ids import BOS, UNK
from zoo.layers.embeddings import scaled

ROWS = np.array([[11, 7, 5, 2, 0], [9, 31, 2, 0, 0]])
TARGETS = [[8, 6, 2], [13, 2]]


def log_probs(model, row, ids):
    target = np.array([[BOS, *ids[:-1]]])
    logits = ops.convert_to_numpy(model({"source": np.array([row]), "target": target}))[0].astype("float64")
    logits -= logits.max(-1, keepdims=True)
    return (logits - np.log(np.exp(logits).sum(-1, keepdims=True)))[np.arange(len(ids)), ids]


@pytest.mark.parametrize("name", TINY)
def test_leaving_a_token_out_is_measured_for_each(name):
    model = small(name)
    found = inspection.occlusion(model, ROWS, TARGETS)
    assert [worth.shape for worth in found] == [(3, 4), (2, 3)]
    for row, ids, worth in zip(ROWS, TARGETS, found, strict=True):
        row = row[row > 0]
        for j in range(len(row)):
            other = row.copy()
            other[j] = UNK
            expected = log_probs(model, row, ids) - log_probs(model, other, ids)
            np.testing.assert_allclose(worth[:, j], expected, atol=2e-5)


@pytest.mark.parametrize("name", TINY)
def test_gradient_times_input_is_the_slope_when_an_embedding_shrinks(name):
    # ReLU has kinks, across which differences are no slopes.
    model = small(name, **({"activation": "gelu"} if name == "transformer-tiny" else {}))
    found = inspection.gradient_times_input(model, ROWS, TARGETS)
    assert [worth.shape for worth in found] == [(3, 4), (2, 3)]
    row, ids, step = ROWS[0][:4], TARGETS[0], 5e-3
    for j in range(4):
        ends = []
        for sign in (1, -1):
            factors = np.ones((1, 4), "float32")
            factors[0, j] += sign * step
            with scaled(factors):
                ends.append(log_probs(model, row, ids))
        np.testing.assert_allclose(found[0][:, j], (ends[0] - ends[1]) / (2 * step), atol=3e-3)


@pytest.mark.parametrize("name", ["transformer-tiny", "gpt2-tiny", "transformer-modern-tiny"])
def test_a_head_that_is_taken_out(name):
    model, inputs = small(name), batch()
    before = np.asarray(model(inputs))
    lost = inspection.head_ablation(model, inputs)
    assert list(lost) == list(zoo.attention_maps(model, inputs))
    np.testing.assert_array_equal(np.asarray(model(inputs)), before)
    whole = [log_probs_of(model, inputs, b) for b in range(2)]
    for role in list(lost)[:2]:
        side, number, kind = role.split("/")
        blocks = model.blocks if name.startswith("gpt2") else getattr(model, side)
        attention = getattr(blocks[int(number)], f"{kind}_attention")
        kernel = np.array(attention.output_projection.kernel)
        width = len(kernel) // attention.heads
        for head in range(attention.heads):
            muted = kernel.copy()
            muted[head * width : (head + 1) * width] = 0  # its part of W^O: the same as no attention
            attention.output_projection.kernel.assign(muted)
            found = [log_probs_of(model, inputs, b) for b in range(2)]
            attention.output_projection.kernel.assign(kernel)
            np.testing.assert_allclose(lost[role][:, head], np.subtract(whole, found), atol=1e-4)


def log_probs_of(model, inputs, b):
    target = inputs["target"][b]
    logits = np.asarray(model(inputs), "float64")[b, :-1]
    logits -= np.log(np.exp(logits).sum(-1, keepdims=True))
    following = target[1:]
    return (logits[np.arange(len(following)), following] * (following > 0)).sum()


def test_a_recurrent_decoder_has_no_head_to_take_out():
    with pytest.raises(ValueError, match="seq2seq-luong-tiny has no heads that can be taken out"):
        inspection.head_ablation(small("seq2seq-luong-tiny"), batch())


def test_rank_correlation_by_hand():
    worth = np.array([[0.1, 0.5, 0.3], [2.0, 1.0, 0.0]])
    weights = np.array([[[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]], [[0.5, 0.2, 0.3], [1 / 3, 1 / 3, 1 / 3]]])
    # Head 1 has the order of both rows. Head 2: ranks 3 1 2 against 1 3 2 give -1; a row that is all alike counts as 0.
    np.testing.assert_allclose(inspection.correlation(weights, worth), [1, -0.5])


def test_rows_without_words_are_named():
    for explain in (inspection.occlusion, inspection.gradient_times_input):
        for source, targets in ((ROWS * [[1], [0]], TARGETS), (ROWS, [TARGETS[0], []])):
            with pytest.raises(ValueError, match="row 2 has no source or no target"):
                explain(small("seq2seq-tiny"), source, targets)
    with pytest.raises(ValueError, match="bert-tiny writes nothing"):
        inspection.head_ablation(zoo.build("bert-tiny", vocab=53), {})
