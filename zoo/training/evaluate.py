"""Scores of a text model on held-out pairs."""

from dataclasses import dataclass

import sacrebleu


@dataclass(frozen=True)
class Scores:
    """What `evaluate` found.

    Attributes:
        bleu, chrf: sacreBLEU's scores, 0 to 100.
        bleu_signature, chrf_signature: how they were computed, to be printed with them.
        exact: share of outputs that equal their reference, 0 to 1.
        by_length: for the shortest, middle and longest third of the sources by words: (fewest words, most words, pairs,
            exact match, BLEU).
        pairs: the (source, target) that were evaluated on.
        outputs: the model's outputs, in the order of the pairs.
    """

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str
    exact: float
    by_length: tuple
    pairs: list
    outputs: list

    def __str__(self):
        lines = [
            f"BLEU {self.bleu:.2f}   {self.bleu_signature}",
            f"chrF {self.chrf:.2f}   {self.chrf_signature}",
            f"exact match {self.exact:.1%} of {len(self.outputs)}",
            "",
            f"{'source words':>12}  {'pairs':>6}  {'exact':>6}  {'BLEU':>6}",
        ]
        for shortest, longest, pairs, exact, bleu in self.by_length:
            lines.append(f"{f'{shortest} to {longest}':>12}  {pairs:>6}  {exact:>6.1%}  {bleu:>6.2f}")
        return "\n".join(lines)

    def print_samples(self, count):
        """Prints a table of the first `count` sources, outputs and references to the terminal."""
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table("source", "translation", "reference")
        for (source, reference), output in list(zip(self.pairs, self.outputs, strict=True))[:count]:
            table.add_row(*(Text(cell) for cell in (source, output, reference)), end_section=True)
        Console().print(table)


def evaluate(text, pairs, **generate):
    """Translates the sources of pairs and scores the outputs against the targets.

    Args:
        text: a `TextModel`, or anything with its `generate`.
        pairs: sequence of (source, target) str.
        generate: options of `text.generate`.
    Returns:
        Scores. References are taken as they are: detokenised text, scored by sacreBLEU with its own tokenisation.
    Raises:
        ValueError: no pairs.
    """
    if not len(pairs):
        raise ValueError("there are no pairs to evaluate on")
    sources, references = ([pair[i] for pair in pairs] for i in (0, 1))
    outputs = text.generate(sources, **generate)
    bleu, chrf = sacrebleu.BLEU(), sacrebleu.CHRF()
    scores = [metric.corpus_score(outputs, [references]).score for metric in (bleu, chrf)]
    order = sorted(range(len(pairs)), key=lambda i: len(sources[i].split()))
    thirds = [order[len(order) * i // 3 : len(order) * (i + 1) // 3] for i in range(3)]
    return Scores(
        *scores,
        str(bleu.get_signature()),
        str(chrf.get_signature()),
        _exact(outputs, references),
        tuple(_third(third, sources, references, outputs) for third in thirds if third),
        list(pairs),
        outputs,
    )


def _exact(outputs, references):
    return sum(output == reference for output, reference in zip(outputs, references, strict=True)) / len(outputs)


def _third(members, sources, references, outputs):
    words = [len(sources[i].split()) for i in members]
    outputs, references = [outputs[i] for i in members], [references[i] for i in members]
    bleu = sacrebleu.BLEU().corpus_score(outputs, [references]).score
    return min(words), max(words), len(members), _exact(outputs, references), bleu
