"""The tap: how attention weights come out of any model without changing what the model returns.

Attention layers call `emit(role, weights)`. While no tap is open that does nothing and the layers take their fused
path; while one is open they materialise the weights and hand them over. The open tap lives in a `ContextVar`, so
threads and nested calls do not see one another's.
"""

from contextlib import contextmanager
from contextvars import ContextVar

_OPEN = ContextVar("attention_tap", default=None)
_VECTORS = ContextVar("attention_vectors", default=None)
_EDIT = ContextVar("attention_edit", default=None)


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


@contextmanager
def vectors():
    """Collects `role -> (queries (B, H, T, d), keys (B, H, S, d))` of the multi-head layers that run under it.

    Queries come scaled, so that softmax(queries keys^T) are the weights where nothing is added or masked.
    """
    collected = {}
    token = _VECTORS.set(collected)
    try:
        yield collected
    finally:
        _VECTORS.reset(token)


@contextmanager
def edited(edit):
    """Changes weights on their way: multi-head layers under it go on with `edit(role, weights)` in place of theirs."""
    token = _EDIT.set(edit)
    try:
        yield
    finally:
        _EDIT.reset(token)


def listening():
    """True while somebody looks or edits: a layer then has to take the path that materialises its weights."""
    return any(variable.get() is not None for variable in (_OPEN, _VECTORS, _EDIT))


def emit(role, weights, queries=None, keys=None):
    """Hands weights (B, H, T, S) to the open tap under `role`, and returns those to go on with: the same, or edited.

    Never call it inside a loop body (`scan`, `while_loop`, an RNN cell): the tensor would belong to the loop's graph.

    Args:
        queries, keys: functions that give the (B, H, T, d) and (B, H, S, d) that the weights were made of, for
            `vectors`; None where there are none.
    Raises:
        ValueError: a role that was emitted before; two layers of one model must not share a role.
    """
    maps, collected, edit = _OPEN.get(), _VECTORS.get(), _EDIT.get()
    if edit is not None and queries is not None:
        weights = edit(role, weights)
    if collected is not None and queries is not None:
        collected[role] = queries(), keys()
    if maps is not None:
        if role in maps:
            problem = f"role {role!r} was emitted twice under one tap"
            raise ValueError(f"{problem}: give each attention layer a role of its own")
        maps[role] = weights
    return weights
