import numpy as np
import pytest
from keras import ops

from tests.reference import gated, gru, lstm
from zoo.layers.masks import masked_softmax
from zoo.layers.recurrent import CELLS, BidirectionalEncoder, RecurrentStack, recurrent_layer, state_count

B, T, D, N = 2, 5, 3, 7


def numpy(tensor):
    return ops.convert_to_numpy(tensor)


def reference_run(cell, weights, xs):
    """Outputs of one layer over one sequence, in float64."""
    step = {"gru": gru, "gated": gated}.get(cell)
    weights = [numpy(w).astype("float64") for w in weights]
    h = c = np.zeros(N)
    outputs = []
    for x in xs.astype("float64"):
        if step:
            h = step(x, h, *weights)
        else:
            h, c = lstm(x, h, c, *weights)
        outputs.append(h)
    return np.array(outputs)


@pytest.mark.parametrize("cell", CELLS)
def test_a_stack_equals_the_equations(cell, random):
    stack = RecurrentStack(cell, N, depth=2)
    x = random.normal(size=(B, T, D)).astype("float32")
    outputs, states = stack(x)
    for b in range(B):
        lower = reference_run(cell, stack.stack[0].weights, x[b])
        upper = reference_run(cell, stack.stack[1].weights, lower)
        np.testing.assert_allclose(numpy(outputs)[b], upper, atol=1e-5)
        np.testing.assert_allclose(numpy(states[0][0])[b], lower[-1], atol=1e-5)
        np.testing.assert_allclose(numpy(states[1][0])[b], upper[-1], atol=1e-5)


@pytest.mark.parametrize("cell", CELLS)
def test_steps_equal_the_whole(cell, random):
    stack = RecurrentStack(cell, N, depth=2)
    x = random.normal(size=(B, T, D)).astype("float32")
    whole, _ = stack(x)
    states = [[ops.zeros((B, N))] * state_count(cell)] * 2
    for t in range(T):
        output, states = stack.step(ops.convert_to_tensor(x[:, t]), states)
        np.testing.assert_allclose(numpy(output), numpy(whole)[:, t], atol=1e-6)


@pytest.mark.parametrize("cell", CELLS)
def test_padding_changes_neither_states_nor_annotations(cell, random):
    x = random.normal(size=(1, 4, D)).astype("float32")
    padded = np.concatenate([x, random.normal(size=(1, 3, D)).astype("float32")], axis=1)
    mask = np.array([[True] * 4 + [False] * 3])

    stack = RecurrentStack(cell, N)
    alone, states = stack(x)
    outputs, padded_states = stack(padded, mask=mask)
    np.testing.assert_allclose(numpy(padded_states[0][0]), numpy(states[0][0]), atol=1e-6)
    np.testing.assert_allclose(numpy(outputs)[:, :4], numpy(alone), atol=1e-6)
    assert (numpy(outputs)[:, 4:] == 0).all()

    encoder = BidirectionalEncoder(cell, N)
    alone, *ends = encoder(x)
    annotations, *padded_ends = encoder(padded, mask=mask)
    np.testing.assert_allclose(numpy(annotations)[:, :4], numpy(alone), atol=1e-6)
    for end, padded_end in zip(ends, padded_ends, strict=True):
        np.testing.assert_allclose(numpy(padded_end), numpy(end), atol=1e-6)
    without, *_ = encoder(padded)
    assert abs(numpy(without)[:, :4, N:] - numpy(alone)[:, :, N:]).max() > 0.01  # what the mask is for


@pytest.mark.parametrize("cell", CELLS)
def test_the_encoder_joins_both_directions(cell, random):
    encoder = BidirectionalEncoder(cell, N)
    x = random.normal(size=(1, T, D)).astype("float32")
    annotations, last, first = encoder(x)
    annotations, last, first = (numpy(y)[0] for y in (annotations, last[0], first[0]))
    ahead = reference_run(cell, encoder.ahead.weights, x[0])
    back = reference_run(cell, encoder.back.weights, x[0, ::-1])[::-1]
    np.testing.assert_allclose(annotations, np.concatenate([ahead, back], axis=1), atol=1e-5)
    np.testing.assert_allclose(first, back[0], atol=1e-5)
    np.testing.assert_allclose(last, ahead[-1], atol=1e-5)


def test_zero_scores_on_a_padded_source_give_padding_nothing():
    weights = masked_softmax(ops.zeros((1, 1, 5)), ops.convert_to_tensor([[[True, True, False, False, False]]]))
    np.testing.assert_array_equal(numpy(weights)[0, 0], [0.5, 0.5, 0, 0, 0])


def scalar(cell, z=(0.5, 0.2)):
    """x = 1, h = 0.7, W = (z, r -0.3, h 0.8), U = (z, r 0.4, h -0.6), no bias; z = (W_z, U_z)."""
    layer = recurrent_layer(cell, 1)
    layer.build((1, 1, 1))
    layer.cell.kernel.assign([[z[0], -0.3, 0.8]])
    layer.cell.recurrent_kernel.assign([[z[1], 0.4, -0.6]])
    _, state = layer(ops.ones((1, 1, 1)), initial_state=[ops.full((1, 1), 0.7)])
    return numpy(state)[0, 0]


def test_the_gru_keeps_with_z_and_the_papers_unit_takes_with_it():
    assert scalar("gru") == pytest.approx(0.641793, abs=1e-6)
    assert scalar("gated") == pytest.approx(0.589611, abs=1e-6)


def test_the_papers_unit_is_the_gru_with_the_update_gate_negated():
    """(1 - z) h + z h~ with z = sigmoid(a) is z' h + (1 - z') h~ with z' = sigmoid(-a)."""
    assert scalar("gru", (-0.5, -0.2)) == pytest.approx(0.589611, abs=1e-6)


def test_another_cell_is_refused():
    with pytest.raises(ValueError, match="cell='rnn'.*'gru'"):
        recurrent_layer("rnn", 3)
