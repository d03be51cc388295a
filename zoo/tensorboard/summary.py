"""Writes attention records as TensorBoard summaries."""

import numpy as np
import tensorflow as tf

from zoo.tensorboard.record import METRICS, PLUGIN, pack

_DATA_CLASS = {
    "scalar": 1,
    "tensor": 2,
    "blob_sequence": 3,
}  # tensorboard.data: DataClass; without one the loaders drop a summary


def _metadata(data_class, content=b""):
    metadata = tf.compat.v1.SummaryMetadata(data_class=_DATA_CLASS[data_class])
    metadata.plugin_data.plugin_name = PLUGIN
    metadata.plugin_data.content = content
    return metadata


def write_record(name, record, values, step):
    """Writes one sentence's attention to the default summary writer.

    Args:
        name: of the example; its tags are `attention/<name>` and `attention/<name>/stats`.
        record: `Record`.
        values: float32 (kinds, L, H, metrics), NaN where there is nothing; the shape must be the same at every step.
        step: int, the optimiser's count.
    """
    tag = f"attention/{name}"
    tf.summary.write(tag, tf.constant(pack(record)), step=step, metadata=_metadata("blob_sequence"))
    kinds = ",".join(kind.name for kind in record.kinds)
    content = f"{kinds};{','.join(METRICS)}".encode()
    values = np.asarray(values, "float32")
    tf.summary.write(f"{tag}/stats", tf.constant(values), step=step, metadata=_metadata("tensor", content))


def write_scalars(values, step):
    """Writes {tag: number} for TensorBoard's own scalars, in one operation however many there are."""
    summary = tf.compat.v1.Summary()
    for tag, value in values.items():
        metadata = tf.compat.v1.SummaryMetadata(data_class=_DATA_CLASS["scalar"])
        metadata.plugin_data.plugin_name = "scalars"
        summary.value.add(tag=tag, metadata=metadata, tensor=tf.make_tensor_proto(np.float32(value)))
    tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step=step)
