"""Attention that was written in training, read back from event files."""

import warnings
from pathlib import Path

from tensorboard.backend.event_processing import event_accumulator, event_multiplexer
from tensorboard.util import tensor_util

from zoo.tensorboard.record import PLUGIN, read_header


def read_history(logdir):
    """Every attention record under a folder: {run: {tag: [(step, blobs, values)]}}, steps rising.

    Args:
        logdir: folder of one run or of many, as TensorBoard is given it.
    Returns:
        blobs as `zoo.tensorboard.record.pack` gives them, values as `record_statistics` does, or None. Of a step that
        was written twice, the later. What is damaged is left out, with a warning.
    Raises:
        FileNotFoundError: no such folder.
        ValueError: no attention in it.
    """
    if not Path(logdir).is_dir():
        raise FileNotFoundError(f"no folder {logdir}: name the one that was given to the callback")
    runs = event_multiplexer.EventMultiplexer(size_guidance={event_accumulator.TENSORS: 0})
    runs.AddRunsFromDirectory(str(logdir))
    runs.Reload()
    found = {}
    for run in sorted(runs.Runs()):
        tags = runs.PluginRunToTagToContent(PLUGIN).get(run, {})
        for tag in sorted(tag for tag in tags if not tag.endswith("/stats")):
            values = {}
            if f"{tag}/stats" in tags:
                values = {event.step: _array(event) for event in runs.Tensors(run, f"{tag}/stats")}
            steps = {}
            for event in runs.Tensors(run, tag):
                try:
                    blobs = [bytes(blob) for blob in _array(event)]
                    read_header(blobs[0])
                except (ValueError, TypeError, IndexError) as error:
                    warnings.warn(f"{run}, {tag}, step {event.step} is left out: {error}", stacklevel=2)
                else:
                    steps[event.step] = blobs, values.get(event.step)
            if steps:
                found.setdefault(run, {})[tag] = [(step, *steps[step]) for step in sorted(steps)]
    if not found:
        raise ValueError(f"{logdir} has no attention in it: train with zoo.tensorboard.AttentionCallback")
    return found


def _array(event):
    return tensor_util.make_ndarray(event.tensor_proto)
