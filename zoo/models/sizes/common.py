"""Arithmetic of model sizes: what a configuration costs and what it may be. No Keras, nothing is built.

Each family has two functions: `check_*(config)` raises the ValueError of a configuration that cannot be, and
`count_*(config)` returns `{part: (weights, multiplied)}`: how many weights a part has, and how many of them meet
each target token (or its source token) in a product. A look-up multiplies nothing.
"""


def choice(config, field, allowed):
    """Refuses a value that is none of those allowed."""
    value = config[field]
    if not (value is None or isinstance(value, str)) or value not in tuple(allowed):
        raise ValueError(f"{field}={config[field]!r}: must be one of {', '.join(map(repr, allowed))}")


def same_vocabularies(config, why):
    """Refuses vocabularies that differ where one matrix serves both."""
    if config["source_vocab"] != config["target_vocab"]:
        raise ValueError(
            f"source_vocab={config['source_vocab']} and target_vocab={config['target_vocab']} differ {why}"
        )


def dense(inputs, units, bias=True):
    """Weights of a dense layer."""
    return inputs * units + (units if bias else 0)


def used(weights):
    """A part whose every weight meets every token."""
    return weights, weights
