"""From a sentence's attention to the record that the viewer shows, and the numbers beside it."""

import numpy as np

from zoo.inspection.alignment import READINGS, alignment_error_rate, word_attention, words_of
from zoo.inspection.faithfulness import correlation
from zoo.tensorboard.record import METRICS, Kind, Record, statistics

MOST_TOKENS, MOST_HEADS = 128, 16


def record_of(view, title=None, gold=None, max_length=MOST_TOKENS, max_heads=MOST_HEADS, notes=()):
    """An `AttentionView` as a record.

    Args:
        view: AttentionView.
        title: default the source and the target as text.
        gold: a gold word alignment, an object with `sure` and `possible`, or None.
        max_length: tokens of an axis that are kept, from the first.
        max_heads: heads of a layer that are kept, from the first.
        notes: lines to be shown.
    Returns:
        Record; its notes also say what was cut.
    Raises:
        ValueError: another number of tokens than of rows or columns.
    """
    notes, kinds, tokens = [*notes], [], {}
    for name, roles in _by_kind(view.maps).items():
        rows, columns = view.axes(roles[0])
        if view.maps[roles[0]].shape[1:] != (len(rows), len(columns)):
            raise ValueError(
                f"{roles[0]} has {view.maps[roles[0]].shape[1:]} rows and columns for {len(rows)} and {len(columns)} "
                "tokens: give a token for each position, and no padding"
            )
        axes = _axes(name)
        for axis, words in zip(axes, (rows, columns), strict=True):
            tokens[axis] = [str(token) for token in words[:max_length]]
            if len(words) > max_length:
                notes.append(f"{axis}: {max_length} of {len(words)} tokens are kept")
        heads = len(view.maps[roles[0]])  # layers of a kind have one shape
        if heads > max_heads:
            notes.append(f"{name}: {max_heads} of {heads} heads are kept")

        def stack(arrays, *limits):
            return np.stack([np.asarray(x, "float32")[tuple(slice(n) for n in (max_heads, *limits))] for x in arrays])

        weights = stack([view.maps[role] for role in roles], max_length, max_length)
        if np.isnan(weights).any():
            notes.append(f"{name}: there are weights that are not a number; they are shown as 0")
        vectors = (None, None)
        if all(role in view.vectors for role in roles):
            vectors = (stack([view.vectors[role][i] for role in roles], max_length) for i in (0, 1))
        kinds.append(Kind(name, *axes, tuple(roles), weights, *vectors))
    correlations = {}
    if view.occlusion is not None:
        worth = view.occlusion[:max_length, :max_length]
        correlations = {kind.name: correlation(kind.weights, worth) for kind in kinds if kind.name == "cross"}
    return Record(
        title=title or f"{_sentence(view.source_tokens)} → {view.text}".strip(" →"),
        tokens=tokens,
        kinds=tuple(kinds),
        gold=None
        if gold is None or "cross" not in [kind.name for kind in kinds]
        else _gold_cells(view, gold, max_length),
        occlusion=None if view.occlusion is None else view.occlusion[:max_length, :max_length],
        correlation=correlations,
        notes=tuple(dict.fromkeys(notes)),
    )


def record_statistics(record, view, gold=None):
    """Every head's numbers (see `zoo.tensorboard.record.METRICS`): float32 (kinds, L, H, metrics), NaN where none is.

    The last two are the alignment error rates of "cross" against a gold alignment, with a row taken for the word that
    is predicted from it, and for the word just read.
    """
    layers = max(len(kind.layers) for kind in record.kinds)
    heads = max(kind.weights.shape[1] for kind in record.kinds)
    values = np.full((len(record.kinds), layers, heads, len(METRICS)), np.nan, "float32")
    for k, kind in enumerate(record.kinds):
        found = statistics(kind)
        values[k, : found.shape[0], : found.shape[1], : found.shape[2]] = found
        if kind.name == "cross" and gold is not None:
            for i, role in enumerate(kind.layers):
                for head in range(kind.weights.shape[1]):
                    for r, reading in enumerate(READINGS):
                        links = word_attention(view, role, head, reading).links()
                        values[k, i, head, r - len(READINGS)] = alignment_error_rate([links], [gold])
    return values


def _gold_cells(view, gold, max_length=MOST_TOKENS):
    """The (target piece, source piece) cells of the words that an alignment links surely."""
    sources, targets = words_of(view.source_tokens), words_of(view.target_tokens)
    sure = set(map(tuple, gold.sure))
    return tuple(
        (t, s)
        for t, target in enumerate(targets[:max_length])
        for s, source in enumerate(sources[:max_length])
        if (source, target) in sure
    )


def _by_kind(maps):
    """{kind: roles}, layers in order; layers of one kind whose maps differ in shape become kinds of their own."""
    kinds = {}
    for role, weights in maps.items():
        side, _, kind = role.split("/")
        name = kind if kind == "cross" else side
        same = [k for k in kinds if k.split()[0] == name]
        fitting = [k for k in same if maps[kinds[k][0]].shape == weights.shape]
        kinds.setdefault(fitting[0] if fitting else f"{name} {len(same) + 1}" if same else name, []).append(role)
    return kinds


def _axes(name):
    """Names of the axes; kinds that share tokens share them."""
    if name.startswith("cross"):
        base = ("target", "source")
    elif name.startswith("encoder"):
        base = ("source", "source")
    else:
        base = ("read", "read")
    return base if " " not in name else tuple(f"{axis} {name.split()[1]}" for axis in base)


def _sentence(tokens):
    return "".join(token for token in tokens if token not in ("<s>", "</s>", "<pad>")).replace("▁", " ").strip()
