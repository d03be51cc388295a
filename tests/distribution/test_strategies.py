"""Each number of devices in a process of its own: two strategies in one collide."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import zoo

TRAIN = """
import sys, json
devices, name, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * devices)
import keras, numpy, zoo

keras.utils.set_random_seed(3)
letters = "abcdefghij"
words = [" ".join(letters[(i * k) % 10] for k in range(1 + i % 6)) for i in range(29)]
tokenizer = zoo.Tokenizer.train(words, 290)
pairs = [(w, w[::-1]) for w in words]
strategy = zoo.strategy("mirrored" if devices > 1 else "one")
made = zoo.batches(pairs, tokenizer, tokenizer, batch_tokens=50, replicas=2)
with strategy.scope():
    sizes = {"source_vocab": tokenizer.vocabulary, "target_vocab": tokenizer.vocabulary}
    model = zoo.build(name, **sizes, dropout=0.0)
    metrics = [zoo.TokenAccuracy(), zoo.Perplexity()]
    model.compile(keras.optimizers.SGD(0.5), loss=zoo.TokenCrossEntropy(0.1), metrics=metrics)
model.load_weights(folder + "/start.weights.h5") if devices > 1 else model.save_weights(folder + "/start.weights.h5")
history = model.fit(made.dataset.repeat(), steps_per_epoch=5, epochs=1, verbose=0)
numpy.savez(f"{folder}/{devices}.npz", *[keras.ops.convert_to_numpy(w) for w in model.trainable_weights])
print(json.dumps({"replicas": strategy.num_replicas_in_sync, "steps": made.steps, "widths": made.widths,
                  **{k: v[0] for k, v in history.history.items()}}))
"""


def train(devices, name, folder):
    environment = {**os.environ, "TF_NUM_INTRAOP_THREADS": "1"}
    command = [sys.executable, "-c", TRAIN, str(devices), name, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", ["transformer-tiny", "seq2seq-bahdanau-tiny"])
def test_two_devices_train_as_one(name, tmp_path):
    """SGD, unequal lengths, a last batch that does not divide: after 5 updates the weights are one device's."""
    one, two = train(1, name, tmp_path), train(2, name, tmp_path)
    assert (one["replicas"], two["replicas"]) == (1, 2)
    assert one["steps"] == two["steps"] == 5
    single, split = (np.load(tmp_path / f"{devices}.npz") for devices in (1, 2))
    for weight in single.files:
        np.testing.assert_allclose(split[weight], single[weight], atol=1e-5)
    for metric in ("accuracy", "perplexity"):
        assert two[metric] == pytest.approx(one[metric], rel=1e-4)


def test_another_name_is_refused():
    with pytest.raises(ValueError, match="strategy 'tpus'.*'mirrored'"):
        zoo.strategy("tpus")


def test_one_device_is_the_default_strategy():
    assert zoo.strategy("auto").num_replicas_in_sync == zoo.strategy("one").num_replicas_in_sync == 1
