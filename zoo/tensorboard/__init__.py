"""Attention in TensorBoard: the callback that writes it, and the plugin that shows it.

TensorBoard imports this package at its start, so nothing here is loaded before it is used.
"""

import importlib

_HOMES = {"AttentionCallback": "zoo.training.attention", "Example": "zoo.training.attention"}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'zoo.tensorboard' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
