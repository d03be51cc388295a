"""Several models as one, for every search."""

import keras
from keras import ops

MEANS = ("probabilities", "logs")


class Ensemble(keras.Model):
    """Writes with several models at a time: each step takes the mean of what they say.

        p(v) = 1/M sum_m p_m(v)          or          log p(v) ~ 1/M sum_m log p_m(v)

    The models may be of any families, as long as they share the target's vocabulary and read the same source ids.
    `step` returns the attention of all of them, head after head.

    Args:
        models: models with `start`, `step` and `vocabulary`.
        mean: "probabilities", or "logs" (a geometric mean; what models rule out stays out).
    Raises:
        ValueError: no models, target vocabularies that differ, or a mean of another name.

    Example::

        zoo.beam_search(zoo.Ensemble([transformer, bahdanau]), source, beams=4)
    """

    def __init__(self, models, mean="probabilities"):
        super().__init__(name="ensemble")
        models = list(models)
        if not models:
            raise ValueError("an ensemble needs at least one model")
        if mean not in MEANS:
            raise ValueError(f"mean={mean!r}: must be one of {', '.join(map(repr, MEANS))}")
        sizes = [model.vocabulary("target") for model in models]
        if len(set(sizes)) > 1:
            raise ValueError(f"the models' target vocabularies differ, {sizes}: an ensemble needs one vocabulary")
        self.models = models
        self.mean = mean
        self.built = True

    def get_config(self):
        raise ValueError("an ensemble is not saved: save its models, and make it of them again")

    def vocabulary(self, side):
        """Number of tokens of "source" or "target"; for the source, of the model that knows the fewest."""
        return min(model.vocabulary(side) for model in self.models)

    @property
    def step_heads(self):
        """Roles of the models, each behind its model's number."""
        members = enumerate(self.models)
        return {f"{i}/{role}": heads for i, member in members for role, heads in member.step_heads.items()}

    @property
    def source_limit(self):
        limits = [model.source_limit for model in self.models if model.source_limit is not None]
        return min(limits, default=None)

    def target_limit(self, source_length):
        limits = [model.target_limit(source_length) for model in self.models]
        return min((limit for limit in limits if limit is not None), default=None)

    def check_lengths(self, inputs):
        """Refuses inputs that one of the models cannot take."""
        for model in self.models:
            if hasattr(model, "check_lengths"):
                model.check_lengths(inputs)

    def start(self, source, max_length):
        memories, caches = zip(*(model.start(source, max_length) for model in self.models), strict=True)
        return list(memories), list(caches)

    def step(self, token, index, memory, cache):
        members = zip(self.models, memory, cache, strict=True)
        logits, caches, attention = zip(*(m.step(token, index, *state) for m, *state in members), strict=True)
        return self._mean(logits), list(caches), ops.concatenate(attention, axis=1)

    def call(self, inputs):
        return self._mean([model(inputs, training=False) for model in self.models])

    def _mean(self, logits):
        log_probs = ops.stack([ops.log_softmax(ops.cast(one, "float32"), axis=-1) for one in logits])
        if self.mean == "logs":
            return ops.mean(log_probs, axis=0)
        return ops.logsumexp(log_probs, axis=0) - ops.log(float(len(logits)))
