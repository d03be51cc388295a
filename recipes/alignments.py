"""Trains attention variants side by side and says how well each aligns words: the zoo's own Table 6 (Luong et al.).

python recipes/alignments.py        # eight variants on toy-en-tr: 13 minutes on two cores
python recipes/alignments.py --epochs 2 --variants "dot=seq2seq-luong-tiny score=dot" "small=transformer-tiny depth=1"
"""

import argparse
import pathlib
import sys
import time

import zoo

VARIANTS = (
    "Bahdanau, additive=seq2seq-bahdanau-tiny",
    "Luong, dot=seq2seq-luong-tiny score=dot",
    "Luong, general=seq2seq-luong-tiny score=general",
    "Luong, concat=seq2seq-luong-tiny score=concat",
    "Luong, local-m general=seq2seq-luong-tiny local=m",
    "Luong, local-p general=seq2seq-luong-tiny local=p",
    "Transformer, best head=transformer-tiny",
    "Transformer, rotary, best head=transformer-tiny positions=rope",
)
COLUMNS = ("attention", "exact match", "AER", "entropy", "map", "head", "a row is of the word", "minutes")


def positive(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} must be at least 1")
    return int(text)


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--variants", nargs="+", default=VARIANTS, metavar="LABEL=MODEL [FIELD=VALUE ...]", help="what to compare")
    add("--train", type=positive, default=24_000, help="training pairs")
    add("--held-out", type=positive, default=500, help="pairs of dev, and of test")
    add("--epochs", type=positive, default=9, help="passes over the training pairs")
    add("--batch-tokens", type=positive, default=1024, help="tokens of a batch on each side, padding included")
    add("--vocab", type=positive, default=800, help="pieces of the shared vocabulary")
    add("--seed", type=int, default=1, help="of data, weights and order")
    add("--sentence", default="the cat sat on the mat", help="sentence of the picture")
    add("--output", type=pathlib.Path, default=pathlib.Path("runs/alignments"), help="folder for table and picture")
    return parser.parse_args()


def prepare(variant, tokenizer, seed, sentence):
    """Builds one variant: (label, text model)."""
    import keras  # only now: --help needs no TensorFlow

    label, equals, rest = variant.partition("=")
    if not equals or not rest.strip():
        raise ValueError(f"{variant!r} is not LABEL=MODEL [FIELD=VALUE ...]")
    name, *fields = rest.split()
    keras.utils.set_random_seed(seed)
    sizes = {"source_vocab": tokenizer.vocabulary, "target_vocab": tokenizer.vocabulary}
    model = zoo.build(name, **{**sizes, **zoo.parse_fields(fields)})
    text = zoo.TextModel(model, tokenizer)
    if not any(role.endswith("/cross") for role in text.attend(sentence, "a").maps):
        raise ValueError(f"{name} has no attention from target to source to read alignments off")
    return label, text


def train(model, batches, settings):
    adam = zoo.transformer_optimizer(model.fields["width"], warmup=400, averaging=0.995)
    model.compile(adam, loss=zoo.TokenCrossEntropy(0.1))
    epochs = {"steps_per_epoch": batches.steps, "epochs": settings.epochs}
    model.fit(batches.dataset.repeat(), **epochs, shuffle=False, verbose=2)


def main(settings):
    zoo.quiet()
    sizes = {"dev": settings.held_out, "test": settings.held_out, "limit": settings.train}
    corpus = zoo.corpus("toy-en-tr", seed=settings.seed, **sizes)
    tokenizer = zoo.Tokenizer.train([text for pair in corpus.train for text in pair], vocabulary=settings.vocab)
    batches = zoo.batches(
        corpus.train, tokenizer, tokenizer, batch_tokens=settings.batch_tokens, max_tokens=64, shuffle=settings.seed
    )
    texts = {}
    for variant in settings.variants:
        label, text = prepare(variant, tokenizer, settings.seed, settings.sentence)
        if label in texts:
            raise ValueError(f"two variants are called {label!r}: give each a label of its own")
        texts[label] = text
    settings.output.mkdir(parents=True, exist_ok=True)
    rows, images = [], []
    for label, text in texts.items():
        start = time.monotonic()
        print(f"\n{label}: {text.model.name}")
        train(text.model, batches, settings)
        dev = zoo.alignment_scores(text.attend_pairs(corpus.dev), corpus.alignments["dev"])
        role, head, reading = best = min(dev, key=lambda which: dev[which].error_rate)  # chosen on dev, shown on test
        test = zoo.alignment_scores(text.attend_pairs(corpus.test), corpus.alignments["test"])[best]
        exact = zoo.evaluate(text, corpus.test).exact
        scores = f"{exact:.1%}", f"{test.error_rate:.3f}", f"{test.entropy:.2f}"
        minutes = (time.monotonic() - start) / 60
        rows.append((label, *scores, role, head, reading, f"{minutes:.1f}"))
        table = zoo.markdown_table(COLUMNS, rows)
        (settings.output / "alignments.md").write_text(table + "\n", encoding="utf-8")  # after each: a stop loses one
        images.append(text.attend(settings.sentence).image(role, head, title=label))
        zoo.side_by_side(images).save(settings.output / "alignments.png")
    print(f"\n{table}\n\nAER and entropy (nats) on {len(corpus.test)} test pairs, decoder forced along the reference")
    print(f"saved {settings.output / 'alignments.md'} and {settings.output / 'alignments.png'}")


if __name__ == "__main__":
    sys.exit(zoo.guarded("alignments.py", main, options()))
