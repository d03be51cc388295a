"""Descriptions of models: what one costs, worked out without building it."""

import textwrap
from dataclasses import dataclass

from zoo.registry import resolve

_BYTES_TRAINING = 16  # float32 weight, gradient and Adam's two moments
_WIDTH = 100  # columns of the configuration
_MARGIN = 2  # columns between name and number in the table


@dataclass(frozen=True)
class Description:
    """What a configuration is and costs; `str()` is a table.

    Attributes:
        name, paper, config: of the model.
        differs: what sets it apart from its neighbour.
        parts: parameters by part.
        parameters: their exact sum.
        flops_per_target_token: floating-point operations of the forward pass for one target token and one source
            token (in a model of one stack, for one token): two for each weight that meets them in a product. The
            products of states with states in the attention itself, which grow with the sentence, are left out.
        training_bytes: weights, gradients and Adam's moments in float32; activations, which depend on the batch, are
            left out.
    """

    name: str
    paper: str
    differs: str
    config: dict
    parts: dict
    flops_per_target_token: int

    @property
    def parameters(self):
        return sum(self.parts.values())

    @property
    def training_bytes(self):
        return _BYTES_TRAINING * self.parameters

    def __str__(self):
        rows = [(part, f"{count:,}") for part, count in self.parts.items()]
        rows += [("parameters", f"{self.parameters:,}")]
        rows += [("FLOPs per target token", f"{self.flops_per_target_token:,}")]
        rows += [("memory in training, MiB", f"{self.training_bytes / 2**20:,.1f}")]
        left = max(len(label) for label, _ in rows) + _MARGIN
        right = max(len(number) for _, number in rows)
        config = ", ".join(f"{field}={value!r}" for field, value in self.config.items())
        lines = [f"{self.name}  ({self.paper})", self.differs, "", *textwrap.wrap(config, _WIDTH), ""]
        return "\n".join(lines + [f"{label:<{left}}{number:>{right}}" for label, number in rows])


def describe(name, /, **overrides):
    """Describes the model that `build(name, **overrides)` would make, in microseconds and without making it.

    Raises:
        ValueError, TypeError: as `build` does.

    Example::

        zoo.describe("transformer-base").parameters        # 63045632
        zoo.describe("transformer-base", attention_bias=True).parameters        # 63082496
    """
    entry, family, config = resolve(name, overrides)
    counts = family.count(config)
    return Description(
        name=name,
        paper=entry.paper or family.paper,
        differs=entry.differs,
        config=config,
        parts={part: weights for part, (weights, _) in counts.items()},
        flops_per_target_token=2 * sum(multiplied for _, multiplied in counts.values()),
    )
