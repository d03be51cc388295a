"""What tokens and heads are worth to the output, beside how much attention they get: attention is no attribution."""

import keras
import numpy as np
from keras import ops

from zoo.decoding.score import score
from zoo.ids import BOS, PAD, UNK
from zoo.layers.embeddings import scaled
from zoo.layers.tap import edited


def occlusion(model, source, targets):
    """What each target token's log-probability loses when one source token is left out.

        d_tj = ln p(y_t | y_<t, x) - ln p(y_t | y_<t, x with x_j = UNK)

    Leave-one-out (Li, Monroe and Jurafsky 2016). The token is replaced, so that the others keep their positions.

    Args:
        model: a model of the zoo that generates.
        source: (B, S) int ids, PAD after the last real token.
        targets: for each row, the ids of its target, EOS included.
    Returns:
        For each row, float32 (T, S): its tokens', without padding. Nats.
    Raises:
        ValueError: a row without source or target.
    """
    found = []
    for row, ids in _pairs(source, targets):
        variants = np.repeat(row[None], len(row) + 1, axis=0)
        np.fill_diagonal(variants[1:], UNK)
        log_probs = score(model, (variants, np.repeat(ids[None], len(variants), axis=0)))
        found.append((log_probs[:1] - log_probs[1:]).T)
    return found


def gradient_times_input(model, source, targets):
    """How each target token's log-probability answers to each source token's embedding: its gradient times itself.

        g_tj = grad_{e_j} ln p(y_t | y_<t, x) . e_j

    Of the embedding as it enters the encoder, before positions (Denil, Demiraj and de Freitas 2014). To first order,
    what is lost when the embedding is scaled down to 0.

    Args, Returns: see `occlusion`.
    """
    found = []
    for row, ids in _pairs(source, targets):
        count = len(ids)  # one copy of the pair for each target token, so that one backward pass serves all
        inputs = {"source": np.repeat(row[None], count, axis=0)}
        inputs["target"] = np.repeat(np.concatenate([[BOS], ids[:-1]]).astype("int32")[None], count, axis=0)

        def objective(scales, inputs=inputs, ids=ids, count=count):
            with scaled(scales):
                logits = model(inputs, training=False)
            own = ops.log_softmax(logits, axis=-1) * ops.one_hot(ids, logits.shape[-1])[None]
            return ops.sum(ops.sum(own, axis=-1) * ops.eye(count))

        found.append(_gradient(objective, np.ones((count, len(row)), "float32")))
    return found


def _pairs(source, targets):
    """Each row's real tokens and its target's ids."""
    for number, (row, ids) in enumerate(zip(np.asarray(source), targets, strict=True), start=1):
        row = row[: int((row != PAD).sum())]
        if not len(row) or not len(ids):
            raise ValueError(f"row {number} has no source or no target: there is nothing to explain")
        yield row, np.asarray(ids, "int32")


def _gradient(function, x):
    """The gradient of a scalar function of a tensor; Keras has none of its own for all backends."""
    if keras.backend.backend() == "jax":
        import jax

        return np.asarray(jax.grad(function)(x))
    import tensorflow as tf

    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = function(x)
    return tape.gradient(value, x).numpy()


def head_ablation(model, inputs):
    """How much the target's log-probability loses when one head attends to nothing: {role: float32 (B, H)}, nats.

    The head's weights are set to 0 (Michel, Levy and Neubig 2019), so that its part of the output projection's input is
    0. Positive: the head was of use.

    Args:
        model: a model of the zoo with multi-head attention that generates.
        inputs: {"source": (B, S), "target": (B, T)}; target starts with BOS, and the token after its last real one is
            not judged.
    Raises:
        ValueError: a model without heads that can be taken out; the one of a recurrent decoder cannot.
    """
    heads = {}
    if not hasattr(model, "step"):
        raise ValueError(f"{model.name} writes nothing: there is no target whose probability could change")

    def note(role, weights):
        heads[role] = weights.shape[1]
        return weights

    with edited(note):
        whole = _log_prob(model, inputs)
    if not heads:
        raise ValueError(f"{model.name} has no heads that can be taken out: this needs multi-head attention")
    rows, lost = len(whole), {}
    for role, count in heads.items():
        keep = np.tile(1 - np.eye(count, dtype="float32"), (rows, 1))[:, :, None, None]

        def mute(which, weights, role=role, keep=keep):
            return weights * keep if which == role else weights

        repeated = {name: np.repeat(np.asarray(ids), count, axis=0) for name, ids in inputs.items()}
        with edited(mute):
            lost[role] = whole[:, None] - _log_prob(model, repeated).reshape(rows, count)
    return lost


def _log_prob(model, inputs):
    """ln p of each row's target, from its second token on (B,)."""
    following = np.asarray(inputs["target"])[:, 1:]
    log_probs = ops.log_softmax(model(inputs, training=False)[:, :-1], axis=-1)
    own = ops.convert_to_numpy(ops.take_along_axis(log_probs, following[..., None], axis=-1))[..., 0]
    return (own * (following != PAD)).sum(axis=1)


def correlation(weights, worth):
    """How far attention goes along with what tokens are worth: Spearman's rank correlation, mean over rows.

    Jain and Wallace 2019 and Serrano and Smith 2019 found it low, which is why it stands beside the pictures.

    Args:
        weights: (..., T, S) attention, such as (L, H, T, S).
        worth: (T, S), of `occlusion` or `gradient_times_input`.
    Returns:
        float64 (...), -1 to 1; rows that are all alike on one side count as 0.
    """
    from scipy.stats import rankdata

    ranks, other = (rankdata(np.round(x, 6), axis=-1) for x in (np.asarray(weights), np.asarray(worth)))
    ranks, other = (x - x.mean(axis=-1, keepdims=True) for x in (ranks, other))
    size = np.sqrt((ranks**2).sum(-1) * (other**2).sum(-1))
    return ((ranks * other).sum(-1) / np.where(size > 0, size, 1)).mean(axis=-1)
