import io
import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

import zoo
from zoo.cli import main

TEXTS = ["the cat sat", "kedi oturdu", "a b c"] * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    tokenizer = zoo.Tokenizer.train(TEXTS, 310)
    sizes = {"source_vocab": tokenizer.vocabulary, "target_vocab": tokenizer.vocabulary}
    path = tmp_path_factory.mktemp("cli") / "model"
    zoo.TextModel(zoo.build("transformer-tiny", **sizes), tokenizer).save(path)
    return path


@pytest.fixture
def stdin(monkeypatch):
    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return give


def test_list_names_parameters_and_papers(capsys):
    assert main(["list", "transformer-*"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == zoo.list_models("transformer-*")
    assert any("63,045,632" in line and "Vaswani" in line and "post-norm" in line for line in lines)
    assert main(["list", "transformer-base", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("| name | parameters | paper | what differs |")


def test_show_takes_fields(capsys):
    assert main(["show", "transformer-base", "attention_bias=True"]) == 0
    assert "63,082,496" in capsys.readouterr().out


def test_translate_keeps_every_line(folder, stdin, capfdbinary):
    stdin(b"\xef\xbb\xbf1\r\n2\n\n3\n")
    assert main(["translate", str(folder), "--max-length", "5"]) == 0
    lines = capfdbinary.readouterr().out.split(b"\n")
    assert len(lines) == 5
    assert lines[2] == lines[4] == b""
    text = zoo.load(folder)
    assert [line.decode() for line in lines[:4]] == text.generate(["1", "2", "", "3"], max_length=5)


@pytest.mark.parametrize(
    ("content", "count"),
    [(b"", 0), (b"\n", 1), (b"   ", 1), (b"a", 1), ("a\vb\u2028c\x85d\re".encode(), 1), (b"\n\n\n", 3)],
)
def test_only_a_newline_ends_a_line(folder, tmp_path, content, count):
    (tmp_path / "in").write_bytes(content)
    arguments = ["--input", str(tmp_path / "in"), "--output", str(tmp_path / "out"), "--max-length", "2"]
    assert main(["translate", str(folder), *arguments]) == 0
    assert (tmp_path / "out").read_bytes().count(b"\n") == count


def test_lines_done_before_a_bad_one_stay_written(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("zoo.cli._CHUNK", 2)
    (tmp_path / "in").write_bytes(b"a\nb\nc\n\xff\nd\n")
    arguments = ["--input", str(tmp_path / "in"), "--output", str(tmp_path / "out"), "--max-length", "2"]
    assert main(["translate", str(folder), *arguments]) == 2
    assert "line 4: not valid UTF-8" in capsys.readouterr().err
    assert (tmp_path / "out").read_bytes().count(b"\n") == 3


def test_a_pipe_gets_each_answer_before_the_next_question(folder):
    command = [sys.executable, "-m", "zoo", "translate", str(folder), "--max-length", "3"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for question in (b"the cat\n", b"a b c\n", b"\n"):
            process.stdin.write(question)
            process.stdin.flush()
            assert process.stdout.readline().endswith(b"\n")  # would wait for ever if it wanted more lines first
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


def test_an_interrupted_translation_leaves_what_is_done(folder, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "zoo", "translate", str(folder), "--max-length", "3", "--output", str(out)]

    def listening():  # a shell's background jobs, and what they start, ignore SIGINT
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, preexec_fn=listening) as process:
        process.stdin.write(b"the cat\nthe dog\n")
        process.stdin.flush()
        while not (out.exists() and out.read_bytes().count(b"\n") == 2):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert b"Traceback" not in process.stderr.read()
    assert out.read_bytes().count(b"\n") == 2


def test_long_lines_stop_or_are_cut_and_counted(tmp_path, capsys):
    tokenizer = zoo.Tokenizer.train(["a b c d e f g"], 280)
    fields = {"score": "location", "max_source": 6}
    sizes = dict.fromkeys(("source_vocab", "target_vocab"), tokenizer.vocabulary)
    zoo.TextModel(zoo.build("seq2seq-luong-tiny", **sizes, **fields), tokenizer).save(tmp_path / "model")
    (tmp_path / "in").write_text("a\nb c\na b c d e f g\nd\n")
    files = ["--input", str(tmp_path / "in"), "--output", str(tmp_path / "out"), "--max-length", "2"]
    assert main(["translate", str(tmp_path / "model"), *files]) == 2
    assert "text 3 has" in capsys.readouterr().err
    assert (tmp_path / "out").read_bytes().count(b"\n") == 2
    assert main(["translate", str(tmp_path / "model"), *files, "--truncate", "--beams", "2", "--verbose"]) == 0
    said = capsys.readouterr().err
    assert "1 lines were cut" in said
    assert "4 lines in" in said
    assert "graphs compiled" in said
    assert (tmp_path / "out").read_bytes().count(b"\n") == 4


def test_xla_writes_the_same(folder, tmp_path, capsys):
    (tmp_path / "in").write_text("a b\n\nc\n")
    written = []
    for options in ([], ["--jit"]):
        files = ["--input", str(tmp_path / "in"), "--output", str(tmp_path / "out"), "--max-length", "5"]
        assert main(["translate", str(folder), *files, *options]) == 0
        written.append((tmp_path / "out").read_text())
    assert written[0] == written[1]


def test_the_same_file_is_not_read_and_written(folder, tmp_path, capsys):
    (tmp_path / "in").write_text("a\n")
    both = ["--input", str(tmp_path / "in"), "--output", str(tmp_path / "in")]
    assert main(["translate", str(folder), *both]) == 2
    assert "the same file" in capsys.readouterr().err
    assert (tmp_path / "in").read_text() == "a\n"


def test_an_old_output_stays_where_nothing_could_be_done(folder, tmp_path):
    (tmp_path / "in").write_bytes(b"\xff\n")
    (tmp_path / "out").write_text("old")
    assert main(["translate", str(folder), "--input", str(tmp_path / "in"), "--output", str(tmp_path / "out")]) == 2
    assert (tmp_path / "out").read_text() == "old"


def test_closed_streams_are_one_clear_line(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["translate", str(folder)]) == 2
    assert "is closed" in capsys.readouterr().err


def test_attend_prints_and_saves(folder, tmp_path, capsys):
    png = tmp_path / "pictures" / "map.png"
    assert main(["attend", str(folder), "the cat", "--target", "kedi", "--png", str(png)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("kedi\n")
    assert "decoder/1/cross, mean of 4 heads" in printed
    assert png.read_bytes().startswith(b"\x89PNG")


def test_attend_saves_pages_of_a_sentence_and_of_a_run(folder, tmp_path, capsys):
    html = tmp_path / "pages" / "view.html"
    assert main(["attend", str(folder), "the cat", "--html", str(html), "--explain"]) == 0
    assert "saved" in capsys.readouterr().out
    assert "queries" in html.read_text(encoding="utf-8")
    assert "occlusion" in html.read_text(encoding="utf-8")
    text = zoo.load(folder)
    text.model.compile("sgd")
    look = zoo.tensorboard.AttentionCallback([("the cat", "kedi")], tmp_path / "log", text=text)
    look.set_model(text.model)
    look.on_train_begin()
    assert main(["attend", "--logdir", str(tmp_path / "log"), "--html", str(html)]) == 0
    assert "1 runs, 1 maps of sentences" in capsys.readouterr().out
    assert "attention-data" in html.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list", "nothing-*"], "no model's name matches 'nothing-*'"),
        (["show", "transformer-bass"], "did you mean"),
        (["show", "transformer-base", "depth"], "'depth' is not FIELD=VALUE"),
        (["show", "transformer-base", "widht=3"], "no field 'widht'"),
        (["show", "transformer-base", "depth=0"], "depth=0"),
        (["translate", "nowhere"], "there is no folder nowhere"),
        (["attend", "FOLDER", " "], "blank"),
        (["attend", "FOLDER"], "a model's folder and a sentence are needed, or --logdir and --html"),
        (["attend", "FOLDER", "a", "--logdir", "x"], "--logdir takes no model and no sentence"),
        (["attend", "--logdir", "nowhere", "--html", "x.html"], "no folder nowhere"),
        (["attend", "FOLDER", "a", "--role", "cross"], "role 'cross'"),
        (["attend", "FOLDER", "a", "--head", "9"], "head 9"),
        (["translate", "FOLDER", "--input", "nowhere.txt"], "nowhere.txt"),
        (["translate", "FOLDER", "--max-length", "0", "--input", "INPUT"], "max_length=0"),
    ],
)
def test_a_users_mistake_is_one_clear_line(arguments, words, folder, tmp_path, capsys):
    (tmp_path / "in").write_text("a\n")
    places = {"FOLDER": str(folder), "INPUT": str(tmp_path / "in")}
    assert main([places.get(a, a) for a in arguments]) == 2
    printed, error = capsys.readouterr()
    assert printed == ""
    assert words in error
    assert error.count("\n") == 1
    assert "Traceback" not in error


@pytest.mark.parametrize(
    "arguments", [[], ["fly"], ["show"], ["translate", "x", "--fast"], ["attend", "x", "y", "--head", "z"]]
)
def test_bad_use_exits_with_two(arguments, capsys):
    with pytest.raises(SystemExit) as exit:
        main(arguments)
    assert exit.value.code == 2
    assert "usage: zoo" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["list", "show", "translate", "attend"])
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as exit:
        main([command, "--help"])
    assert exit.value.code == 0
    assert f"usage: zoo {command}" in capsys.readouterr().out


def run(*arguments, **options):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TF_")}
    command = [sys.executable, "-m", "zoo", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, **options)


def test_the_screen_shows_no_noise(folder):
    done = run("translate", folder, "--max-length", "3", input="the cat\n")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def test_a_reader_that_leaves_is_no_error(folder):
    translate = shlex.join([sys.executable, "-m", "zoo", "translate", str(folder), "--max-length", "2"])
    shell = f"yes 'the cat' | head -3000 | {translate} | head -1"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.stdout.count("\n") == 1
