"""Where training runs: one device, or every device of this machine."""

import tensorflow as tf

NAMES = ("auto", "one", "mirrored")


def strategy(name="auto"):
    """A `tf.distribute.Strategy` by name; build and compile the model inside its `scope()`.

    - "one": the default strategy, one device.
    - "mirrored": a copy of the model on each GPU, or on each logical CPU device where there is no GPU; each takes its
      share of every batch.
    - "auto": "mirrored" where there are two GPUs or more, else "one".

    With the weights that `batches()` gives, losses and gradients equal those of one device for any split. Gradient
    clipping and accumulation inside Keras's optimisers are not exact under "mirrored".

    Raises:
        ValueError: another name.

    Example::

        with zoo.strategy("auto").scope():
            model = zoo.build("transformer-base")
    """
    if name not in NAMES:
        raise ValueError(f"strategy {name!r}: must be one of {', '.join(map(repr, NAMES))}")
    gpus = tf.config.list_logical_devices("GPU")
    if name == "one" or (name == "auto" and len(gpus) < 2):
        return tf.distribute.get_strategy()
    if gpus:
        return tf.distribute.MirroredStrategy()
    # On CPU the default collectives deadlock some of Keras's options; reducing on one device is as fast there.
    devices = [device.name for device in tf.config.list_logical_devices("CPU")]
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=tf.distribute.ReductionToOneDevice())
