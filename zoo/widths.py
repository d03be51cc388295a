"""The few static widths that rows of tokens are padded to, so that few graphs are compiled."""

WIDTHS = (8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 128, 192, 256)
SEARCH_WIDTHS = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256)  # a search spends little on the source, and more on shapes
_PAST = 128  # rows longer than the last width get the next multiple of this


def width_for(length, widths=WIDTHS):
    """The smallest width that a row of `length` tokens fits in."""
    for width in widths:
        if length <= width:
            return width
    return -(-length // _PAST) * _PAST
