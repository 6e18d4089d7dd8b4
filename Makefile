# Every target makes its own virtual environment first; nothing happens where nothing changed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test check docs bench clean

demo: $(VENV)/.base
	$(BIN)/proctor demo

test: $(VENV)/.test
	$(BIN)/pytest -n auto --dist loadfile

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.test
	$(BIN)/python docs/generate.py

bench: $(VENV)/.peers
	$(BIN)/python benchmarks/text_criteria.py
	$(BIN)/python benchmarks/text_metrics.py
	$(BIN)/python benchmarks/sandboxed_tests.py
	$(BIN)/python benchmarks/model_throughput.py

$(VENV)/.base: pyproject.toml src/proctor/version.py
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Proctor needs Python 3.11 or newer (fix: make PYTHON=python3.12 …)")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[local]'
	touch $@

$(VENV)/.test: $(VENV)/.base
	$(PIP) --editable '.[test]'
	touch $@

$(VENV)/.peers: $(VENV)/.base
	$(PIP) --editable '.[peers]'
	touch $@

$(VENV)/.dev: $(VENV)/.base
	$(PIP) --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .proctor .pytest_cache .mypy_cache .ruff_cache .hypothesis
