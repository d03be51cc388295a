"""The wheel, installed and used away from the checkout."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

import zoo

ROOT = Path(zoo.__file__).parent.parent


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python that has the wheel, and this one's packages (but not its editable checkout) behind it."""
    folder = tmp_path_factory.mktemp("package with space")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT], check=True)
    venv.create(folder / "venv", symlinks=True)
    inner = folder / "venv" / "bin" / "python"
    (wheel,) = folder.glob("attention_zoo-*.whl")
    subprocess.run([*pip, "--python", inner, "install", "--no-deps", wheel], check=True)
    packages = subprocess.run(
        [inner, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    Path(packages.stdout.strip(), "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return inner


def run(*command, cwd):
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=True).stdout


def test_the_wheel_is_what_is_imported(python, tmp_path):
    where = run(python, "-c", "import zoo; print(zoo.__file__, zoo.__version__)", cwd=tmp_path)
    assert str(python.parent.parent) in where
    assert zoo.__version__ in where


def test_the_command_is_installed(python, tmp_path):
    assert "transformer-base" in run(python.parent / "zoo", "list", cwd=tmp_path)


def test_a_recipe_runs_on_it(python, tmp_path):
    assert "--corpus" in run(python, ROOT / "recipes" / "translate.py", "--help", cwd=tmp_path)


def test_a_model_builds_on_it(python, tmp_path):
    code = "import zoo; print(zoo.build('seq2seq-tiny').count_params(), len(zoo.corpus('toy-en-tr').test))"
    expected = f"{zoo.describe('seq2seq-tiny').parameters} 500"
    assert expected in run(python, "-c", code, cwd=tmp_path)
