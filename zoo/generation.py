"""From ids of many sentences to batches of few shapes, and from what a search found back to text."""

import numpy as np

from zoo.decoding.beam import beam_search
from zoo.decoding.greedy import greedy
from zoo.decoding.protocol import check_number, check_whole
from zoo.decoding.sample import sample
from zoo.ids import PAD, UNK
from zoo.inspection.alignment import words_of
from zoo.widths import SEARCH_WIDTHS, width_for

_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "typical", "seed")


def row_batches(rows, limit=None, batch_tokens=4096, room=None):
    """Yields (members, source (B, W)): rows of similar length together, in few widths W and few heights B.

    Args:
        rows: lists of ids, EOS included; an empty one is left out.
        limit: the longest that the model takes, and the widest that a batch gets, or None.
        batch_tokens: B x W of a full batch, at most.
        room: function(row length, width) -> what all rows of a batch must have in common; None: nothing, and a few rows
            of any lengths are one batch.
    """
    groups, longest = {}, max(map(len, rows), default=0)
    together = room is None and len(rows) * width_for(longest, SEARCH_WIDTHS) <= batch_tokens
    for i in sorted((i for i, row in enumerate(rows) if row), key=lambda i: len(rows[i])):
        width = min(width_for(longest if together else len(rows[i]), SEARCH_WIDTHS), limit or np.inf)
        groups.setdefault((width, room(len(rows[i]), width) if room else None), []).append(i)
    for (width, _), members in groups.items():
        most = 1 << max(batch_tokens // width, 1).bit_length() - 1
        start = 0
        while start < len(members):
            height = _height(len(members) - start, most)
            chosen = members[start : start + height]
            source = np.full((height, width), PAD, "int32")  # the searches skip empty rows
            for row, i in enumerate(chosen):
                source[row, : len(rows[i])] = rows[i]
            yield chosen, source
            start += height


def _height(count, most):
    """Rows of the next batch for `count` sentences: 1, 4, 16, ... or `most`, so few shapes; at least half are used."""
    height = 1
    while height < min(count, most):
        height *= 4
    if 2 * count <= height > 4:
        height //= 4
    return min(height, most)


def search(model, source, beams=1, prefix=None, with_attention=False, **options):
    """One output for each source: sampled, by beam search or greedily, as the options ask.

    Args:
        beams: of a beam search.
        prefix: lists of ids that outputs begin with, or None.
        with_attention: whether the mean attention of the outputs is wanted.
        options: of `zoo.sample` where one of its own is among them, else of `zoo.beam_search`, and "max_length";
            "must_include" is one list of phrases, "seed" one number, for all.
    Returns:
        Hypotheses with N = 1.
    Raises:
        ValueError: options that do not go together.
    """
    max_length = options.pop("max_length", None)
    for name in ("n_best", "return_attention", "samples"):
        if name in options:
            raise TypeError(f"{name} is no option here, where a text has one output: use zoo.beam_search or zoo.sample")
    beams, phrases = check_whole("beams", beams, 1), options.pop("must_include", None)
    if phrases is not None:
        options["must_include"] = [phrases] * len(source)
    if "seed" in options:  # the same for each: an output depends on its text alone
        options["seed"] = np.full(len(source), check_whole("seed", options["seed"], 0))
    sampling = [name for name in _SAMPLING if name in options]
    if sampling:
        others = [name for name in options if name not in _SAMPLING]
        if beams > 1 or prefix is not None or with_attention or others:
            raise ValueError(
                f"{', '.join(sampling)} sample: they do not go with beams or with what only beam_search has"
            )
        return sample(model, source, max_length, **options)
    check_number("length_penalty", options.get("length_penalty", 0.0))
    if beams == 1 and prefix is None and not with_attention and set(options) <= {"length_penalty"}:
        return greedy(model, source, max_length)
    if prefix is not None:
        width = max(1, *map(len, prefix))
        filled = np.full((len(source), width), PAD, "int32")
        for row, ids in zip(filled, prefix, strict=False):
            row[: len(ids)] = ids
        prefix = filled
    options = {**options, "beams": beams, "n_best": 1, "prefix": prefix, "return_attention": with_attention}
    return beam_search(model, source, max_length=max_length, **options)


def replace_unknown(ids, attention, source, source_tokenizer, target_tokenizer, dictionary):
    """The text of an output, with a source word in the place of each UNK: the one with the most attention.

    Luong et al. 2015b; the word itself, or the dictionary's entry for it.

    Args:
        ids: of the output, (T,).
        attention: (T, S or more).
        source: ids of the source, (S,), as the model read them.
        source_tokenizer, target_tokenizer: of the two sides.
        dictionary: {source word: target word}.
    """
    order = np.arange(len(source))[:: -1 if source_tokenizer.reverse else 1]  # in the text's order
    source, attention = np.asarray(source)[order], attention[:, order]
    words, parts, known = np.array(words_of(source_tokenizer.pieces(source))), [], []
    spelled = source_tokenizer.forwards()
    for token, row in zip(ids, attention, strict=True):
        if token != UNK or (words < 0).all():
            known.append(token)
            continue
        word = words[np.where(words >= 0, row, -1).argmax()]
        text = spelled.decode([source[words == word]])[0].strip()
        parts += [*target_tokenizer.decode([known]), dictionary.get(text, text)]
        known = []
    parts += target_tokenizer.decode([known])
    return " ".join(part for part in parts if part)
