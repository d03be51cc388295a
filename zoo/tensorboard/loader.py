"""What TensorBoard loads at its start: nothing that could fail, because a fault here would stop all of TensorBoard."""

import logging

from tensorboard.plugins import base_plugin

_STEPS = 200  # of one sentence that are kept in memory; TensorBoard's own choice of 10 loses the first ones


class Loader(base_plugin.TBLoader):
    """Makes the plugin, or leaves TensorBoard without it where the zoo cannot be imported."""

    def fix_flags(self, flags):
        if getattr(flags, "samples_per_plugin", None) is not None:
            flags.samples_per_plugin.setdefault("attention", _STEPS)

    def load(self, context):
        try:
            from zoo.tensorboard.plugin import AttentionPlugin
        except Exception as error:  # whatever it is, the other tabs work
            logging.getLogger("tensorboard").warning("the attention tab is left out: %s", error)
            return None
        return AttentionPlugin(context)
