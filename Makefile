# Every target makes its own virtual environment first; nothing happens where nothing changed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check bench docs clean

demo: $(STAMP)
	$(BIN)/proctor demo

test: $(STAMP)
	$(BIN)/pytest -n auto

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(STAMP)
	$(BIN)/python docs/generate.py

bench: $(STAMP)
	$(BIN)/python benchmarks/text_criteria.py
	$(BIN)/python benchmarks/sandboxed_tests.py

$(STAMP): pyproject.toml src/proctor/version.py
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Proctor needs Python 3.11 or newer (fix: make PYTHON=python3.12 …)")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) .proctor .pytest_cache .mypy_cache .ruff_cache
