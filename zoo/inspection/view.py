"""One sentence's attention: tokens and maps together, to be printed, drawn or saved."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from zoo.inspection.heatmap import draw, label, shade
from zoo.inspection.html import frame, page, pages_of
from zoo.inspection.records import record_of, record_statistics

_SHOWN = 0.005  # weights below half a per cent are left blank in the terminal
_WIDEST = 7  # characters of a column in the terminal


@dataclass(frozen=True)
class AttentionView:
    """The attention of one sentence pair.

    Attributes:
        source_tokens: S pieces that the encoder read, EOS included.
        target_tokens: T pieces that the decoder predicted, EOS included: row t of a cross map belongs to the t-th.
        maps: {role: float32 weights (H, rows, columns)} (see `zoo.attention_maps`).
        text: the target as text.
        read_tokens: T pieces that the decoder read; default BOS, then all target tokens but the last.
        vectors: {role: (queries (H, rows, d), keys (H, columns, d))}, where they were asked for.
        occlusion: (T, S), what each target token's log-probability loses without each source token, or None where it
            was not asked for (see `zoo.inspection.occlusion`).
    """

    source_tokens: list
    target_tokens: list
    maps: dict
    text: str
    read_tokens: list | None = None
    vectors: dict = field(default_factory=dict)
    occlusion: np.ndarray | None = None

    def axes(self, role):
        """The tokens of a map's rows and columns. A decoder's own rows are what it read: BOS, then all but the last.

        A decoder without encoder read the source before that.
        """
        read = self.read_tokens
        if read is None:
            read = ["<s>", *self.target_tokens[:-1]] if self.target_tokens else []
        side, _, kind = role.split("/")
        if kind == "cross":
            return self.target_tokens, self.source_tokens
        if side == "encoder":
            return self.source_tokens, self.source_tokens
        joint = self.maps[role].shape[-1] > len(read)
        tokens = [*self.source_tokens, *read] if joint else read
        return tokens, tokens

    def matrix(self, role=None, head=None):
        """The weights of one map (rows, columns): a head's, or the mean over heads.

        Args:
            role: a key of `maps`; default the last layer's attention from target to source.
            head: number of a head, from 0; None = mean.
        Raises:
            ValueError: a role or head that is not there, or a model that has no attention.
        """
        weights = self.maps[self._role(role)]
        if head is None:
            return weights.mean(axis=0)
        if not 0 <= head < len(weights):
            raise ValueError(f"head {head}: {self._role(role)} has heads 0 to {len(weights) - 1}")
        return weights[head]

    def image(self, role=None, head=None, title=None):
        """The matrix as a `PIL.Image.Image` with its tokens; `title` takes the place of the role's name above it."""
        return draw(self.matrix(role, head), *self.axes(self._role(role)), title=title or self._title(role, head))

    def png(self, path, role=None, head=None):
        """Saves `image()` as a PNG file."""
        self.image(role, head).save(path, format="PNG")

    def html(self, path=None, gold=None):
        """The viewer for this sentence as one HTML file that needs no network; saved where a path is given.

        Args:
            path: file to write.
            gold: a gold word alignment whose links are framed, or None.
        Returns:
            The HTML, a str.
        """
        self._role(None)
        record = record_of(self, gold=gold)
        content = page(pages_of(record, record_statistics(record, self, gold)), title=record.title)
        if path is not None:
            Path(path).write_text(content, encoding="utf-8")
        return content

    def _repr_html_(self):
        return frame(self.html())

    def figure(self, role=None, head=None):
        """The matrix as a matplotlib figure, for papers (needs the extra: pip install attention-zoo[plot])."""
        from matplotlib.figure import Figure

        rows, columns = ([label(token) for token in axis] for axis in self.axes(self._role(role)))
        figure = Figure(figsize=(1.5 + 0.35 * len(columns), 1.5 + 0.35 * len(rows)), layout="constrained")
        axes = figure.add_subplot(title=self._title(role, head))
        picture = axes.imshow(self.matrix(role, head), cmap="Blues", vmin=0, vmax=1)
        axes.set_xticks(range(len(columns)), columns, rotation=90)
        axes.set_yticks(range(len(rows)), rows)
        figure.colorbar(picture, label="attention weight")
        return figure

    def print(self, role=None, head=None, console=None):
        """Prints the matrix to the terminal: per cent, on a shade of its own."""
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        weights = self.matrix(role, head)
        rows, columns = self.axes(self._role(role))
        console = console or Console()
        table = Table(box=None, padding=0, collapse_padding=True)
        table.add_column("", justify="right")
        for token in columns:
            table.add_column(Text(_short(token), overflow="crop"), justify="center", no_wrap=True, min_width=3)
        for token, row, colours in zip(rows, weights, shade(weights), strict=True):
            cells = [_cell(weight, colour) for weight, colour in zip(row, colours, strict=True)]
            table.add_row(Text(label(token) + " "), *cells)
        console.print(self._title(role, head), highlight=False)
        console.print(table)

    def _role(self, role):
        if not self.maps:
            raise ValueError("this model has no attention to look at")
        if role is None:
            crosses = [name for name in self.maps if name.endswith("/cross")]
            return crosses[-1] if crosses else list(self.maps)[-1]
        if role not in self.maps:
            raise ValueError(f"role {role!r}: must be one of {', '.join(self.maps)}")
        return role

    def _title(self, role, head):
        heads = len(self.maps[self._role(role)])
        which = "" if heads == 1 else f", mean of {heads} heads" if head is None else f", head {head}"
        return f"{self._role(role)}{which}"


def _short(token):
    text = label(token)
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _cell(weight, colour):
    from rich.text import Text

    text = f"{100 * weight:.0f}" if weight >= _SHOWN else ""
    ink = "white" if np.mean(colour) < 140 else "black"
    return Text(text.center(5), style=f"{ink} on #{bytes(colour.tolist()).hex()}")
