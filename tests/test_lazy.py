import subprocess
import sys

import pytest

import zoo


def loaded(code):
    """Heavy packages that are loaded after running code in a fresh process."""
    code += "\nimport sys; print(*[m for m in ('tensorflow', 'keras', 'jax', 'torch') if m in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_importing_and_listing_loads_nothing_heavy():
    assert loaded("import zoo") == []
    assert loaded("import zoo; zoo.list_models(); str(zoo.describe('transformer-big')); dir(zoo)") == []
    assert loaded("import zoo.cli; zoo.cli._parser()") == []
    assert loaded("import zoo; zoo.corpus, zoo.Tokenizer") == []


def test_building_loads_keras():
    assert "keras" in loaded("import zoo; zoo.build('seq2seq-tiny')")


@pytest.mark.parametrize("name", zoo.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(zoo, name).__doc__
    assert name in dir(zoo)


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'zoo' has no attribute 'biuld'"):
        _ = zoo.biuld
