"""Sizes of the Transformer's families (see `zoo.models.sizes.common`)."""

from zoo.models.sizes.common import choice, dense, same_vocabularies, used

POSITIONS = ("interleaved", "halves", "learned", "relative", "rope", "alibi", "t5")
ACTIVATIONS = ("relu", "gelu", "gelu-tanh", "swiglu")


def _check_heads(config):
    width, heads = config["width"], config["heads"]
    if width % heads and None in (config.get("key_width"), config.get("value_width")):
        rule = ", or give key_width and value_width" if "key_width" in config else ""
        raise ValueError(f"heads={heads} does not divide width={width}: change one{rule}")


def check_transformer(config):
    choice(config, "norm", ("post", "pre"))
    choice(config, "normalization", ("layer", "rms"))
    choice(config, "activation", ACTIVATIONS)
    choice(config, "positions", POSITIONS)
    _check_heads(config)
    heads, key_heads = config["heads"], config["key_heads"]
    if heads % (key_heads or heads):
        raise ValueError(f"key_heads={key_heads} does not divide heads={heads}: change one")
    key_width = config["key_width"] or config["width"] // heads
    if config["positions"] == "rope" and key_width % 2:
        raise ValueError(
            f"positions='rope' turns pairs, but key_width={key_width} of a head is odd: change it, width or heads"
        )
    if config["positions"] == "t5":
        if config["buckets"] < 4 or config["buckets"] % 2:
            raise ValueError(f"buckets={config['buckets']}: must be even and at least 4, half of them for each side")
        if config["max_distance"] <= config["buckets"] // 2:
            raise ValueError(f"max_distance={config['max_distance']}: must be more than buckets / 2, the exact ones")
    if config["tied"]:
        same_vocabularies(config, "while tied=True: use one vocabulary for both, or tied=False")


def count_transformer(config):
    width, depth, heads = config["width"], config["depth"], config["heads"]
    key_width, value_width = (config[name] or width // heads for name in ("key_width", "value_width"))
    keys, values = (size * (config["key_heads"] or heads) for size in (key_width, value_width))
    bias = config["attention_bias"]
    attention = dense(width, heads * key_width, bias) + dense(width, keys, bias)
    attention += dense(width, values, bias) + dense(heads * value_width, width, bias)
    if config["activation"] == "swiglu":
        feedforward = 3 * width * config["feedforward"]
    else:
        feedforward = dense(width, config["feedforward"]) + dense(config["feedforward"], width)
    norm = width * (2 if config["normalization"] == "layer" else 1)
    last = norm if config["norm"] == "pre" else 0
    relative = 0
    if config["positions"] == "relative":
        relative = (2 * config["clip"] + 1) * (key_width + value_width) * (1 if config["shared_relation"] else heads)
    source, target = config["source_vocab"] * width, config["target_vocab"] * width
    parts = (
        {"embeddings and output": (source, source)}
        if config["tied"]
        else {"source embedding": (source, 0), "target embedding": (target, 0), "output": used(target)}
    )
    if config["positions"] == "learned":
        parts["positions"] = 2 * config["max_length"] * width, 0
    if config["positions"] == "t5":
        parts["positions"] = 2 * config["buckets"] * heads, 0
    return {
        **parts,
        "encoder": used(depth * (attention + relative + feedforward + 2 * norm) + last),
        "decoder": used(depth * (2 * attention + relative + feedforward + 3 * norm) + last),
    }


def _block(config):
    """Weights of one block of BERT and GPT-2: biases everywhere, two layer normalisations."""
    width, inner = config["width"], config["feedforward"]
    return 4 * dense(width, width) + dense(width, inner) + dense(inner, width) + 4 * width


def check_gpt2(config):
    _check_heads(config)
    same_vocabularies(config, "but prompt and target are one row: use one vocabulary for both")


def count_gpt2(config):
    width = config["width"]
    tokens = config["target_vocab"] * width
    return {
        "embedding and output": used(tokens),
        "positions": (config["max_length"] * width, 0),
        "decoder": used(config["depth"] * _block(config) + 2 * width),
    }


def check_bert(config):
    _check_heads(config)


def count_bert(config):
    width = config["width"]
    return {
        "embeddings": ((config["vocab"] + config["max_length"] + 2) * width + 2 * width, config["vocab"] * width),
        "encoder": used(config["depth"] * _block(config)),
        "pooler": used(dense(width, width)),
        "masked-token head": used(dense(width, width) + 2 * width + config["vocab"]),
        "sentence head": used(dense(width, 2)),
    }
