"""How one sentence's attention is kept: a header, and a compressed block of bytes for each kind of attention.

A weight w is kept as the byte round(255 sqrt(w)): small weights, which are most, keep their relative size, and a row's
sum stays within 0.02 of 1. A map lies column by column, because what attends to one token is more alike than what one
token attends to: 8 per cent smaller. NumPy alone: TensorBoard's process reads this without Keras.
"""

import gzip
import json
from dataclasses import dataclass, field

import numpy as np

VERSION = 1
PLUGIN = "attention"
METRICS = ("entropy", "sharpness", "distance", "first", "aer", "aer_read")
# What a damaged or hostile file may ask for: bytes of one block once unpacked, and pictures of heads on a page.
_LARGEST, _MOST_HEADS = 1 << 28, 4096
_DIGITS = 4


@dataclass(frozen=True)
class Kind:
    """One kind of attention over all its layers.

    Attributes:
        name: "encoder", "decoder" or "cross".
        rows, columns: which of the record's `tokens` attend, and which are attended to.
        layers: the layers' roles, such as "decoder/0/cross".
        weights: float32 (L, H, rows, columns).
        queries, keys: float32 (L, H, rows, d) and (L, H, columns, d), or None where they were not asked for.
    """

    name: str
    rows: str
    columns: str
    layers: tuple
    weights: np.ndarray
    queries: np.ndarray | None = None
    keys: np.ndarray | None = None


@dataclass(frozen=True)
class Record:
    """One sentence's attention.

    Attributes:
        title: what it is called in a list.
        tokens: {axis: tokens}, the axes that the kinds name.
        kinds: the kinds of attention that the model has.
        gold: (row, column) cells of the kind "cross" that a gold word alignment links, or None where none is known.
        occlusion: (rows, columns) of "cross": what each target token's log-probability loses without each source token,
            or None; with it `correlation`, {kind: (L, H)}, how far each head's weights go along with it.
        notes: lines to be shown, such as what was cut.
    """

    title: str
    tokens: dict
    kinds: tuple
    gold: tuple | None = None
    occlusion: np.ndarray | None = None
    correlation: dict = field(default_factory=dict)
    notes: tuple = ()


def pack(record):
    """A record as bytes: [header as JSON, then for each kind gzip(uint8 (L, H, S, T)) and, if there, queries and keys].

    Queries and keys are float16, compressed too, in the order that the header's "blocks" name.
    """
    kinds, blocks, names = [], [], []
    for kind in record.kinds:
        entry = {"name": kind.name, "rows": kind.rows, "columns": kind.columns, "layers": list(kind.layers)}
        kinds.append({**entry, "shape": list(kind.weights.shape)})
        blocks.append(np.rint(255 * np.sqrt(np.clip(np.nan_to_num(kind.weights), 0, 1))).astype("uint8").swapaxes(2, 3))
        names.append([kind.name, "weights", "uint8", list(kind.weights.shape)])
        if kind.queries is not None:
            for which in ("queries", "keys"):
                vectors = getattr(kind, which)
                blocks.append(vectors.astype("<f2"))
                names.append([kind.name, which, "float16", list(vectors.shape)])
    header = {"version": VERSION, "title": record.title, "tokens": record.tokens, "kinds": kinds, "blocks": names}
    header["gold"] = None if record.gold is None else [list(cell) for cell in record.gold]
    header["notes"] = list(record.notes)
    if record.occlusion is not None:
        header["occlusion"] = np.round(record.occlusion.astype("float64"), 4).tolist()
        header["correlation"] = {
            name: np.round(r.astype("float64"), 4).tolist() for name, r in record.correlation.items()
        }
    return [json.dumps(header).encode(), *(gzip.compress(block.tobytes(), 5, mtime=0) for block in blocks)]


def read_header(data):
    """The header that `pack` wrote, checked, because the file may come from anywhere.

    Raises:
        ValueError: data that is no such header, or of a newer version.
    """
    try:
        header = json.loads(data)
        version = header["version"]
        if version != VERSION:
            raise ValueError(f"format {version} is not known: update attention-zoo")
        for name, _, dtype, shape in header["blocks"]:
            count = np.prod([int(size) for size in shape], dtype=object)
            if not isinstance(name, str) or len(shape) != 4 or count < 0:
                raise ValueError("a block has no shape")
            if count * np.dtype(dtype).itemsize > _LARGEST or int(shape[0]) * int(shape[1]) > _MOST_HEADS:
                raise ValueError(f"a block of shape {shape} is too large")
        axes = {axis: list(map(str, tokens)) for axis, tokens in header["tokens"].items()}
        shapes = {name: shape for name, which, _, shape in header["blocks"] if which == "weights"}
        for kind in header["kinds"]:
            _, _, rows, columns = shapes[kind["name"]]
            if kind["shape"] != shapes[kind["name"]]:
                raise ValueError(f"{kind['name']} has two shapes")
            if rows != len(axes[kind["rows"]]) or columns != len(axes[kind["columns"]]):
                raise ValueError(f"{kind['name']} has another shape than its tokens")
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"this is no attention record: {error}") from None
    return header


def unpack(blobs):
    """The record that `pack` made bytes of, its weights as the bytes say.

    Raises:
        ValueError: blobs that are damaged.
    """
    header = read_header(blobs[0])
    arrays = {}
    for (kind, which, dtype, shape), blob in zip(header["blocks"], blobs[1:], strict=True):
        arrays[kind, which] = _array(blob, dtype, shape)
    kinds = []
    for entry in header["kinds"]:
        name = entry["name"]
        layers, heads, rows, columns = entry["shape"]
        kept = arrays[name, "weights"].reshape(layers, heads, columns, rows).swapaxes(2, 3)
        weights = np.square(kept.astype("float32") / 255)
        vectors = (arrays.get((name, which)) for which in ("queries", "keys"))
        kinds.append(Kind(name, entry["rows"], entry["columns"], tuple(entry["layers"]), weights, *vectors))
    return Record(
        title=header["title"],
        tokens=header["tokens"],
        kinds=tuple(kinds),
        gold=None if header["gold"] is None else tuple(map(tuple, header["gold"])),
        occlusion=np.array(header["occlusion"]) if "occlusion" in header else None,
        correlation={name: np.array(r) for name, r in header.get("correlation", {}).items()},
        notes=tuple(header["notes"]),
    )


def _array(blob, dtype, shape):
    try:
        data = gzip.decompress(blob)
        return np.frombuffer(data, np.dtype(dtype).newbyteorder("<")).reshape(shape)
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"an attention block is damaged: {error}") from None


def statistics(kind):
    """What a head's rows are like, from the weights as floats: float32 (L, H, 4), the first four of `METRICS`.

        entropy = -sum_j w_ij ln w_ij   (nats)          sharpness = max_j w_ij
        distance = sum_j w_ij |j - i (S - 1) / (T - 1)|   (tokens from the diagonal)          first = w_i0

    Each is the mean over rows that attend to anything; rows are scaled to sum to 1. A head with NaN has NaN.
    """
    weights = kind.weights.astype("float64")
    sums = weights.sum(axis=-1, keepdims=True)
    alive = (sums[..., 0] > 0).astype("float64")
    weights = weights / np.where(sums > 0, sums, 1)
    rows, columns = weights.shape[2:]
    diagonal = np.arange(rows)[:, None] * ((columns - 1) / max(rows - 1, 1))
    values = [
        -(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1),
        weights.max(-1),
        (weights * np.abs(np.arange(columns) - diagonal)).sum(-1),
        weights[..., 0],
    ]
    means = [(value * alive).sum(-1) / np.maximum(alive.sum(-1), 1) for value in values]
    broken = np.isnan(kind.weights).any(axis=(2, 3))[..., None]
    return np.where(broken, np.nan, np.stack(means, axis=-1)).astype("float32")


def series(kinds, metrics, steps):
    """A head's numbers over the steps as the viewer reads them, in JSON's terms.

    Args:
        kinds: names of kinds of attention.
        metrics: names of the numbers.
        steps: [(step, float (kinds, L, H, metrics))], the steps rising.
    Returns:
        {"kinds", "metrics", "steps", "values": steps x kinds x layers x heads x metrics, None where nothing is}.
    """
    rounded = [np.round(np.asarray(values, "float64"), _DIGITS) for _, values in steps]
    values = [np.where(np.isnan(value), None, value).tolist() for value in rounded]
    return {"kinds": kinds, "metrics": metrics, "steps": [int(step) for step, _ in steps], "values": values}
