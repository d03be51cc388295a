"""A model with its tokenizers: text in, text out, and one folder to keep it in."""

import importlib.metadata
import itertools
import json
import warnings
from collections import Counter
from dataclasses import replace

import numpy as np

from zoo.decoding.protocol import check_whole, longest
from zoo.decoding.score import score
from zoo.folders import open_folder, save_folder
from zoo.generation import replace_unknown, row_batches, search
from zoo.ids import BOS, EOS, PAD, UNK
from zoo.inspection.faithfulness import occlusion
from zoo.inspection.maps import cut_maps, cut_vectors, observe
from zoo.inspection.view import AttentionView
from zoo.registry import load_model
from zoo.text.tokenizer import Tokenizer
from zoo.version import VERSION

_MODEL = "model.keras"
_CONFIG = "config.json"


class TextModel:
    """A model and the tokenizers of its two sides.

    Args:
        model: a model of the zoo that generates.
        source_tokenizer: `Tokenizer` of the source.
        target_tokenizer: of the target; None = the same for both, never reversed on this side.
    Raises:
        ValueError: a tokenizer with more pieces than the model's vocabulary of that side, a reversed target, or a model
            that writes nothing.

    Example::

        text = zoo.TextModel(model, tokenizer)
        text.generate(["the cat sat on the mat"])        # ["kedi paspasın üstüne oturdu"]
        text.save("en-tr")
    """

    def __init__(self, model, source_tokenizer, target_tokenizer=None):
        self.model = model
        self.source_tokenizer = source_tokenizer
        if not hasattr(model, "step"):
            raise ValueError(f"{model.name} writes nothing, it has no start and step: a text model needs one that does")
        self.target_tokenizer = target_tokenizer or source_tokenizer.forwards()
        if self.target_tokenizer.reverse:
            raise ValueError(
                "the target tokenizer is reversed: only a source is read backwards, give tokenizer.forwards()"
            )
        for side, tokenizer in (("source", self.source_tokenizer), ("target", self.target_tokenizer)):
            vocabulary = model.vocabulary(side)
            if tokenizer.vocabulary > vocabulary:
                raise ValueError(
                    f"the {side} tokenizer has {tokenizer.vocabulary} pieces but the model {side}_vocab={vocabulary}: "
                    f"build the model with {side}_vocab={tokenizer.vocabulary}"
                )

    def generate(self, texts, *, truncate=False, **options):
        """Translates (or summarises, or answers) texts: N in, N out, in the same order.

        Args:
            texts: iterable of str, a sentence each. A blank one gives "" without running the model.
            truncate, options: see `generate_stream`. With `truncate`, a warning says how many texts were cut.
        Returns:
            A list of str. An output does not depend on what else is in `texts`.
        Raises:
            ValueError, TypeError: see `generate_stream`.

        Example::

            text.generate(["the cat sat on the mat"], beams=4)
        """
        counts = Counter()
        outputs = list(self.generate_stream(texts, truncate=truncate, counts=counts, **options))
        if counts["truncated"]:
            warnings.warn(f"{counts['truncated']} texts were cut to what the model takes", stacklevel=2)
        return outputs

    def generate_stream(
        self,
        texts,
        *,
        chunk=1024,
        batch_tokens=4096,
        first_row=0,
        truncate=False,
        counts=None,
        prefix=None,
        unknown=None,
        **options,
    ):
        """Yields an output for each text, in order, reading `chunk` texts at a time: memory does not grow with them.

        Args:
            texts: iterable of str.
            chunk: texts read before the first of them is written; within them, those of similar length go together.
            batch_tokens: source tokens of a batch, times `beams`, at most.
            first_row: number of texts before these, for the row that an error names.
            truncate: whether a text longer than the model takes is cut, and counted, instead of refused.
            counts: a `collections.Counter` that gets "texts" and "truncated".
            prefix: a text that every output begins with.
            unknown: {} or a dictionary; then an UNK in an output is replaced by the source word with the most
                attention, or by the dictionary's entry for it.
            options: `beams`, `max_length` and what else `zoo.beam_search` takes, `must_include` as a list of words, or
                `temperature`, `top_k`, `top_p`, `min_p`, `typical`, `seed` of `zoo.sample`, one seed for all. Without
                any, the search is greedy.
        Yields:
            str.
        Raises:
            ValueError: a text that is longer than the model can take, named by its row, after the outputs of those
                before it; options that cannot be. TypeError: a str for `texts`, or a text that is none.
        """
        if isinstance(texts, str):
            raise TypeError("texts is a str: give a list of sentences")
        chunk, batch_tokens = check_whole("chunk", chunk, 1), check_whole("batch_tokens", batch_tokens, 1)
        counts, texts, row = Counter() if counts is None else counts, iter(texts), first_row
        while part := list(itertools.islice(texts, chunk)):
            rows, fault = self._encode(part, row, truncate, counts, options.get("max_length"))
            yield from self._generate(rows, batch_tokens, prefix, unknown, options)
            if fault is not None:
                raise fault
            row += len(part)

    def _encode(self, texts, first, truncate, counts, max_length=None):
        """Ids of texts, EOS included and none for blank ones, up to one that is too long; and that one's error."""
        rows, limit = [], self.model.source_limit
        for i, (text, ids) in enumerate(zip(texts, self.source_tokenizer.encode(texts), strict=True)):
            ids = [*ids, EOS] if text.strip() else []
            counts["texts"] += 1
            if limit is not None and len(ids) > limit:
                if not truncate:
                    problem = f"text {first + i + 1} has {len(ids)} tokens: the model takes at most {limit}"
                    return rows, ValueError(f"{problem}, shorten it or truncate")
                counts["truncated"] += 1
                ids = [*ids[: limit - 1], EOS]
            room = self.model.target_limit(len(ids)) if ids and max_length is not None else None
            if room is not None and max_length > room:
                problem = f"text {first + i + 1} has {len(ids)} tokens: after them the model can write {room}"
                return rows, ValueError(f"{problem}, not max_length={max_length}")
            rows.append(ids)
        return rows, None

    def _generate(self, rows, batch_tokens, prefix, unknown, options):
        outputs = [""] * len(rows)
        start = None if prefix is None else self.target_tokenizer.encode([prefix])[0]
        if "must_include" in options:
            options = {**options, "must_include": self.target_tokenizer.encode(options["must_include"])}
        tokens = batch_tokens // check_whole("beams", options.get("beams", 1), 1)

        def room(length, width):
            left, wanted = self.model.target_limit(length), options.get("max_length") or width + 50
            return None if left is None or left >= wanted else left

        for members, source in row_batches(rows, self.model.source_limit, tokens, room):
            starts = None if start is None else [start] * len(source)
            found = search(self.model, source, prefix=starts, with_attention=unknown is not None, **options)
            best = found.tokens[: len(members), 0]
            texts = self.target_tokenizer.decode(best)
            for row, i in enumerate(members):
                outputs[i] = texts[row]
                if unknown is not None and (best[row] == UNK).any():
                    sides = self.source_tokenizer, self.target_tokenizer
                    outputs[i] = replace_unknown(best[row], found.attention[row, 0, 0], rows[i], *sides, unknown)
        return outputs

    def score(self, pairs):
        """How likely the model finds targets: an array of log-probabilities for each pair, a token each, EOS the last.

        Args:
            pairs: sequence of (source, target) str.
        Raises:
            ValueError: a blank source, or one that is longer than the model can take, named by its row.
        """
        targets = [[*row, EOS] for row in self.target_tokenizer.encode([target for _, target in pairs])]
        scores = {}
        for members, source in self._batches([source for source, _ in pairs]):
            outputs = np.full((len(source), max(len(targets[i]) for i in members)), PAD, "int32")
            for row, i in zip(outputs, members, strict=False):
                row[: len(targets[i])] = targets[i]
            limit = self.model.target_limit(longest(source))
            if limit is not None and limit < outputs.shape[1]:  # together they may have no room; each has its own
                found = [score(self.model, (s[None], outputs[n : n + 1, : len(targets[i])]))[0]
                         for n, (s, i) in enumerate(zip(source, members, strict=False))]  # fmt: skip
            else:
                found = score(self.model, (source, outputs))
            scores.update({i: row[: len(targets[i])] for i, row in zip(members, found, strict=False)})
        return [scores[i] for i in range(len(pairs))]

    def _batches(self, sources):
        rows, fault = self._encode(sources, 0, False, Counter())
        if fault is not None:
            raise fault
        for i, row in enumerate(rows):
            if not row:
                raise ValueError(f"source {i + 1} is blank: there is nothing to attend to")
        return row_batches(rows, self.model.source_limit)

    def attend(self, text, target=None, *, vectors=False, occlude=False, **options):
        """Runs one sentence and returns its attention.

        Args:
            text: the source.
            target: a target that the decoder is forced along; None = what the model itself generates.
            vectors, occlude: whether the view is to hold queries and keys, and what each source token is worth too.
            options: of the search for that target: those of `zoo.beam_search` or `zoo.sample`.
        Returns:
            AttentionView.
        Raises:
            ValueError: a blank text, or one that is longer than the model can take.
        """
        ((_, source),) = self._batches([text])
        if target is None:
            found = search(self.model, source, **options)
            ids = found.tokens[0, 0, : found.lengths[0, 0]].tolist()
            if not ids:
                raise ValueError("nothing can be written under these options: there is nothing to attend from")
        elif options:
            raise ValueError(f"{', '.join(options)} would search for a target, but one is given: leave out one of them")
        else:
            ids = [*self.target_tokenizer.encode([target])[0], EOS]
        view = next(self._views(source, [ids], vectors))
        if not occlude:
            return view
        (worth,) = occlusion(self.model, source, [ids])
        return replace(view, occlusion=worth[:, self._order(worth.shape[1])])

    def attend_pairs(self, pairs, vectors=False, look=observe):
        """Runs many pairs, the decoder forced along each target; yields an AttentionView for each, as `attend` gives.

        `look` is `observe` or a compiled form of it. ValueErrors name the row of a source that cannot be.
        """
        targets = [[*row, EOS] for row in self.target_tokenizer.encode([target for _, target in pairs])]
        views = {}
        for members, source in self._batches([source for source, _ in pairs]):
            views.update(zip(members, self._views(source, [targets[i] for i in members], vectors, look), strict=True))
        return (views[i] for i in range(len(pairs)))

    def _views(self, source, targets, with_vectors=False, look=observe):
        """Yields the attention of source rows (B, S) for their targets, lists of ids that end in EOS; B may be more."""
        source = source[:, : longest(source)]
        inputs = np.full((len(source), max(map(len, targets))), PAD, "int32")
        for row, ids in zip(inputs, targets, strict=False):
            row[: len(ids)] = [BOS, *ids[:-1]]
        maps, vectors = look(self.model, {"source": source, "target": inputs}, with_vectors)
        maps = {role: np.asarray(weights) for role, weights in maps.items()}
        for row, ids in enumerate(targets):
            length = int((source[row] != PAD).sum())
            order, rows = self._order(length), (range(len(ids)), inputs.shape[1])
            yield AttentionView(
                source_tokens=self.source_tokenizer.pieces(source[row][order]),
                target_tokens=self.target_tokenizer.pieces(ids),
                maps=cut_maps(maps, row, order, rows),
                text=self.target_tokenizer.decode([ids])[0],
                vectors=cut_vectors(vectors, row, order, rows),
            )

    def _order(self, length):
        """Positions of a source in the text's own order, whichever way the model read it; EOS stays last."""
        order = range(length - 1)
        return [*(order[::-1] if self.source_tokenizer.reverse else order), length - 1]

    def save(self, folder):
        """Saves everything into one folder: model, tokenizers, configuration, a manifest with versions and checksums.

        The folder is written beside its place and moved there whole: a fault on the way leaves what was there before.

        Raises:
            FileExistsError: see `check_folder`.
        """
        save_folder(folder, self._write, {"attention-zoo": VERSION, "keras": importlib.metadata.version("keras")})

    def _write(self, folder):
        self.model.save(folder / _MODEL)
        shared = self.target_tokenizer is self.source_tokenizer
        sides = {"source": self.source_tokenizer} | ({} if shared else {"target": self.target_tokenizer})
        for side, tokenizer in sides.items():
            (folder / f"{side}.spm").write_bytes(tokenizer.proto)
        config = {side: {"lowercase": t.lowercase, "reverse": t.reverse} for side, t in sides.items()}
        (folder / _CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def load(folder):
    """Loads a `TextModel` that `save` wrote.

    Raises:
        FileNotFoundError: no such folder, or a file of it is missing.
        ValueError: a folder that is not a saved text model, one of a newer format, or a damaged file, by name.
    """
    folder = open_folder(folder, (_MODEL, _CONFIG, "source.spm"))
    config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
    tokenizers = [Tokenizer((folder / f"{side}.spm").read_bytes(), **options) for side, options in config.items()]
    return TextModel(load_model(folder / _MODEL), *tokenizers)
