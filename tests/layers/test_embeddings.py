import numpy as np
from keras import ops

from zoo.layers.embeddings import TokenEmbedding


def test_the_factor_is_on_the_look_up_only():
    embedding = TokenEmbedding(3, 4)
    embedding.build()
    embedding.matrix.assign(np.array([[0.0] * 4, [0.5] * 4, [0.25] * 4]))
    np.testing.assert_array_equal(ops.convert_to_numpy(embedding(np.array([[1]]))), [[[1, 1, 1, 1]]])
    logits = ops.convert_to_numpy(embedding.logits(ops.convert_to_tensor([[1.0, 0, 0, 0]])))
    np.testing.assert_array_equal(logits, [[0, 0.5, 0.25]])


def test_unscaled_look_up_is_the_row():
    embedding = TokenEmbedding(3, 4, scaled=False)
    embedding.build()
    np.testing.assert_array_equal(
        ops.convert_to_numpy(embedding(np.array([2])))[0], ops.convert_to_numpy(embedding.matrix)[2]
    )


def test_the_initial_deviation_makes_embeddings_unit_sized():
    embedding = TokenEmbedding(1009, 97)
    embedding.build()
    assert abs(ops.convert_to_numpy(embedding.matrix).std() - 97**-0.5) < 0.002
    assert abs(ops.convert_to_numpy(embedding(np.arange(1009)[None])).std() - 1) < 0.02
