"""From text pairs to batches: tokenised, bucketed by length, padded to a few static widths, weighted by real tokens."""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from zoo.ids import BOS, EOS, PAD
from zoo.widths import width_for

_CHUNK = 8192  # sentences tokenised at a time
TOO_LONG = ("drop", "cut")


@dataclass(frozen=True)
class Batches:
    """What `batches` made.

    Attributes:
        dataset: `tf.data.Dataset` of ({"source": (B, W), "target": (B, W)}, labels (B, W), weights (B, W)); one pass is
            one epoch of exactly `steps` batches.
        steps: batches of an epoch.
        pairs: pairs of an epoch.
        dropped, cut: pairs left out, or shortened, because one side was too long.
        widths: the widths W that occur: as many shapes of batch, as many compiled graphs.
    """

    dataset: tf.data.Dataset
    steps: int
    pairs: int
    dropped: int
    cut: int
    widths: tuple


def batches(
    pairs,
    source_tokenizer,
    target_tokenizer,
    batch_tokens=4096,
    max_tokens=None,
    too_long="drop",
    shuffle=None,
    replicas=1,
):
    """Makes batches of text pairs for `fit()` and `evaluate()`.

    A row of labels is `tokens EOS PAD ...`; the target that the model reads is the same row after BOS, one behind; a
    source is `tokens EOS PAD ...`. A batch holds pairs of similar length, its width W is the smallest of `zoo.widths`
    that the longer side fits in (length <= W, EOS counted), and it always has the same number of rows for that width:
    the last batch of a width is filled with empty rows.

    Every real label has the weight 1 / (real labels of the whole batch) and every other 0. With a loss that sums (such
    as `TokenCrossEntropy`) this is the mean over real tokens however the batch is split over replicas, where the mean
    of replicas' means is not.

    Args:
        pairs: sequence of (source, target) str.
        source_tokenizer, target_tokenizer: `Tokenizer` objects.
        batch_tokens: rows x width of a batch, for each side; rounded down to whole rows.
        max_tokens: longest side that is taken whole, EOS counted; None takes all (the right choice for dev and test).
        too_long: what happens past `max_tokens`: "drop" leaves the pair out, "cut" keeps the first max_tokens - 1
            tokens and the EOS. Both are counted.
        shuffle: seed of the order, which is another one each epoch; None keeps one order, by width.
        replicas: rows of a batch are a multiple of it.
    Returns:
        Batches.
    Raises:
        ValueError: no pairs (left), or values out of range.
    """
    if too_long not in TOO_LONG:
        raise ValueError(f"too_long={too_long!r}: must be one of {', '.join(map(repr, TOO_LONG))}")
    if max_tokens is not None and max_tokens < 2:
        raise ValueError(f"max_tokens={max_tokens}: must be at least 2, a token and the EOS")
    for name, value in (("batch_tokens", batch_tokens), ("replicas", replicas)):
        if value < 1:
            raise ValueError(f"{name}={value}: must be at least 1")
    for i, pair in enumerate(pairs):
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"pair {i + 1} is {pair!r}: must be two texts, (source, target)")
    if not len(pairs):
        raise ValueError("there are no pairs to make batches of")
    sides = [
        _tokenize([pair[i] for pair in pairs], tokenizer)
        for i, tokenizer in enumerate((source_tokenizer, target_tokenizer))
    ]
    lengths = np.maximum(*(side.row_lengths().numpy() for side in sides)) + 1
    keep, dropped, cut = np.arange(len(pairs)), 0, 0
    over = lengths > (max_tokens or np.inf)
    if over.any() and too_long == "drop":
        keep, dropped = keep[~over], int(over.sum())
    elif over.any():
        sides, cut = [side[:, : max_tokens - 1] for side in sides], int(over.sum())
        lengths = np.minimum(lengths, max_tokens)
    if not len(keep):
        raise ValueError(f"all {dropped} pairs are longer than max_tokens={max_tokens}: raise it or use too_long='cut'")
    buckets = _buckets(lengths, keep)
    rows = {width: max(1, batch_tokens // width // replicas) * replicas for width in buckets}
    steps = {width: -(-len(members) // rows[width]) for width, members in buckets.items()}
    assemble = _Assembler(sides)
    parts = [_part(assemble, members, width, rows[width], shuffle) for width, members in buckets.items()]
    if shuffle is None:
        dataset = parts[0]
        for part in parts[1:]:
            dataset = dataset.concatenate(part)
    else:
        shares = [float(count) for count in steps.values()]
        dataset = tf.data.Dataset.sample_from_datasets(
            parts, [share / sum(shares) for share in shares], seed=shuffle, rerandomize_each_iteration=True
        )
    total = sum(steps.values())
    dataset = dataset.apply(tf.data.experimental.assert_cardinality(total)).prefetch(tf.data.AUTOTUNE)
    return Batches(dataset, total, len(keep), dropped, cut, tuple(buckets))


def _tokenize(texts, tokenizer):
    """A list of str -> ragged int32 ids (N, None), without specials."""
    prepared = tf.data.Dataset.from_tensor_slices([tokenizer.prepare(text) for text in texts]).batch(_CHUNK)
    return tf.concat(list(prepared.map(tokenizer.in_graph(), num_parallel_calls=tf.data.AUTOTUNE)), axis=0)


def _buckets(lengths, keep):
    """{width: indices of the pairs that get it}, narrow first."""
    unique, inverse = np.unique(lengths[keep], return_inverse=True)
    widths = np.array([width_for(int(length)) for length in unique])[inverse]
    return {int(width): keep[widths == width] for width in np.unique(widths)}


def _part(assemble, members, width, rows, shuffle):
    """The batches of one width."""
    part = tf.data.Dataset.from_tensor_slices(members)
    if shuffle is not None:
        part = part.shuffle(len(members), seed=shuffle, reshuffle_each_iteration=True)
    return part.batch(rows).map(lambda index: assemble(index, width, rows), num_parallel_calls=tf.data.AUTOTUNE)


class _Assembler:
    """Gathers the pairs of a batch in one operation for each side."""

    def __init__(self, sides):
        count = sides[0].nrows()
        eos = tf.fill([count, 1], tf.constant(EOS, "int32"))
        empty = tf.ragged.constant([[]], dtype="int32", row_splits_dtype=sides[0].row_splits.dtype)
        # Row `count` is the empty one, with which short batches are filled.
        self.source, self.target = (
            tf.concat([tf.concat([tf.cast(side, "int32"), eos], axis=1), empty], axis=0) for side in sides
        )
        self.empty = count

    def __call__(self, index, width, rows):
        missing = tf.fill([rows - tf.shape(index)[0]], tf.cast(self.empty, index.dtype))
        index = tf.ensure_shape(tf.concat([index, missing], axis=0), (rows,))
        source, labels = (
            tf.gather(side, index).to_tensor(default_value=PAD, shape=(rows, width))
            for side in (self.source, self.target)
        )
        target = tf.concat([tf.fill([rows, 1], BOS), labels[:, :-1]], axis=1)
        real = tf.cast(labels != PAD, "float32")
        return {"source": source, "target": target}, labels, real / tf.reduce_sum(real)
