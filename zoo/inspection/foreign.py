"""Looking into Keras models that are not the zoo's: the tap for Keras's and KerasHub's own attention layers."""

import contextlib
import math
import types

import numpy as np
from keras import layers, ops

from zoo.layers.tap import emit


@contextlib.contextmanager
def tapped(model):
    """While it is open, Keras's attention layers inside a model hand their weights to the open tap.

    `keras.layers.MultiHeadAttention`, `GroupQueryAttention`, `Attention`, `AdditiveAttention` and what is made of them,
    such as KerasHub's Transformer blocks. They get methods of their own on the object and lose them again: class,
    weights and outputs of the model stay as they are. The model has to run eagerly.

    A layer's role is "decoder/<n>/cross" where queries and values differ, else "decoder/<n>/self" where no position
    sees a later one, else "encoder/<n>/self"; n counts the layers of a kind in the order in which they run.
    """
    counts, changed = {}, []

    def hand_over(weights, crossing):
        weights = ops.cast(weights, "float32")
        if len(weights.shape) == 3:  # one head
            weights = weights[:, None]
        elif len(weights.shape) > 4:  # over several axes, as in images: each side becomes one row of positions
            batch, heads, *rest = weights.shape
            weights = ops.reshape(weights, (batch, heads, math.prod(rest[: len(rest) // 2]), -1))
        kind = ("decoder", "cross") if crossing else (_side(weights), "self")
        counts[kind] = counts.get(kind, -1) + 1
        emit(f"{kind[0]}/{counts[kind]}/{kind[1]}", weights)

    try:
        for layer in model._flatten_layers():
            for classes, methods in _KINDS:
                if isinstance(layer, classes):
                    for name, method in methods(layer, hand_over).items():
                        changed.append((layer, name))
                        # Past Keras's tracking: what is set here is no part of the model.
                        object.__setattr__(layer, name, types.MethodType(method, layer))
        yield
    finally:
        for layer, name in changed:
            object.__delattr__(layer, name)


def _multi_head(layer, hand_over):
    """Methods for layers with several heads, whose weights come out where `call` asks for them."""
    call, attend, crossing = layer.call, layer._compute_attention, []

    def noting_call(self, query, value, *args, **kwargs):
        crossing.append(_differ(query, value))
        return call(query, value, *args, **kwargs)

    def explicit(self, query, key, value, attention_mask=None, training=None, *_, **kwargs):
        flash, kwargs = self._flash_attention, {k: v for k, v in kwargs.items() if k != "return_attention_scores"}
        if isinstance(self, layers.MultiHeadAttention):
            kwargs["return_attention_scores"] = True
        else:
            self._return_attention_scores = True  # which `call` sets anew each time
        self._flash_attention = None  # the kernels keep their weights
        try:
            found = attend(query, key, value, attention_mask=attention_mask, training=training, **kwargs)
        finally:
            self._flash_attention = flash
        hand_over(found[1], crossing.pop())
        return found

    return {"call": noting_call, "_compute_attention": explicit}


def _single(layer, hand_over):
    """Methods for layers with one head, which always make their weights."""
    call, apply, crossing = layer.call, layer._apply_scores, []

    def noting_call(self, inputs, *args, **kwargs):
        crossing.append(_differ(inputs[0], inputs[1]))
        return call(inputs, *args, **kwargs)

    def handing_apply(self, *args, **kwargs):
        found = apply(*args, **kwargs)
        hand_over(found[1], crossing.pop())
        return found

    return {"call": noting_call, "_apply_scores": handing_apply}


_KINDS = (
    ((layers.MultiHeadAttention, layers.GroupQueryAttention), _multi_head),
    ((layers.Attention,), _single),  # AdditiveAttention is one too
)


def _differ(query, value):
    """Whether they are two things; a layer's cast to its compute type makes two objects of one."""
    if query is value:
        return False
    return query.shape != value.shape or not np.array_equal(*map(ops.convert_to_numpy, (query, value)))


def _side(weights):
    weights = ops.convert_to_numpy(weights)
    causal = weights.shape[-1] > 1 and not np.triu(weights, 1).any()
    return "decoder" if causal else "encoder"
