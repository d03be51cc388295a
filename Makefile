# Each target makes what it needs; all can be run first, twice, and from a path with spaces.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
RUN := .venv/bin/python
JAX := .venv-jax/bin/python
PIP := -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-jax lint clean

demo: .venv/installed
	$(RUN) recipes/translate.py --sentence "the cat sat on the mat" --logdir runs/demo --output runs/demo/model

test: .venv/installed
	$(RUN) -m pytest -n 2 --dist loadgroup tests

# Layers, models and decoding on Keras's other backend, which compiles every operation for every size: the tiny models.
test-jax: .venv-jax/installed
	KERAS_BACKEND=jax $(JAX) -m pytest -n 2 --dist loadgroup tests/layers tests/decoding tests/models
	KERAS_BACKEND=jax $(JAX) -m pytest -n 2 --dist loadgroup tests/test_zoo.py -k tiny

lint: .venv/installed
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

clean:
	rm -rf .venv .venv-jax build dist runs

# The stamp is made last: an interrupted installation is taken up again.
.venv/installed: setup.cfg pyproject.toml
	test -x $(RUN) || "$(PYTHON)" -m venv .venv
	$(RUN) $(PIP) --editable ".[test,dev,plot]"
	touch .venv/installed

.venv-jax/installed: setup.cfg pyproject.toml
	test -x $(JAX) || "$(PYTHON)" -m venv .venv-jax
	$(JAX) $(PIP) --editable ".[test,jax]"
	touch .venv-jax/installed
