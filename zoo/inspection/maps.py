"""Attention maps of any model of the zoo."""

from zoo.layers.tap import tap


def attention_maps(model, inputs):
    """Runs the model once, without dropout, and returns every attention layer's weights.

    Args:
        model: a model of the zoo, or any Keras model made of its layers.
        inputs: what the model is called with, such as {"source": (B, S), "target": (B, T)}.
    Returns:
        {role: float32 weights}, with the roles "encoder/<layer>/self" (B, H, S, S), "decoder/<layer>/self" (B, H, T, T)
        and "decoder/<layer>/cross" (B, H, T, S). H = 1 in recurrent models; a model without attention gives {}.
        Weights are exactly 0 on padding, and each row sums to 1 over the rest.

    Example::

        zoo.attention_maps(model, batch)["decoder/0/cross"][0, 0]        # one sentence, one head: (T, S)
    """
    with tap() as maps:
        model(inputs, training=False)
    return maps
