"""The bookkeeping of a beam search: continuations, finished hypotheses, and the order among them."""

import keras
import numpy as np
from keras import ops

from zoo.ids import EOS, PAD

UNFINISHED = 1e4  # what the score of an output without EOS loses, so that it comes after all that have one
_LEAST_COVERED = 1e-6  # of a source position, so that its logarithm is finite


def penalty(length, alpha):
    """((5 + n) / 6)^alpha."""
    return ((5.0 + ops.cast(length, "float32")) / 6.0) ** alpha


def gather(tree, index):
    """Picks along the second axis of every leaf: leaves (B, M, ...), index (B, N) -> (B, N, ...)."""

    def pick(leaf):
        return ops.take_along_axis(leaf, ops.reshape(index, (*ops.shape(index), *[1] * (len(leaf.shape) - 2))), axis=1)

    return keras.tree.map_structure(pick, tree)


def best(tree, scores, count):
    """The `count` best of M: ({name: (B, M, ...)}, (B, M)) -> ({name: (B, count, ...)}, (B, count)), best first."""
    scores, index = ops.top_k(scores, count)
    return gather(tree, index), scores


def write(rows, index, column):
    """Puts a column (B, M) at a position of rows (B, M, L)."""
    return ops.slice_update(rows, (0, 0, index), ops.expand_dims(ops.cast(column, rows.dtype), 2))


def candidates(choices, log_probs, options, diversity):
    """The 2K likeliest continuations of each group's K beams, EOS or not.

    Of K beams no more than K continuations are EOS, so K others are always among them.

    Returns:
        {"parent", "token", "log_probs", "finishing"} (B, M), M = 2K for each group; "live" (B, K), which of the M stay
        alive, and "live_log_probs".
    """
    vocabulary, each = choices.shape[-1], options.beams // options.groups
    count = min(2 * each, each * vocabulary)
    totals = log_probs[:, :, None] + choices
    used, parts = ops.zeros_like(choices[:, 0]), []
    for group in range(options.groups):
        total = totals[:, group * each : (group + 1) * each]
        flat = ops.reshape(total, (-1, each * vocabulary))
        ranked = total - diversity * used[:, None] if options.groups > 1 else total
        scores, place = ops.top_k(ops.reshape(ranked, (-1, each * vocabulary)), count)
        token = place % vocabulary
        ends = ops.equal(token, EOS)
        going, live = ops.top_k(ops.where(ends, -np.inf, scores), each)
        part = {
            "parent": place // vocabulary + group * each,
            "token": token,
            "log_probs": ops.take_along_axis(flat, place, axis=1) if options.groups > 1 else scores,
            "finishing": ops.logical_and(ends, ops.arange(count) < each),
            "live": live + group * count,
        }
        alive = ops.take_along_axis(part["log_probs"], live, axis=1)
        part["live_log_probs"] = ops.where(going == -np.inf, -np.inf, alive)
        if options.groups > 1:
            chosen = ops.one_hot(ops.take_along_axis(token, live, axis=1), vocabulary)
            used = used + ops.sum(chosen * ops.cast(going > -np.inf, chosen.dtype)[:, :, None], axis=1)
        parts.append(part)
    return {name: ops.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}


def keep(state, chosen, ahead, index, source, alpha, beta, options):
    """The best N of those kept so far and those that finish now."""
    scores = chosen["log_probs"] / penalty(index + 1, alpha)
    if options.covering:
        covered = ops.log(ops.clip(chosen["covered"], _LEAST_COVERED, 1.0))
        scores = scores + beta * ops.sum(ops.where(ops.not_equal(source, PAD)[:, None], covered, 0.0), axis=-1)
    counting = ops.logical_and(
        ahead["finishing"], ops.logical_not(state["done"])[:, None]
    )  # a row that is done is done
    scores = ops.where(counting, scores, -np.inf)
    if options.groups > 1:
        scores = _distinct(chosen["tokens"], scores, state["kept"]["tokens"], state["scores"])
    new = {name: chosen[name] for name in ("tokens", "path", "log_probs")}
    new["lengths"] = ops.full_like(chosen["parent"], index + 1)
    both = keras.tree.map_structure(
        lambda old, now: ops.concatenate([old, ops.cast(now, old.dtype)], axis=1), state["kept"], new
    )
    return best(both, ops.concatenate([state["scores"], scores], axis=1), options.n_best)


def _distinct(tokens, scores, kept_tokens, kept_scores):
    """Scores (B, M), -inf where a row of tokens (B, M, L) is among those kept or before it: groups may write alike."""
    count, before = tokens.shape[1], kept_tokens.shape[1]
    written = ops.concatenate([kept_tokens, tokens], axis=1)
    same = ops.all(ops.equal(tokens[:, :, None], written[:, None]), axis=-1)
    earlier = ops.arange(before + count) < before + ops.arange(count)[:, None]
    valid = ops.concatenate([kept_scores, scores], axis=1)[:, None] > -np.inf
    return ops.where(ops.any(same & earlier & valid, axis=-1), -np.inf, scores)


def finish(state, options, alpha, beta, empty, phrases):
    """N hypotheses: finished ones first, then live ones where fewer finished."""
    live, kept, rows = state["live"], state["kept"], ops.shape(empty)[0]
    unfinished = {name: live[name] for name in ("tokens", "path", "log_probs")}
    unfinished["lengths"] = ops.full_like(live["tokens"][:, :, 0], 0) + state["index"]
    places = ops.shape(live["covered"])[2] if options.covering else 0
    loss = UNFINISHED - beta * np.log(_LEAST_COVERED) * ops.cast(places, "float32")
    if phrases is not None:
        loss = loss * (1.0 + ops.sum(ops.cast(ops.logical_not(live["met"]), "float32"), axis=2))
    scores = ops.where(empty[:, None], -np.inf, live["log_probs"] / penalty(state["index"], alpha) - loss)
    if options.groups > 1:
        scores = _distinct(live["tokens"], scores, kept["tokens"], state["scores"])
    scores = ops.concatenate([state["scores"], scores], axis=1)
    both = keras.tree.map_structure(lambda *parts: ops.concatenate(parts, axis=1), kept, unfinished)
    both["finished"] = ops.broadcast_to(ops.arange(scores.shape[1]) < options.n_best, ops.shape(scores))
    found, scores = best(both, scores, options.n_best)
    found["scores"] = scores
    nothing = ops.logical_or(found["scores"] == -np.inf, empty[:, None])
    found["tokens"] = ops.where(nothing[:, :, None], PAD, found["tokens"])
    found["lengths"] = ops.where(nothing, 0, found["lengths"])
    found["finished"] = ops.logical_and(found["finished"], found["scores"] > -np.inf)
    path = found.pop("path")
    if options.attention:
        attention, steps = state["attention"], path.shape[2]
        flat = ops.reshape(attention, (rows, options.beams * steps, *ops.shape(attention)[3:]))
        slots = ops.reshape(path * steps + ops.arange(steps), (rows, -1))
        picked = ops.reshape(gather(flat, slots), (rows, options.n_best, steps, *ops.shape(attention)[3:]))
        real = ops.arange(steps) < found["lengths"][:, :, None]
        found["attention"] = ops.transpose(ops.where(real[..., None, None], picked, 0.0), (0, 1, 3, 2, 4))
    return {**found, "nan_step": state["nan_step"]}
