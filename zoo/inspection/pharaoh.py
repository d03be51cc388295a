"""Word alignments read off attention, in the Pharaoh format (see `zoo.data.alignment`)."""

import numpy as np

from zoo.inspection.alignment import word_attention


def to_pharaoh(view, role, head=0, reading="predicted", threshold=None):
    """One pair's alignment, read off a head's attention, as a line of the Pharaoh format.

    Args:
        view: AttentionView of the pair.
        role, head: which map, such as "decoder/0/cross" and 0.
        reading: which target word a row belongs to: "predicted", the one that is predicted from it, or "read", the one
            before it, which the decoder has just read (see `word_attention`). Additive and Luong models often need the
            latter (Luong et al. 2015, footnote 14); `alignment_scores` tells which a head does.
        threshold: all links of at least this weight; None = for each target word the one with the largest.
    Returns:
        str, such as "0-0 1-2", sorted; "" where nothing is linked.
    Raises:
        ValueError: see `word_attention`; a threshold that is not above 0 and at most 1.
    """
    words = word_attention(view, role, head, reading)
    if threshold is None:
        links = words.links()
    elif 0 < threshold <= 1:
        links = {(int(s), int(t)) for t, s in np.argwhere(words.weights >= threshold)}
    else:
        raise ValueError(f"threshold={threshold!r}: must be above 0 and at most 1")
    return " ".join(f"{source}-{target}" for source, target in sorted(links))
