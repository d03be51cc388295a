"""The tap: how attention weights come out of any model without changing what the model returns.

Attention layers call `emit(role, weights)`. While no tap is open that does nothing and the layers take their fused
path; while one is open they materialise the weights and hand them over. The open tap lives in a `ContextVar`, so
threads and nested calls do not see one another's.
"""

from contextlib import contextmanager
from contextvars import ContextVar

_OPEN = ContextVar("attention_tap", default=None)


@contextmanager
def tap():
    """Opens a tap and yields the dictionary that collects `role -> weights (B, H, T, S)` in the order of emission.

    Example::

        with tap() as maps:
            model(inputs)
        maps["decoder/0/cross"]
    """
    maps = {}
    token = _OPEN.set(maps)
    try:
        yield maps
    finally:
        _OPEN.reset(token)


@contextmanager
def closed():
    """Keeps what runs inside from an outer tap: a compiled search would leave it tensors of a graph that is gone."""
    token = _OPEN.set(None)
    try:
        yield
    finally:
        _OPEN.reset(token)


def listening():
    """True while a tap is open: a layer then has to take the path that materialises its weights."""
    return _OPEN.get() is not None


def emit(role, weights):
    """Hands weights (B, H, T, S) to the open tap under `role`; does nothing where none is open.

    Never call it inside a loop body (`scan`, `while_loop`, an RNN cell): the tensor would belong to the loop's graph.

    Raises:
        ValueError: a role that was emitted before; two layers of one model must not share a role.
    """
    maps = _OPEN.get()
    if maps is None:
        return
    if role in maps:
        raise ValueError(f"role {role!r} was emitted twice under one tap: give each attention layer a role of its own")
    maps[role] = weights
