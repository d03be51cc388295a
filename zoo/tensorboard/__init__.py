"""Attention in TensorBoard: the callback that writes it, and the plugin that shows it.

TensorBoard imports this package at its start, so nothing here is loaded before it is used.
"""

from zoo.lazy import lazily

_HOMES = {
    "zoo.training.attention": ("AttentionCallback", "Example"),
    "zoo.tensorboard.history": ("read_history",),
    "zoo.tensorboard.record": ("unpack",),
}
__getattr__, __dir__, __all__ = lazily(__name__, _HOMES)
