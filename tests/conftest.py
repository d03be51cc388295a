import os

# Before anything loads TensorFlow: no start-up messages, and one thread each for the two test processes.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
os.environ.setdefault("TF_NUM_INTEROP_THREADS", "1")

import keras
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def seeded():
    keras.utils.set_random_seed(7)


@pytest.fixture
def random():
    return np.random.default_rng(11)
