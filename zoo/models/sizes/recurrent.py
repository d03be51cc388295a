"""Sizes of the recurrent families (see `zoo.models.sizes.common`)."""

from zoo.models.sizes.common import choice, dense, same_vocabularies, used

GATES = {"gru": 3, "gated": 3, "lstm": 4}


def _recurrent(cell, inputs, units):
    """Weights of one layer: input and recurrent matrices and one bias vector per gate."""
    return GATES[cell] * (inputs * units + units * units + units)


def _stack(config, inputs):
    cell, units = config["cell"], config["width"]
    return _recurrent(cell, inputs, units) + (config["depth"] - 1) * _recurrent(cell, units, units)


def check_seq2seq(config):
    choice(config, "cell", GATES)


def count_seq2seq(config):
    return {
        "source embedding": (config["source_vocab"] * config["embedding"], 0),
        "target embedding": (config["target_vocab"] * config["embedding"], 0),
        "encoder": used(_stack(config, config["embedding"])),
        "decoder": used(_stack(config, config["embedding"])),
        "output": used(dense(config["width"], config["target_vocab"])),
    }


def check_bahdanau(config):
    check_seq2seq(config)
    choice(config, "output_state", ("current", "previous"))
    choice(config, "initialization", ("paper", "glorot"))


def count_bahdanau(config):
    m, n, units = config["embedding"], config["width"], config["alignment"]
    coverage = units if config["coverage"] else 0
    return {
        "source embedding": (config["source_vocab"] * m, 0),
        "target embedding": (config["target_vocab"] * m, 0),
        "encoder": used(2 * _recurrent(config["cell"], m, n)),
        "first state": used(dense(n, n)),
        "attention": used(dense(n, units) + 2 * n * units + units + coverage),
        "decoder": used(_recurrent(config["cell"], m + 2 * n, n)),
        "output": used(dense(3 * n + m, 2 * config["maxout"]) + dense(config["maxout"], config["target_vocab"])),
    }


def check_luong(config):
    check_seq2seq(config)
    choice(config, "score", ("dot", "general", "concat", "location"))
    choice(config, "local", (None, "m", "p"))
    choice(config, "initialization", ("paper", "glorot"))


def count_luong(config):
    m, n = config["embedding"], config["width"]
    attention = {"dot": 0, "general": n * n, "concat": 2 * n * n + n, "location": n * config["max_source"]}
    center = n * n + n if config["local"] == "p" else 0
    return {
        "source embedding": (config["source_vocab"] * m, 0),
        "target embedding": (config["target_vocab"] * m, 0),
        "encoder": used(_stack(config, m)),
        "decoder": used(_stack(config, m + (n if config["input_feeding"] else 0))),
        "attention": used(attention[config["score"]] + center),
        "attentional state": used(2 * n * n),
        "output": used(n * config["target_vocab"]),
    }


def check_pointer(config):
    same_vocabularies(config, "but words are copied from one to the other: use one vocabulary for both")


def count_pointer(config):
    vocabulary, m, n = config["target_vocab"], config["embedding"], config["width"]
    coverage = 2 * n if config["coverage"] else 0
    return {
        "embedding": (vocabulary * m, 0),
        "encoder": used(2 * _recurrent("lstm", m, n)),
        "first state": used(2 * dense(2 * n, n)),
        "attention": used(2 * n * 2 * n + dense(2 * n, 2 * n) + 2 * n + coverage),
        "decoder": used(dense(m + 2 * n, m) + _recurrent("lstm", m, n)),
        "switch": used(dense(2 * n + 2 * n + m, 1)),
        "output": used(dense(3 * n, n) + dense(n, vocabulary)),
    }
