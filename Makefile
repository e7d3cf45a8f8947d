# attune-env: everything a person or CI runs. Needs Python >= 3.11 with pip, and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO_OUT ?= results/demo

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types imports doctests readme wheel check-extras soak bench clean

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

# A venv counts once it is whole: one that was interrupted is made again.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "attune-env needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); $(PYTHON) -m pip install --quiet --user virtualenv && \
	  $(PYTHON) -m virtualenv --quiet $(VENV); }
	@touch $@

# The stamps are remade when the requirements change, so that either command works first, and again.
$(VENV)/.installed: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed  ## Install, then run every built-in policy over the sample and show the leaderboard
	$(BIN)/attune demo --output $(DEMO_OUT)

test: $(VENV)/.installed-dev  ## Install what tests need, then run them
	$(BIN)/python -m pytest -n 2 --quiet -m "not soak"

check: lint types imports test doctests readme wheel  ## Everything a change must pass

lint: $(VENV)/.installed-dev  ## Style and common mistakes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev  ## Strict type check of everything
	$(BIN)/mypy

imports: $(VENV)/.installed-dev  ## The floors: imports go down only
	$(BIN)/lint-imports

doctests: $(VENV)/.installed-dev  ## Examples in docstrings
	$(BIN)/python -m pytest --quiet --doctest-modules attune_env envs rewards data

readme: $(VENV)/.installed-dev  ## Code blocks of README and docs, and the examples
	$(BIN)/python tests/run_documents.py

wheel: $(VENV)/.installed-dev  ## Build the wheel, install it in an empty venv, run it from another folder
	$(BIN)/python tests/check_wheel.py

check-extras: $(VENV)/.installed-dev  ## What needs more than the base: one venv each, one after the other
	$(BIN)/python tests/check_extras.py

soak: $(VENV)/.installed-dev  ## What takes an hour
	$(BIN)/python -m pytest --quiet -m soak

bench: $(VENV)/.installed  ## Speed, as ratios measured in one run
	$(BIN)/python -m tests.bench

clean:  ## Remove what was made here
	rm -rf $(VENV) .venv-* build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis results
