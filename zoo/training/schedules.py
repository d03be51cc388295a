"""Learning-rate schedules and the optimisers that the papers pair with them."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("zoo")
class InverseSquareRoot(keras.optimizers.schedules.LearningRateSchedule):
    """Rises linearly, then falls with the square root of the step.

        lrate = scale * d^-0.5 * min(n^-0.5, n * warmup^-1.5)

    Vaswani et al. 2017, Eq. 3. The first update is step n = 1; Keras counts from 0. The peak is at n = warmup:
    scale * (d * warmup)^-0.5.

    Args:
        width: d, the model's width.
        warmup: number of steps of the rise; the paper's 4,000.
        scale: factor on the whole; the paper's 1.
    """

    def __init__(self, width, warmup=4000, scale=1.0):
        if warmup < 1:
            raise ValueError(f"warmup={warmup}: must be at least 1 step")
        self.width = width
        self.warmup = warmup
        self.scale = scale

    def __call__(self, step):
        n = ops.cast(step, "float32") + 1.0
        return self.scale * self.width**-0.5 * ops.minimum(n**-0.5, n * self.warmup**-1.5)

    def get_config(self):
        return {"width": self.width, "warmup": self.warmup, "scale": self.scale}


def transformer_optimizer(width, warmup=4000, scale=1.0, averaging=None):
    """Adam with beta 0.9 and 0.98, epsilon 1e-9, and `InverseSquareRoot` (Vaswani et al. 2017, section 5.3).

    Args:
        width, warmup, scale: of the schedule.
        averaging: momentum of an exponential moving average of the weights, such as 0.99, or None. When `fit()` ends
            the average takes the weights' place: a running form of the paper's average of its last checkpoints (6.1).
    """
    schedule = InverseSquareRoot(width, warmup, scale)
    average = {} if averaging is None else {"use_ema": True, "ema_momentum": averaging}
    return keras.optimizers.Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9, **average)


def bahdanau_optimizer():
    """Adadelta with rho 0.95, epsilon 1e-6, gradients clipped to a norm of 1 (Bahdanau et al. 2015, B.2 and 4.2).

    The method has no learning rate: 1 here. Keras's default of 0.001 makes the recipe stand still.
    """
    return keras.optimizers.Adadelta(learning_rate=1.0, rho=0.95, epsilon=1e-6, global_clipnorm=1.0)
