"""What seeing attention costs: writing it, keeping it, looking at it, and training meanwhile.

    python -m benchmarks.summaries            # 100 steps x 8 sentences of 6 x 8 heads at 60 tokens; needs chromium
    python -m benchmarks.summaries --steps 20 --updates 500

Writing and looking are measured on random attention, which compresses worse than any real one; the page inside a real
TensorBoard with its default loader: from a key that changes the step to the finished pictures, and the handler of a
pointer that moves over the map. Training is `transformer-tiny` on `toy-en-tr` with the callback's default schedule, as
in the demo, and once with 6 x 8 heads and seven sentences joined, 60 tokens: what real records take on disk. The share
is the time in the callback over the time of everything else, in one run.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import zoo

LAYERS, HEADS, LENGTH = 6, 8, 60
CHANGE = """async (key) => {
  const main = document.querySelector("main");
  const start = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await new Promise((done) => {
    const look = () => (main.dataset.state === "ready" ? done() : requestAnimationFrame(look));
    look();
  });
  return performance.now() - start;
}"""
HOVER = """() => {
  const canvas = document.querySelector("canvas[data-view=map]");
  const { cell, left, top } = canvas.dataset;
  const box = canvas.getBoundingClientRect();
  const times = [];
  for (let i = 0; i < 60; i++) {
    const middle = cell * (i + 0.5);
    const at = { clientX: box.left + Number(left) + middle, clientY: box.top + Number(top) + middle };
    const start = performance.now();
    canvas.dispatchEvent(new MouseEvent("mousemove", at));
    document.body.offsetHeight;
    times.push(performance.now() - start);
  }
  return times;
}"""


def records(count):
    """Random attention of an encoder-decoder."""
    from zoo.inspection import AttentionView

    random = np.random.default_rng(1)
    tokens = [f"▁t{i}" for i in range(LENGTH)]
    for _ in range(count):
        maps = {}
        for i in range(LAYERS):
            for role in (f"encoder/{i}/self", f"decoder/{i}/self", f"decoder/{i}/cross"):
                scores = np.exp(2 * random.normal(size=(HEADS, LENGTH, LENGTH)))
                scores = np.tril(scores) if role.endswith("self") and role.startswith("decoder") else scores
                maps[role] = (scores / scores.sum(-1, keepdims=True)).astype("float32")
        yield AttentionView(tokens, tokens, maps, "")


def written(logdir, steps, examples):
    """Writes records, and returns milliseconds of each."""
    import tensorflow as tf

    from zoo.inspection.records import record_of, record_statistics
    from zoo.tensorboard.summary import write_record

    times, views = [], list(records(examples))
    with tf.summary.create_file_writer(str(logdir)).as_default():
        for step in range(steps):
            for i, view in enumerate(views):
                start = time.perf_counter()
                record = record_of(view)
                write_record(f"{i + 1:02}", record, record_statistics(record, view), step)
                times.append(1000 * (time.perf_counter() - start))
    return times


def looked_at(logdir):
    """Milliseconds of changes of the step and of movements of the pointer, in Chromium."""
    from tests.tensorboard.browser import Watched, chromium, ready, tensorboard

    with tensorboard(logdir, fast=True) as address, chromium() as browser:
        page = browser.new_page(viewport={"width": 1500, "height": 1000})
        page.goto(f"{address}#attention")
        frame = Watched(page, address).viewer()
        changes = []
        for key in [",", ","] + [",", "."] * 10:
            changes.append(frame.evaluate(CHANGE, key))
            ready(frame)
            page.wait_for_timeout(400)  # as a person would look, while the neighbours are fetched
        far = [frame.evaluate(CHANGE, ",") for _ in range(10)]  # as fast as it goes
        return changes, far, frame.evaluate(HOVER)


def trained(logdir, updates, joined=1, examples=4, **sizes):
    """Seconds in the callback, seconds of the rest, how often it wrote, and kB of one example-step."""
    import keras

    keras.utils.set_random_seed(1)
    corpus = zoo.corpus("toy-en-tr")
    tokenizer = zoo.Tokenizer.train([text for pair in corpus.train for text in pair], 800)

    def join(pairs):
        groups = [pairs[i : i + joined] for i in range(0, len(pairs) - joined + 1, joined)]
        return [tuple(" ".join(side) for side in zip(*group, strict=True)) for group in groups]

    made = zoo.batches(join(corpus.train), tokenizer, tokenizer, batch_tokens=1024, max_tokens=100, shuffle=1)
    model = zoo.build(
        "transformer-tiny", **dict.fromkeys(("source_vocab", "target_vocab"), tokenizer.vocabulary), **sizes
    )
    model.compile(zoo.transformer_optimizer(64, 400), loss=zoo.TokenCrossEntropy(0.1))
    text = zoo.TextModel(model, tokenizer)
    gold = corpus.alignments["dev"][:examples] if joined == 1 else None
    look = zoo.tensorboard.AttentionCallback(join(corpus.dev)[:examples], logdir, text=text, gold=gold)
    spent = []

    def timed(method):
        def call(*arguments, **options):
            start = time.perf_counter()
            method(*arguments, **options)
            spent.append(time.perf_counter() - start)

        return call

    for name in ("on_train_begin", "on_train_batch_end", "on_train_end"):
        setattr(look, name, timed(getattr(look, name)))
    start = time.perf_counter()
    model.fit(made.dataset.repeat(), steps_per_epoch=updates, verbose=0, callbacks=[look])
    inside = sum(spent)
    outside = time.perf_counter() - start - inside
    size = sum(file.stat().st_size for file in Path(logdir).iterdir()) / 1e3
    return inside, outside, look.written, size / look.written / examples


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--examples", type=int, default=8)
    parser.add_argument("--updates", type=int, default=2664, help="of the training; the demo has 2,664")
    return parser.parse_args()


def main(settings):
    zoo.quiet()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        times = written(Path(folder) / "run", settings.steps, settings.examples)
        rows.append(("writing, ms an example-step, median", f"{statistics.median(times):.1f}"))
        changes, far, hovers = looked_at(folder)
        rows.append(("change of step, ms, median / worst", f"{statistics.median(changes):.0f} / {max(changes):.0f}"))
        rows.append(("as fast as it goes, ms, median / worst", f"{statistics.median(far):.0f} / {max(far):.0f}"))
        rows.append(("pointer, ms, median / worst", f"{statistics.median(hovers):.1f} / {max(hovers):.1f}"))
        for name, updates, options in (
            ("of the demo", settings.updates, {}),
            (
                "with 6 x 8 heads, 60 tokens",
                settings.updates // 9,
                {"joined": 7, "examples": 8, "depth": 6, "heads": 8},
            ),
        ):
            inside, outside, count, size = trained(Path(folder) / name, updates, **options)
            share = f"{100 * inside / outside:.1f} % ({inside:.1f} s of {inside + outside:.0f} s, {count} writings)"
            rows.append((f"share of a training {name}, {updates} updates", share))
        rows.append(("on disk, kB an example-step of that", f"{size:.0f}"))
        rows.append(("that is, MB for 100 steps x 8 sentences", f"{size * 0.8:.0f}"))
    print(zoo.markdown_table(("what", "cost"), rows))


if __name__ == "__main__":
    main(options())
