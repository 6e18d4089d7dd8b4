# Every target makes its own virtual environment first; nothing happens where nothing changed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# What is compiled is kept, whatever the machine is set to: every process would compile it again.
export PYTHONDONTWRITEBYTECODE :=
# Modules are compiled when first imported: most of what is installed never is.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# One more than there are cores, since many tests wait for a moment.
TESTERS = $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

.PHONY: demo test full check docs pictures bench clean

demo: $(VENV)/.base
	$(BIN)/proctor demo

test: $(VENV)/.test
	$(BIN)/pytest -n $(TESTERS) --dist loadfile --no-loadscope-reorder $(OPTIONS)

# Everything at its full size; OPTIONS="--seed 7" kills at other moments. It takes hours.
full: $(VENV)/.test
	.ci/full $(OPTIONS)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src

docs: $(VENV)/.test
	$(BIN)/python docs/generate.py

# Screenshots of README and pages, from `proctor demo --tour`; needs the extra browser and chromium.
pictures: $(VENV)/.test
	$(PIP) --editable '.[browser]'
	$(BIN)/python docs/pictures.py

# Installs inspect-ai, lm-eval and deepeval below .venv-peers; BENCH_LARGE=1 adds a million rows.
bench: $(VENV)/.peers
	$(BIN)/python benchmarks/all.py $(BENCH)

# What each is installed with. None needs another, so that there is one installation and not two.
EXTRA.base := local
EXTRA.test := test
EXTRA.peers := peers
EXTRA.dev := dev

$(VENV)/.base $(VENV)/.test $(VENV)/.peers $(VENV)/.dev: $(VENV)/.%: pyproject.toml src/proctor/version.py
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Proctor needs Python 3.11 or newer (fix: make PYTHON=python3.12 …)")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[$(EXTRA.$*)]'
	touch $@

clean:
	rm -rf $(VENV) .venv-peers .proctor .pytest_cache .mypy_cache .ruff_cache .hypothesis
