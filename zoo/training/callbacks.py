"""Callbacks that write to TensorBoard while `fit()` runs; steps are updates of the optimiser, also after a resume."""

import functools

import keras
import numpy as np
import tensorflow as tf


@functools.cache
def _writer(logdir):
    """One writer a directory: two at once confuse TensorBoard."""
    return tf.summary.create_file_writer(str(logdir))


class _Summaries(keras.callbacks.Callback):
    def __init__(self, logdir):
        super().__init__()
        self.logdir = str(logdir)

    @property
    def updates(self):
        return int(self.model.optimizer.iterations.numpy())

    def write(self, summary, values):
        """Writes {tag: value} with a `tf.summary` function, at the optimiser's count."""
        writer = _writer(self.logdir)
        with writer.as_default(step=self.updates):
            for tag, value in values.items():
                summary(tag, value)
        writer.flush()


class Scalars(_Summaries):
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

    def on_train_batch_end(self, batch, logs=None):
        if (batch + 1) % self.every == 0:
            rate = float(keras.ops.convert_to_numpy(self.model.optimizer.learning_rate))
            train = {f"train/{name}": value for name, value in (logs or {}).items()}
            self.write(tf.summary.scalar, {**train, "train/learning_rate": rate})

    def on_epoch_end(self, epoch, logs=None):
        dev = {name.removeprefix("val_"): value for name, value in (logs or {}).items() if name.startswith("val_")}
        self.write(tf.summary.scalar, {f"dev/{name}": value for name, value in dev.items()})


class AttentionImages(_Summaries):
    """Writes attention heat maps of fixed sentences to TensorBoard after each epoch, tokens written beside them.

    Each image is the mean over heads of one cross-attention layer, under the tag `attention/<sentence>/<role>`. The
    target is given, so that pictures of different steps show the same tokens. A model without attention gives none.
    TensorBoard keeps 10 images of a tag, at random, unless it is started with `--samples_per_plugin images=1000`.

    Args:
        text: the `TextModel` in training.
        pairs: the (source, target) sentences.
        logdir: folder of the run.
    """

    def __init__(self, text, pairs, logdir):
        super().__init__(logdir)
        self.text = text
        self.pairs = list(pairs)

    def on_epoch_end(self, epoch, logs=None):
        images = {}
        for i, (source, target) in enumerate(self.pairs):
            view = self.text.attend(source, target=target)
            for role in (role for role in view.maps if role.endswith("/cross")):
                images[f"attention/{i}/{role}"] = np.asarray(view.image(role))[None]
        self.write(tf.summary.image, images)
