"""Attention matrices as pictures with the tokens written beside them."""

import functools
import importlib.resources

import numpy as np
from PIL import Image, ImageDraw, ImageFont

_CELL = 26  # pixels
_FONT = 15
_GAP = 6
_LONGEST_LABEL = 24  # characters
_DARK = np.array([8, 48, 107])  # weight 1; weight 0 is white, and brightness falls evenly, so colour is never needed
_INK = (40, 40, 40)


@functools.cache
def _font():
    # Pillow's own font has no Turkish letters.
    return ImageFont.truetype(importlib.resources.files("font_roboto") / "files" / "Roboto-Regular.ttf", _FONT)


def shade(weights):
    """Weights (...) in [0, 1] -> uint8 colours (..., 3), white at 0 and dark blue at 1."""
    weights = np.clip(np.asarray(weights, "float32"), 0, 1)[..., None]
    return np.rint(255 + weights * (_DARK - 255)).astype("uint8")


def label(token):
    """A token as it is written beside a picture: one short line, its word-start sign as an underscore."""
    text = "".join(c if c.isprintable() else f"\\u{ord(c):04X}" for c in token.replace("▁", "_"))
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def draw(weights, rows, columns, title=""):
    """Draws a matrix of weights, a row for each attending token.

    Args:
        weights: (T, S) in [0, 1].
        rows, columns: the T attending and the S attended tokens.
        title: one line above.
    Returns:
        A `PIL.Image.Image` with a legend of the shades from 0 to 1.
    Raises:
        ValueError: numbers of tokens that do not fit the matrix.
    """
    weights = np.asarray(weights)
    if weights.shape != (len(rows), len(columns)):
        raise ValueError(f"weights {weights.shape} do not fit {len(rows)} rows and {len(columns)} columns of tokens")
    rows, columns, font = [label(t) for t in rows], [label(t) for t in columns], _font()
    left = int(max(map(font.getlength, rows), default=0)) + 2 * _GAP
    above = int(max(map(font.getlength, columns), default=0)) + 2 * _GAP
    head = 2 * _FONT if title else 0
    width = max(left + _CELL * len(columns) + _GAP, int(font.getlength(title)) + 2 * _GAP, left + 8 * _CELL)
    image = Image.new("RGB", (width, head + above + _CELL * (len(rows) + 2)), "white")
    pen = ImageDraw.Draw(image)
    pen.text((_GAP, _GAP), title, font=font, fill=_INK)
    top = head + above
    for i, text in enumerate(rows):
        pen.text((left - _GAP, top + _CELL * i + _CELL // 2), text, font=font, fill=_INK, anchor="rm")
    for j, text in enumerate(columns):
        image.paste(_upright(text, above - _GAP), (left + _CELL * j, head))
    cells = Image.fromarray(shade(weights).repeat(_CELL, axis=0).repeat(_CELL, axis=1))
    image.paste(cells, (left, top))
    for i in range(len(rows) + 1):
        pen.line([(left, top + _CELL * i), (left + _CELL * len(columns), top + _CELL * i)], fill=(225, 225, 225))
    for j in range(len(columns) + 1):
        pen.line([(left + _CELL * j, top), (left + _CELL * j, top + _CELL * len(rows))], fill=(225, 225, 225))
    _legend(image, pen, left, top + _CELL * len(rows) + _CELL // 2)
    return image


def side_by_side(images, across=4):
    """Joins pictures into one, `across` in a row, left to right and down."""
    rows = [images[i : i + across] for i in range(0, len(images), across)]
    sizes = [(sum(image.width for image in row), max(image.height for image in row)) for row in rows]
    whole = Image.new("RGB", (max(width for width, _ in sizes), sum(height for _, height in sizes)), "white")
    top = 0
    for row, (_, height) in zip(rows, sizes, strict=True):
        left = 0
        for image in row:
            whole.paste(image, (left, top))
            left += image.width
        top += height
    return whole


def head_grid(weights, least=64):
    """All heads of a kind of attention in one picture: weights (L, H, T, S) -> uint8 (height, width, 3).

    A row for each layer, a column for each head; a weight is at least one pixel, a head at least `least` pixels.
    """
    layers, heads, rows, columns = weights.shape
    scale = max(1, -(-least // max(rows, columns)))
    tiles = shade(weights).repeat(scale, axis=2).repeat(scale, axis=3)
    tiles = np.pad(tiles, ((0, 0), (0, 0), (_GAP, 0), (_GAP, 0), (0, 0)), constant_values=160)
    return tiles.transpose(0, 2, 1, 3, 4).reshape(layers * (rows * scale + _GAP), heads * (columns * scale + _GAP), 3)


def _upright(text, height):
    """A label turned to be read from below, its end at the bottom."""
    tile = Image.new("RGB", (height, _CELL), "white")
    ImageDraw.Draw(tile).text((0, _CELL // 2), text, font=_font(), fill=_INK, anchor="lm")
    return tile.rotate(90, expand=True)


def _legend(image, pen, left, top):
    ramp = shade(np.linspace(0, 1, 5 * _CELL))[None].repeat(_CELL // 2, axis=0)
    pen.text((left, top + _CELL // 4), "0", font=_font(), fill=_INK, anchor="lm")
    image.paste(Image.fromarray(ramp), (left + 2 * _GAP, top))
    pen.text((left + 3 * _GAP + 5 * _CELL, top + _CELL // 4), "1", font=_font(), fill=_INK, anchor="lm")
