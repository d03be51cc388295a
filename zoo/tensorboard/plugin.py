"""The TensorBoard plugin: serves attention records and the viewer's modules.

It runs inside TensorBoard, so it loads neither Keras nor TensorFlow, and answers a fault of a file with one line
instead of raising it. Blocks of weights are passed on as they are; the page unpacks them, no further than their header
says.
"""

import functools
import importlib.resources

from tensorboard import plugin_util
from tensorboard.backend import http_util
from tensorboard.data import provider
from tensorboard.plugins import base_plugin
from werkzeug import wrappers

from zoo.tensorboard.record import PLUGIN, read_header, series

STATIC = importlib.resources.files("zoo.tensorboard") / "static"
_MOST_STEPS = 1000


def _route(method):
    """Makes a method of (request, where to read) -> (content, type) a WSGI application, its faults one line."""

    @functools.wraps(method)
    def serve(self, environ, start_response):
        request = wrappers.Request(environ)
        try:
            where = {"ctx": plugin_util.context(environ), "experiment_id": plugin_util.experiment_id(environ)}
            content, kind = method(self, request, where)
            code = 200
        except ValueError as error:
            content, kind, code = str(error), "text/plain", 400
        except Exception as error:  # of a damaged event file, by one of two loaders
            content, kind, code = f"this cannot be read: {type(error).__name__}: {error}", "text/plain", 404
        return http_util.Respond(request, content, kind, code=code)(environ, start_response)

    return serve


class AttentionPlugin(base_plugin.TBPlugin):
    """The tab "Attention"."""

    plugin_name = PLUGIN

    def __init__(self, context):
        super().__init__(context)
        self._provider = context.data_provider

    def get_plugin_apps(self):
        modules = {f"/{file.name}": functools.partial(_module, file) for file in STATIC.iterdir()}
        return {**modules, "/runs": self._runs, "/steps": self._steps, "/stats": self._stats, "/header": self._header,
                "/block": self._block}  # fmt: skip

    def is_active(self):
        return False  # TensorBoard finds the plugin's data by its name

    def frontend_metadata(self):
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="Attention")

    @_route
    def _runs(self, request, where):
        """{run: [tags of sentences]}."""
        found = self._provider.list_blob_sequences(**where, plugin_name=PLUGIN)
        return {run: sorted(tags) for run, tags in found.items()}, "application/json"

    @_route
    def _steps(self, request, where):
        """[{"step", "keys": [header, blocks ...]}] of one sentence of one run."""
        found = self._read(self._provider.read_blob_sequences, request, where)
        steps = [{"step": int(datum.step), "keys": [ref.blob_key for ref in datum.values]} for datum in found]
        return {"steps": steps}, "application/json"

    @_route
    def _stats(self, request, where):
        """The numbers of one sentence of one run (see `zoo.tensorboard.record.series`)."""
        tag = f"{request.args.get('tag', '')}/stats"
        listed = self._provider.list_tensors(**where, plugin_name=PLUGIN)
        known = listed.get(request.args.get("run", ""), {}).get(tag)
        if known is None:
            return series([], [], []), "application/json"
        kinds, metrics = (part.split(",") for part in known.plugin_content.decode().split(";"))
        found = self._read(self._provider.read_tensors, request, where, "/stats")
        for datum in found:
            shape = datum.numpy.shape
            if len(shape) != 4 or shape[0] != len(kinds) or shape[3] != len(metrics):
                raise ValueError(f"{tag} has the shape {shape}: these are no statistics of attention")
        return series(kinds, metrics, [(datum.step, datum.numpy) for datum in found]), "application/json"

    @_route
    def _header(self, request, where):
        return read_header(self._blob(request, where)), "application/json"

    @_route
    def _block(self, request, where):
        return self._blob(request, where), "application/octet-stream"

    def _blob(self, request, where):
        key = request.args.get("key", "")
        if not key:
            raise ValueError("no key was given")
        return self._provider.read_blob(ctx=where["ctx"], blob_key=key)

    def _read(self, method, request, where, suffix=""):
        run, tag = request.args.get("run", ""), request.args.get("tag", "") + suffix
        found = method(
            **where,
            plugin_name=PLUGIN,
            downsample=_MOST_STEPS,
            run_tag_filter=provider.RunTagFilter(runs=[run], tags=[tag]),
        )
        if tag not in found.get(run, {}):
            raise ValueError(f"run {run!r} has no {tag!r}")
        return found[run][tag]


def _module(file, environ, start_response):
    """Serves one of the viewer's modules."""
    request = wrappers.Request(environ)
    return http_util.Respond(request, file.read_bytes(), "text/javascript")(environ, start_response)
