"""Weight tying: one variable."""

import keras
import numpy as np
import pytest
from keras import ops

import zoo
from tests.samples import (
    VOCAB,
    batch,
    labels,
    small,
)
from zoo.training.losses import TokenCrossEntropy


def numpy(tensor):
    return ops.convert_to_numpy(tensor)


@pytest.mark.parametrize("name", ["transformer-tiny", "transformer-modern-tiny", "gpt2-tiny"])
def test_tied_weights_are_one_variable(name, tmp_path):
    """Counted once, saved once, and still one after reloading and one more update."""
    small(name).save(tmp_path / "model.keras")
    tied = zoo.load_model(tmp_path / "model.keras")
    matrices = [w for w in tied.weights if w.path.endswith("matrix")]
    assert [w.shape for w in matrices] == [(VOCAB, 64)]
    tied.compile(keras.optimizers.SGD(1.0), loss=TokenCrossEntropy(0.0))
    before, full = numpy(matrices[0]).copy(), batch()
    tied.train_on_batch(full, labels())
    moved = abs(numpy(matrices[0]) - before).max(axis=1) > 0
    assert moved.all()  # as the output's matrix every row moves; as an embedding those of the batch alone would
    embedding = getattr(tied, "embedding", None) or tied.source_embedding
    np.testing.assert_allclose(numpy(embedding(np.array([[7]])))[0, 0], scale_of(name) * numpy(matrices[0])[7])
    states = keras.random.normal((1, 64))
    np.testing.assert_allclose(numpy(embedding.logits(states)), numpy(states) @ numpy(matrices[0]).T, atol=1e-5)


def scale_of(name):
    return 1.0 if name.startswith("gpt2") else 8.0  # the root of the width, at the look-up only
