"""What every name in the zoo must do."""

import json
import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import ops

import zoo
from tests.samples import (
    NAMES,
    TINY,
    TWISTED,
    VARIANTS,
    VOCAB,
    batch,
    inputs,
    labels,
    model,
    shallow,
    small,
    vocabularies,
)
from zoo.models.catalog import FAMILIES, MODELS
from zoo.training.losses import TokenCrossEntropy

everyone = pytest.mark.parametrize("name", NAMES)


def numpy(tensor):
    return ops.convert_to_numpy(tensor)


def decoder_only(model):
    return not hasattr(model, "encode")


def check_logits(model):
    logits = numpy(model(batch()))
    assert logits.shape == (2, 5, VOCAB + model.fields.get("copies", 0))
    assert logits.dtype == np.float32
    assert np.isfinite(logits).all()


def check_steps(model):
    data, full = batch(), numpy(model(batch()))
    memory, cache = model.start(data["source"], 12)
    for index in range(5):
        logits, cache, attention = model.step(data["target"][:, index], index, memory, cache)
        real = data["target"][:, index] != 0
        np.testing.assert_allclose(numpy(logits)[real], full[:, index][real], atol=1e-4)
        assert attention.shape[0] == 2
        assert attention.shape[2] == 7
        crosses = [numpy(m)[:, :, index] for role, m in zoo.attention_maps(model, data).items() if "cross" in role]
        if decoder_only(model):  # the source is the start of the same row
            crosses = [numpy(m)[:, :, 7 + index, :7] for m in zoo.attention_maps(model, data).values()]
        if crosses:
            np.testing.assert_allclose(numpy(attention)[real], np.concatenate(crosses, 1)[real], atol=1e-5)
        else:
            assert (numpy(attention) == 0).all()


def check_causality(model):
    changed = batch()
    changed["target"][:, 3] = 44
    before, after = numpy(model(batch())), numpy(model(changed))
    np.testing.assert_allclose(after[:, :3], before[:, :3], atol=1e-5)
    assert (after[:, 3] != before[:, 3]).any()


def check_padding(model):
    data = batch()
    alone = numpy(model({"source": data["source"][:1, :4], "target": data["target"][:1, :4]}))
    np.testing.assert_allclose(numpy(model(data))[:1, :4], alone, atol=1e-5)


def check_maps(model):
    data = batch()
    maps = {role: numpy(weights) for role, weights in zoo.attention_maps(model, data).items()}
    real = {"source": data["source"] != 0, "target": data["target"] != 0}
    if decoder_only(model):
        real["target"] = np.concatenate([real["source"], real["target"]], axis=1)
    for role, weights in maps.items():
        side, _, kind = role.split("/")
        rows = real["source" if side == "encoder" else "target"]
        columns = real["target" if (side, kind) == ("decoder", "self") else "source"]
        assert weights.shape[0] == 2
        assert weights.shape[2:] == (rows.shape[1], columns.shape[1])
        hidden = np.broadcast_to(~columns[:, None, None, :], weights.shape)
        assert (weights[hidden] == 0).all()
        sums = weights.sum(-1)[np.broadcast_to(rows[:, None, :], weights.shape[:3])]
        if model.fields.get("local") == "p":  # a Gaussian after the softmax
            assert (sums > 0).all()
            assert (sums < 1).all()
        else:
            np.testing.assert_allclose(sums, 1, atol=1e-5)
        if (side, kind) == ("decoder", "self"):
            assert (np.triu(weights, 1) == 0).all()
        if kind == "self" and model.fields.get("window"):
            near = abs(np.subtract.outer(*[np.arange(weights.shape[2])] * 2)) < model.fields["window"]
            assert (weights[:, :, ~near] == 0).all()
    return maps


def check_gradients(model):
    """After one step of gradient descent every weight is another.

    From weights with noise on them: where a paper starts with v_a = 0, nothing reaches those behind it at first.
    """
    for weight in model.trainable_weights:
        weight.assign_add(keras.random.normal(weight.shape, stddev=0.05))
    before = [numpy(w).copy() for w in model.trainable_weights]
    model.compile(keras.optimizers.SGD(1.0), loss=TokenCrossEntropy(0.1))
    assert np.isfinite(model.train_on_batch(batch(), labels()))
    still = [w.path for w, old in zip(model.trainable_weights, before, strict=True) if (numpy(w) == old).all()]
    assert still == []
    assert all(np.isfinite(numpy(w)).all() for w in model.trainable_weights)


@everyone
def test_logits_are_finite_float32(name):
    check_logits(model(name))


@everyone
def test_steps_equal_the_full_forward(name):
    check_steps(model(name))


@everyone
def test_no_position_sees_the_future(name):
    check_causality(model(name))


@everyone
def test_padding_changes_nothing(name):
    check_padding(model(name))


@everyone
def test_maps_are_distributions_over_real_tokens(name):
    check_maps(model(name))


@everyone
def test_the_description_counts_what_is_built(name):
    assert small(name).count_params() == zoo.describe(name, **vocabularies(name)).parameters


@everyone
def test_greedy_decoding_equals_the_full_forward(name):
    found = zoo.greedy(model(name), batch()["source"], max_length=6)
    target = np.concatenate([np.ones((2, 1), "int32"), found.tokens[:, 0]], axis=1)
    logits = numpy(model(name)({"source": batch()["source"], "target": target}))
    logits[..., :2] = -np.inf  # PAD and BOS are never chosen
    for row, length in enumerate(found.lengths[:, 0]):
        chosen = found.tokens[row, 0, :length]
        best = logits[row, np.arange(length)]
        np.testing.assert_allclose(best[np.arange(length), chosen], best.max(-1), atol=1e-4)


def outputs(model):
    return keras.tree.map_structure(numpy, model(inputs(model)))


@pytest.mark.parametrize(("name", "fields"), TWISTED.items())
def test_a_twisted_configuration_changes_every_field(name, fields):
    defaults = FAMILIES[MODELS[name].family].fields
    assert set(fields) == set(defaults)
    assert not [field for field, value in fields.items() if value == defaults[field]]


def test_every_name_and_every_field_reloads_in_a_fresh_process(tmp_path):
    originals = {name: shallow(name) for name in zoo.list_models()}
    originals.update({f"twisted-{name}": zoo.build(name, **fields) for name, fields in TWISTED.items()})
    for name, original in originals.items():
        original.save(tmp_path / f"{name}.keras")
        np.savez(tmp_path / f"{name}.npz", *keras.tree.flatten(outputs(original)))
        np.savez(tmp_path / f"{name}-inputs.npz", **inputs(original))
    code = """
import sys, numpy, zoo, keras
folder, *names = sys.argv[1:]
for name in names:
    model = zoo.load_model(f"{folder}/{name}.keras")
    found = keras.tree.flatten(model(dict(numpy.load(f"{folder}/{name}-inputs.npz"))))
    expected = numpy.load(f"{folder}/{name}.npz").values()
    gaps = [abs(keras.ops.convert_to_numpy(a) - b).max() for a, b in zip(found, expected, strict=True)]
    print(name, len(model.weights), max(gaps))
"""
    command = [sys.executable, "-c", code, tmp_path, *originals]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split() for line in run.stdout.splitlines()]
    assert [row[0] for row in rows] == list(originals)
    for name, weights, gap in rows:
        assert int(weights) == len(originals[name].weights)
        assert float(gap) <= 1e-6, name


@everyone
def test_every_weight_gets_a_gradient(name):
    check_gradients(model(name))  # last of its name: it changes the weights


@pytest.mark.parametrize(("name", "overrides"), VARIANTS)
def test_options_do_all_of_that_too(name, overrides, tmp_path):
    variant = small(name, **overrides)
    described = zoo.describe(name, **{**vocabularies(name), **overrides})
    assert variant.count_params() == described.parameters
    for check in (check_logits, check_steps, check_causality, check_padding, check_maps):
        check(variant)
    variant.save(tmp_path / "model.keras")
    reloaded = zoo.load_model(tmp_path / "model.keras")
    assert reloaded.fields == variant.fields
    np.testing.assert_allclose(numpy(reloaded(batch())), numpy(variant(batch())), atol=1e-6)
    check_gradients(variant)


@pytest.mark.parametrize("name", TINY)
def test_a_step_under_xla_is_a_step(name):
    models = [small(name), small(name)]
    models[1].set_weights(models[0].get_weights())
    for jit, tiny in zip((False, True), models, strict=True):
        tiny.compile(keras.optimizers.SGD(0.5), loss=TokenCrossEntropy(0.1), jit_compile=jit)
        tiny.train_on_batch(batch(), labels())
    for plain, compiled in zip(*(tiny.get_weights() for tiny in models), strict=True):
        np.testing.assert_allclose(compiled, plain, atol=1e-5)


@pytest.mark.parametrize(("name", "overrides"), VARIANTS)
def test_options_in_half_precision(name, overrides):
    mixed = small(name, **overrides, dtype="mixed_bfloat16")
    check_logits(mixed)
    assert np.isfinite(zoo.greedy(mixed, batch()["source"], max_length=3).log_probs).all()


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision_trains_with_an_empty_row(name, policy):
    mixed = small(name, dtype=policy)
    data, answers = batch(), labels()
    data["source"][0], data["target"][0, 1:], answers[0] = 0, 0, 0
    mixed.compile(keras.optimizers.SGD(0.1), loss=TokenCrossEntropy(0.1))
    assert np.isfinite(mixed.train_on_batch(data, answers))
    assert all(np.isfinite(weight).all() for weight in mixed.get_weights())


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision_keeps_logits_and_maps_in_float32(name, policy):
    mixed = small(name, dtype=policy)
    check_logits(mixed)
    for role, weights in zoo.attention_maps(mixed, batch()).items():
        assert keras.backend.standardize_dtype(weights.dtype) == "float32", role
    empty = batch()
    empty["source"][0] = 0
    assert np.isfinite(numpy(mixed(empty))).all()


@pytest.mark.parametrize("name", TINY)
def test_an_empty_source_row_is_finite_and_trains(name):
    """The last batch of a bucket is filled with such rows."""
    tiny = small(name)
    data, answers = batch(), labels()
    data["source"][0], data["target"][0, 1:], answers[0] = 0, 0, 0
    tiny.compile(keras.optimizers.SGD(0.1), loss=TokenCrossEntropy(0.1))
    assert np.isfinite(tiny.train_on_batch(data, answers))
    assert np.isfinite(numpy(tiny(data))).all()


@pytest.mark.parametrize("name", TINY)
def test_dropout_is_off_outside_training(name):
    wet, dry = small(name, dropout=0.9), small(name, dropout=0.0)
    dry.set_weights(wet.get_weights())
    np.testing.assert_array_equal(numpy(wet(batch())), numpy(dry(batch())))
    first, second = (zoo.greedy(wet, batch()["source"], max_length=9) for _ in range(2))
    np.testing.assert_array_equal(first.tokens, second.tokens)
    np.testing.assert_array_equal(first.log_probs, second.log_probs)
    np.testing.assert_array_equal(first.tokens, zoo.greedy(dry, batch()["source"], max_length=9).tokens)
    assert abs(numpy(wet(batch(), training=True)) - numpy(wet(batch()))).max() > 1e-3


def test_configurations_survive_json():
    tiny = small("transformer-tiny", norm="pre")
    config = json.loads(json.dumps(tiny.get_config()))
    assert config["norm"] == "pre"
    assert type(tiny).from_config(config).fields == tiny.fields
