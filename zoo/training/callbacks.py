"""Callbacks that write to TensorBoard while `fit()` runs; steps are updates of the optimiser, also after a resume."""

import functools
import warnings

import keras
import tensorflow as tf


@functools.cache
def _writer(logdir):
    """One writer a directory: two at once confuse TensorBoard."""
    return tf.summary.create_file_writer(str(logdir))


class Summaries(keras.callbacks.Callback):
    """A callback that writes into a run's folder at the optimiser's count of updates.

    A folder that cannot be written to is an OSError before training; later, as on a full disk, it is a warning, and
    the training goes on without.
    """

    def __init__(self, logdir):
        super().__init__()
        self.logdir = str(logdir)
        self.begun = self.stopped = False

    def attempt(self, write):
        """Runs `write()`, unless writing has failed before."""
        if self.stopped:
            return
        try:
            write()
        except (OSError, tf.errors.OpError) as error:
            if not self.begun:
                raise OSError(f"{self.logdir} cannot be written to: {error}") from None
            warnings.warn(f"nothing more is written to {self.logdir}: {error}", stacklevel=2)
            self.stopped = True
        self.begun = True

    @property
    def updates(self):
        return int(self.model.optimizer.iterations.numpy())

    def writer(self):
        return _writer(self.logdir)

    def write(self, summary, values):
        """Writes {tag: value} with a `tf.summary` function, at the optimiser's count."""

        def write():
            writer = self.writer()
            with writer.as_default(step=self.updates):
                for tag, value in values.items():
                    summary(tag, value)
            writer.flush()

        self.attempt(write)


class Scalars(Summaries):
    """Writes loss and metrics to TensorBoard: `train/...` every few updates, `dev/...` after each epoch.

    Keras's own callback counts epochs and restarts its count with each `fit()`; here the step is
    `optimizer.iterations`, so that runs can be compared by updates and a resumed one goes on where it was.

    Args:
        logdir: folder of the run.
        every: updates between two points of training.
    """

    def __init__(self, logdir, every=20):
        super().__init__(logdir)
        self.every = every

    def on_train_begin(self, logs=None):
        self.attempt(lambda: self.writer().flush())

    def on_train_batch_end(self, batch, logs=None):
        if (batch + 1) % self.every == 0:
            rate = float(keras.ops.convert_to_numpy(self.model.optimizer.learning_rate))
            train = {f"train/{name}": value for name, value in (logs or {}).items()}
            self.write(tf.summary.scalar, {**train, "train/learning_rate": rate})

    def on_epoch_end(self, epoch, logs=None):
        dev = {name.removeprefix("val_"): value for name, value in (logs or {}).items() if name.startswith("val_")}
        self.write(tf.summary.scalar, {f"dev/{name}": value for name, value in dev.items()})
