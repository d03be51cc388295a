"""The callback that lets attention be seen while a model trains."""

import math
import os
import warnings
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf

from zoo.decoding.protocol import check_whole
from zoo.inspection.heatmap import head_grid
from zoo.inspection.maps import observe
from zoo.inspection.records import MOST_HEADS, MOST_TOKENS, record_of, record_statistics
from zoo.inspection.view import AttentionView
from zoo.tensorboard.record import METRICS
from zoo.tensorboard.summary import write_record, write_scalars
from zoo.training.callbacks import Summaries

_LOG_SPACED = 100  # steps in all
MOST_STEPS = 200  # before steps given by `every` are thinned
_LONGEST = 1e6  # updates that the log-spaced steps are laid out for
# TensorBoard's scalars, and which of the statistics they are.
_PLAIN = {"entropy": "entropy", "sharpness": "sharpness", "distance": "distance", "alignment_error": "aer"}


def _is_pair(example):
    if not isinstance(example, tuple | list) or len(example) != 2:
        return False
    source, target = example
    return isinstance(source, str) and (target is None or isinstance(target, str))


@dataclass(frozen=True)
class Example:
    """One fixed input of any Keras model, with its tokens.

    Attributes:
        inputs: what the model is called with, for one sentence: arrays whose first axis is 1, without padding.
        source_tokens: tokens of encoder self-attention and of the columns of cross-attention.
        target_tokens: tokens that the decoder's rows predict; [] for an encoder, or a causal stack, alone.
        read_tokens: tokens that the decoder reads; default "<s>", then all target tokens but the last.
        gold: a gold word alignment, an object with `sure` and `possible` links, or None.
    """

    inputs: object
    source_tokens: list
    target_tokens: list = ()
    read_tokens: list | None = None
    gold: object = None


class AttentionCallback(Summaries):
    """Writes the attention of fixed sentences to TensorBoard while `fit()` runs, for the tab "Attention".

    The step is `optimizer.iterations`, so a resumed run goes on where it was. The first step, the last one and about
    15 per cent more updates each time between: at most 100 in a million. Also written are scalars, means over the
    sentences, for each kind of attention, layer and head: entropy (nats), sharpness (the largest weight of a row),
    distance (tokens from the diagonal) and, where gold links are known, the alignment error rate.

    The forward pass is the model's own, eager and without dropout, so it works the same beside `jit_compile=True`,
    mixed precision and distribution strategies, and with any Keras model that `zoo.attention_maps` can look into.

    Args:
        examples: 4 to 8 `(source, target)` pairs of str, the target None where the model is to write it itself; or
            `Example`s of any Keras model.
        logdir: folder of the run; one such callback for each.
        text: the `TextModel` in training, whose tokenizers read the pairs.
        every: updates between two writings, doubled after each 200 writings, which is what TensorBoard keeps; None =
            log-spaced.
        gold: for each pair, a gold word alignment (see `Corpus.alignments`) or None.
        images: also write a picture of all heads, for a TensorBoard without the zoo.
        vectors: also write queries and keys of the zoo's multi-head layers, for the neuron view; three times as large.
        max_length: tokens of an axis that are written, from the first; the viewer says what was cut.
        max_heads: heads of a layer that are written, from the first.
    Raises:
        ValueError: no examples, pairs without `text`, or as many alignments as pairs are needed.

    Example::

        model.fit(..., callbacks=[zoo.tensorboard.AttentionCallback(corpus.dev[:4], "runs/mine", text=text)])
    """

    def __init__(
        self,
        examples,
        logdir,
        text=None,
        every=None,
        gold=None,
        images=False,
        vectors=False,
        max_length=MOST_TOKENS,
        max_heads=MOST_HEADS,
    ):
        super().__init__(logdir)
        self.examples = list(examples)
        if not self.examples:
            raise ValueError("examples is empty: give 4 to 8 fixed sentences to look at")
        if text is None and not all(isinstance(example, Example) for example in self.examples):
            raise ValueError("examples are texts, but no text model was given to read them: pass text=, or Examples")
        for example in self.examples if text is not None else ():
            if not _is_pair(example):
                raise ValueError(f"{example!r} is no example: must be (source, target) texts, the target may be None")
        if not isinstance(logdir, str | os.PathLike):
            raise ValueError(f"logdir={logdir!r}: must be a folder")
        if gold is not None and len(gold) != len(self.examples):
            raise ValueError(f"there are {len(gold)} gold alignments for {len(self.examples)} examples: give each one")
        if not all(one is None or hasattr(one, "sure") for one in gold or ()):
            raise ValueError("gold has no `sure` links in it: read alignments with zoo.inspection.read_pharaoh")
        every = None if every is None else check_whole("every", every, 1)
        max_length, max_heads = check_whole("max_length", max_length, 1), check_whole("max_heads", max_heads, 1)
        self.text, self.every = text, every
        self.gold = gold or [getattr(example, "gold", None) for example in self.examples]
        self.images, self.vectors = images, vectors
        self.limits = {"max_length": max_length, "max_heads": max_heads}
        # Once for each model and shapes: called eagerly a small model takes ten times longer.
        self.look = tf.function(observe) if keras.backend.backend() == "tensorflow" else observe
        self.last = None
        self.written, self.notes = 0, ()

    def on_train_begin(self, logs=None):
        if self.text is not None and self.text.model is not self.model:
            raise ValueError(f"text holds another model than the one in training, {self.model.name}: pass its own")
        if self.last is not None and self.updates < self.last:
            raise ValueError(
                f"the optimiser is at update {self.updates}, but {self.logdir} has step {self.last}: give a new "
                "training a callback and a folder of its own"
            )
        self._look_if_due()

    def on_train_batch_end(self, batch, logs=None):
        self._look_if_due()

    def on_train_end(self, logs=None):
        if self.last is not None and self.updates > self.last:
            self._look()

    def _look_if_due(self):
        step = self.updates
        if self.last is None or (step > self.last and self._slot(step) > self._slot(self.last)):
            self._look()

    def _slot(self, step):
        """Counts the steps that are to be written up to this one."""
        if self.every is not None:
            return step // self.every
        return 0 if step == 0 else 1 + math.floor(math.log(step) * (_LOG_SPACED - 2) / math.log(_LONGEST))

    def _look(self):
        self.attempt(self._write_all)

    def _write_all(self):
        self.last = self.updates
        found, scalars = [], {}
        for i, (view, gold) in enumerate(zip(self._views(), self.gold, strict=True)):
            if not view.maps:
                warnings.warn(f"{self.model.name} has no attention to write", stacklevel=2)
                self.stopped = True
                return
            record = record_of(view, gold=gold, notes=self.notes, **self.limits)
            values = record_statistics(record, view, gold)
            found.append((f"{i + 1:02}", record, values))
            for kind, statistics in zip(record.kinds, values, strict=True):
                for name, metric in _PLAIN.items():
                    for (layer, head), value in np.ndenumerate(statistics[..., METRICS.index(metric)]):
                        scalars.setdefault(f"attention_{name}/{kind.name}/{layer}/{head}", []).append(value)
        with self.writer().as_default(step=self.last):
            for name, record, values in found:
                write_record(name, record, values, self.last)
                if self.images:
                    for kind in record.kinds:
                        grid = head_grid(kind.weights)[None]
                        tf.summary.image(f"attention_heads/{name}/{kind.name}", grid)
            known = {tag: float(np.mean(values)) for tag, values in scalars.items() if not np.isnan(values).any()}
            write_scalars(known, self.last)
        self.writer().flush()
        self.written += 1
        if self.every is not None and self.written % MOST_STEPS == 0:
            self.every *= 2
            self.notes = (f"from step {self.last} on, one in {self.every} updates is written",)

    def _views(self):
        if self.text is None:
            return [self._view(example) for example in self.examples]
        given = [pair for pair in self.examples if pair[1] is not None]
        forced = iter(self.text.attend_pairs(given, vectors=self.vectors, look=self.look) if given else ())
        return [
            self.text.attend(source, vectors=self.vectors) if target is None else next(forced)
            for source, target in self.examples
        ]

    def _view(self, example):
        maps, vectors = observe(self.model, example.inputs, self.vectors)
        return AttentionView(
            source_tokens=list(example.source_tokens),
            target_tokens=list(example.target_tokens),
            maps={role: keras.ops.convert_to_numpy(weights)[0] for role, weights in maps.items()},
            text=" ".join(example.target_tokens),
            read_tokens=example.read_tokens,
            vectors={role: tuple(keras.ops.convert_to_numpy(x)[0] for x in pair) for role, pair in vectors.items()},
        )
