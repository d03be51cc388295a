"""The viewer as one HTML file, without a network: the same modules that TensorBoard's tab is made of."""

import base64
import hashlib
import html
import importlib.resources
import json
import re

from zoo.tensorboard.record import METRICS, pack, series

_STATIC = importlib.resources.files("zoo.tensorboard") / "static"
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_STYLE = re.compile(r"const STYLE = `([^`]*)`;")


def page(runs, title="Attention"):
    """A page that shows attention records, in one file that asks for nothing else.

    Its policy allows no network, and no script and no style but its own, by their hashes; tokens are data in it, never
    markup.

    Args:
        runs: {run: {sentence: [(step, blobs, values)]}}: the steps rising, blobs as `zoo.tensorboard.record.pack` gives
            them, values float (kinds, L, H, metrics) of `record_statistics` or None.
        title: of the page.
    Returns:
        str of HTML.
    """
    script = _bundle("page")
    style = _STYLE.search(script)[1]
    policy = f"default-src 'none'; script-src 'sha256-{_hash(script)}'; style-src 'sha256-{_hash(style)}'"
    data = {run: {tag: _series(steps) for tag, steps in tags.items()} for run, tags in runs.items()}
    # Within a script element only "<" can end or open anything; & and > for those who put the page into another.
    text = json.dumps(data)
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n</head>\n<body>\n"
        f'<script type="application/json" id="attention-data">{text}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def frame(content, height=760):
    """The page inside a notebook: a frame of its own that can run its script and save pictures, and nothing else."""
    source = html.escape(content, quote=True)
    return (
        f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{source}" '
        f'style="width:100%;height:{height}px;border:0" title="attention"></iframe>'
    )


def pages_of(record, values=None):
    """The `runs` of `page` for a single record."""
    return {"this model": {"attention/01": [(0, pack(record), values)]}}


def _series(steps):
    found = []
    for step, blobs, _ in steps:
        blocks = [base64.b64encode(blob).decode() for blob in blobs[1:]]
        found.append({"step": int(step), "header": json.loads(blobs[0]), "blocks": blocks})
    known = [(step, values) for step, _, values in steps if values is not None]
    kinds = [kind["name"] for kind in found[0]["header"]["kinds"]] if known else []
    return {"steps": found, "stats": series(kinds, list(METRICS), known)}


def _bundle(first):
    """A module and what it imports as one script: each file once, a scope of its own, after those that it needs."""
    scopes, done = [], set()

    def add(name):
        done.add(name)
        source = (_STATIC / f"{name}.js").read_text(encoding="utf-8")
        for _, needed in _IMPORT.findall(source):
            if needed not in done:
                add(needed)
        names = ", ".join(exported for _, exported in _EXPORT.findall(source))
        body = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = \2_module;", source))
        scopes.append(f"const {name}_module = (() => {{\n{body}\nreturn {{ {names} }};\n}})();")

    add(first)
    return "\n".join(scopes)


def _hash(script):
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
