"""What a configuration costs and what it may be, by arithmetic alone: no Keras, nothing is built.

Each family has two functions: `check_*(config)` raises the ValueError of a configuration that cannot be, and
`count_*(config)` returns `{part: (weights, multiplied)}`: how many weights a part has, and how many of them meet
each target token (or its source token) in a product. A look-up multiplies nothing.
"""

GATES = {"gru": 3, "lstm": 4}


def _choice(config, field, allowed):
    if config[field] not in allowed:
        raise ValueError(f"{field}={config[field]!r}: must be one of {', '.join(map(repr, allowed))}")


def _dense(inputs, units, bias=True):
    return inputs * units + (units if bias else 0)


def _recurrent(cell, inputs, units):
    """Weights of one GRU or LSTM layer: input and recurrent matrices and one bias vector per gate."""
    return GATES[cell] * (inputs * units + units * units + units)


def _stack(config, inputs):
    units = config["width"]
    return sum(_recurrent(config["cell"], inputs if i == 0 else units, units) for i in range(config["depth"]))


def _used(weights):
    return weights, weights


def check_seq2seq(config):
    _choice(config, "cell", GATES)


def count_seq2seq(config):
    return {
        "source embedding": (config["source_vocab"] * config["embedding"], 0),
        "target embedding": (config["target_vocab"] * config["embedding"], 0),
        "encoder": _used(_stack(config, config["embedding"])),
        "decoder": _used(_stack(config, config["embedding"])),
        "output": _used(_dense(config["width"], config["target_vocab"])),
    }


def count_bahdanau(config):
    m, n, units = config["embedding"], config["width"], config["alignment"]
    return {
        "source embedding": (config["source_vocab"] * m, 0),
        "target embedding": (config["target_vocab"] * m, 0),
        "encoder": _used(2 * _recurrent(config["cell"], m, n)),
        "first state": _used(_dense(n, n)),
        "attention": _used(_dense(n, units) + 2 * n * units + units),
        "decoder": _used(_recurrent(config["cell"], m + 2 * n, n)),
        "output": _used(_dense(3 * n + m, 2 * config["maxout"]) + _dense(config["maxout"], config["target_vocab"])),
    }


def check_luong(config):
    check_seq2seq(config)
    _choice(config, "score", ("dot", "general", "concat", "location"))


def count_luong(config):
    m, n = config["embedding"], config["width"]
    attention = {"dot": 0, "general": n * n, "concat": 2 * n * n + n, "location": n * config["max_source"]}
    return {
        "source embedding": (config["source_vocab"] * m, 0),
        "target embedding": (config["target_vocab"] * m, 0),
        "encoder": _used(_stack(config, m)),
        "decoder": _used(_stack(config, m + (n if config["input_feeding"] else 0))),
        "attention": _used(attention[config["score"]]),
        "attentional state": _used(2 * n * n),
        "output": _used(n * config["target_vocab"]),
    }


def check_transformer(config):
    _choice(config, "norm", ("post", "pre"))
    _choice(config, "positions", ("interleaved", "halves"))
    width, heads = config["width"], config["heads"]
    if width % heads and None in (config["key_width"], config["value_width"]):
        raise ValueError(f"heads={heads} does not divide width={width}: change one, or give key_width and value_width")
    if config["tied"] and config["source_vocab"] != config["target_vocab"]:
        raise ValueError(
            f"source_vocab={config['source_vocab']} and target_vocab={config['target_vocab']} differ while tied=True: "
            "use one vocabulary for both, or tied=False"
        )


def count_transformer(config):
    width, depth, heads = config["width"], config["depth"], config["heads"]
    keys = heads * (config["key_width"] or width // heads)
    values = heads * (config["value_width"] or width // heads)
    bias = config["attention_bias"]
    attention = 2 * _dense(width, keys, bias) + _dense(width, values, bias) + _dense(values, width, bias)
    feedforward = _dense(width, config["feedforward"]) + _dense(config["feedforward"], width)
    norm = 2 * width
    last = norm if config["norm"] == "pre" else 0
    source, target = config["source_vocab"] * width, config["target_vocab"] * width
    embeddings = (
        {"embeddings and output": (source, source)}
        if config["tied"]
        else {"source embedding": (source, 0), "target embedding": (target, 0), "output": _used(target)}
    )
    return {
        **embeddings,
        "encoder": _used(depth * (attention + feedforward + 2 * norm) + last),
        "decoder": _used(depth * (2 * attention + feedforward + 3 * norm) + last),
    }
