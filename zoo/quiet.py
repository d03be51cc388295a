"""Starting TensorFlow without its messages to developers of TensorFlow."""

import contextlib
import importlib
import os
import sys
import tempfile


def quiet():
    """Loads TensorFlow with its start-up messages kept off the screen; call it first in a script.

    They are written by C++ before any log level is read, so the process's error stream is held back meanwhile; if the
    import fails, what was held back is shown. A log level that the user has set (`TF_CPP_MIN_LOG_LEVEL`) is respected:
    then nothing is hidden.
    """
    if "TF_CPP_MIN_LOG_LEVEL" in os.environ:
        if os.environ["TF_CPP_MIN_LOG_LEVEL"] >= "2":  # errors alone: from Python too
            importlib.import_module("tensorflow").get_logger().setLevel("ERROR")
        return
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    with tempfile.TemporaryFile() as held:
        try:
            with _stderr_to(held):
                for module in ("tensorflow", "keras_hub"):
                    importlib.import_module(module)
        except BaseException:
            held.seek(0)
            sys.stderr.write(held.read().decode(errors="replace"))
            raise
    importlib.import_module("tensorflow").get_logger().setLevel("ERROR")


@contextlib.contextmanager
def _stderr_to(file):
    sys.stderr.flush()
    saved = os.dup(2)
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(saved, 2)
        os.close(saved)
