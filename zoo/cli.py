"""The `zoo` command."""

import argparse
import contextlib
import functools
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path

import zoo

_CHUNK = 1024  # lines translated between two writes, at most
_READ = 1 << 16  # bytes asked for at a time; what is there is taken


def main(arguments=None):
    """Runs the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    return guarded(f"zoo {options.command}", options.run, options)


def guarded(program, run, options):
    """Runs `run(options)` for a program; returns 0, or 2 after one line for a mistake of the user's."""
    try:
        return run(options) or 0
    except BrokenPipeError:  # the reader of our output left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except (ValueError, TypeError, OSError) as error:
        plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # Keras writes its errors in bold
        print(f"{program}: {' '.join(plain.split())}", file=sys.stderr)
        return 2


def _parser():
    parser = argparse.ArgumentParser(prog="zoo", description="Attention models for Keras: list, show, translate, look.")
    parser.add_argument("--version", action="version", version=f"attention-zoo {zoo.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    command = commands.add_parser(
        "list", help="list the models", description="Lists the models: name, parameters, paper, what differs."
    )
    command.add_argument("pattern", nargs="?", default="*", help="wildcard, such as 'seq2seq-*'")
    command.add_argument("--markdown", action="store_true", help="as a Markdown table")
    command.set_defaults(run=_list)

    command = commands.add_parser("show", help="show a model's configuration and cost", description="Shows a model.")
    command.add_argument("name", help="a name from `zoo list`")
    command.add_argument("fields", nargs="*", metavar="FIELD=VALUE", help="change a field, such as depth=4")
    command.set_defaults(run=_show)

    command = commands.add_parser(
        "translate",
        help="translate lines with a saved model",
        description="Translates line by line: as many lines out as in, blank ones stay blank.",
    )
    command.add_argument("folder", help="folder of a saved text model")
    command.add_argument("--input", help="file to read (default: standard input)")
    command.add_argument("--output", help="file to write (default: standard output)")
    command.add_argument("--max-length", type=int, help="most tokens of an output line")
    command.add_argument("--beams", type=int, default=1, help="of a beam search (default: 1, greedy)")
    command.add_argument("--length-penalty", type=float, default=0.6, help="alpha of a beam search (default: 0.6)")
    command.add_argument("--truncate", action="store_true", help="cut lines that are too long, and say how many")
    command.add_argument("--jit", action="store_true", help="compile with XLA: slower to start, faster on many lines")
    command.add_argument("--verbose", action="store_true", help="say how much was done, and with how many graphs")
    command.set_defaults(run=_translate)

    command = commands.add_parser(
        "attend",
        help="show where a saved model looks",
        description="Runs one sentence and prints its attention to the terminal, or saves what a training run has "
        "written as a page: zoo attend --logdir runs/mine --html mine.html",
    )
    command.add_argument("folder", nargs="?", help="folder of a saved text model")
    command.add_argument("text", nargs="?", help="the source sentence")
    command.add_argument("--logdir", help="folder of a training run, in place of a model and a sentence")
    command.add_argument("--target", help="force this target (default: what the model generates)")
    command.add_argument("--role", help="which map, such as decoder/0/cross (default: the last cross-attention)")
    command.add_argument("--head", type=int, help="which head, from 0 (default: the mean)")
    command.add_argument("--png", metavar="FILE", help="also save the map as a picture")
    command.add_argument("--html", metavar="FILE", help="also save all maps as a page that needs no network")
    command.add_argument("--explain", action="store_true", help="with --html: queries, keys, and leave-one-out")
    command.add_argument("--beams", type=int, default=1, help="of the search for the target (default: 1, greedy)")
    command.set_defaults(run=_attend)
    return parser


def _list(options):
    names = zoo.list_models(options.pattern)
    if not names:
        raise ValueError(f"no model's name matches {options.pattern!r}: there are {', '.join(zoo.list_models())}")
    described = [zoo.describe(name) for name in names]
    rows = [(d.name, f"{d.parameters:,}", d.paper, d.differs) for d in described]
    if options.markdown:
        columns = "name", "parameters", "paper", "what differs"
        print(zoo.markdown_table(columns, [(f"`{name}`", *others) for name, *others in rows]))
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, parameters, paper, differs in rows:
        print(f"{name:<{widths[0]}}  {parameters:>{widths[1]}}  {paper:<{widths[2]}}  {differs}")


def _show(options):
    print(zoo.describe(options.name, **zoo.parse_fields(options.fields)))


def _translate(options):
    text = _load(options.folder)
    both = options.input and options.output and Path(options.output).exists()
    if both and os.path.samefile(options.input, options.output):
        raise ValueError(f"--input and --output are the same file, {options.output}: name another")
    if options.jit:
        text.model.compile(jit_compile=True)
    counts, start = Counter(), time.monotonic()
    search = {"beams": options.beams, "length_penalty": options.length_penalty, "max_length": options.max_length}
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(_opened(options.input)) if options.input else _stream(sys.stdin).buffer

        @functools.cache  # opened with the first output: an old file stays what it was where nothing could be done
        def target():
            return stack.enter_context(open(options.output, "wb")) if options.output else _stream(sys.stdout).buffer

        for chunk in _chunks(source, options.input or "standard input"):
            first = counts["texts"]
            for output in text.generate_stream(
                chunk, first_row=first, truncate=options.truncate, counts=counts, **search
            ):
                target().write(f"{_one_line(output)}\n".encode())
            target().flush()
    if counts["truncated"]:
        print(f"zoo translate: {counts['truncated']} lines were cut to what the model takes", file=sys.stderr)
    if options.verbose:
        seconds, graphs = time.monotonic() - start, zoo.compiled_graphs(text.model)
        print(f"zoo translate: {counts['texts']} lines in {seconds:.1f} s, {graphs} graphs compiled", file=sys.stderr)


def _opened(path):
    """A file to read, with a progress bar on the error stream where a person looks at it."""
    from rich.console import Console
    from rich.progress import open as open_with_progress

    console = Console(stderr=True)
    return open_with_progress(path, "rb", description="translating", console=console, disable=not console.is_terminal)


def _stream(stream):
    if stream is None:
        raise ValueError("standard input or output is closed: give --input and --output")
    return stream


def _chunks(stream, name):
    """Lists of the lines that have come in, so that a pipe gets each answer as soon as there is one.

    Only \\n ends a line; a \\r before it and a leading byte-order mark go. A line that is no UTF-8 ends them, after the
    good ones before it.
    """
    number, rest = 0, b""
    read = getattr(stream, "read1", stream.read)  # of a pipe, what is there
    while data := read(_READ):
        *lines, rest = (rest + data).split(b"\n")
        for start in range(0, len(lines), _CHUNK):
            yield from _decoded(lines[start : start + _CHUNK], number + start, name)
        number += len(lines)
    yield from _decoded([rest] if rest else [], number, name)


def _decoded(lines, first, name):
    good = []
    for number, line in enumerate(lines, start=first + 1):
        line = line.removesuffix(b"\r")
        line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        try:
            good.append(line.decode())
        except UnicodeDecodeError as error:
            if good:
                yield good
            raise ValueError(f"{name}, line {number}: not valid UTF-8 ({error.reason}): convert the file") from None
    yield good


def _one_line(text):
    """A model may spell a line end in bytes; as many lines go out as came in."""
    return text.replace("\n", " ")


def _attend(options):
    if options.logdir:
        _attend_history(options)
        return
    if options.text is None:
        raise ValueError("a model's folder and a sentence are needed, or --logdir and --html")
    text = _load(options.folder)
    search = {} if options.target is not None else {"beams": options.beams}
    view = text.attend(options.text, target=options.target, vectors=options.explain, occlude=options.explain, **search)
    view.matrix(options.role, options.head)  # a role or head that is not there is said before anything is printed
    print(view.text)
    view.print(role=options.role, head=options.head)
    if options.png:
        view.png(_placed(options.png), role=options.role, head=options.head)
        print(f"saved {options.png}")
    if options.html:
        view.html(_placed(options.html))
        print(f"saved {options.html}")


def _attend_history(options):
    if options.folder or not options.html:
        raise ValueError("--logdir takes no model and no sentence, and needs --html FILE to write to")
    zoo.quiet()
    history = zoo.tensorboard.read_history(options.logdir)
    page = zoo.inspection.page(history, title=options.logdir)
    _placed(options.html).write_text(page, encoding="utf-8")
    steps = sum(len(steps) for tags in history.values() for steps in tags.values())
    print(f"saved {options.html}: {len(history)} runs, {steps} maps of sentences")


def _placed(path):
    """A path that is to be written, its folder made."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _load(folder):
    zoo.quiet()
    return zoo.load(folder)
