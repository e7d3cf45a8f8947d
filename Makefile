# attune-env: everything a person or CI runs. Needs Python >= 3.11 with pip, and make.

# The first Python on the PATH that is new enough; name another with: make PYTHON=python3.12 …
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
DEMO_OUT ?= results/demo
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Whether the venv there works: it may be half made, or its Python gone.
VENV_WORKS := $(shell $(BIN)/python -c 'import pip' 2>/dev/null && echo yes)

# Tests start hundreds of processes; where nothing may be cached, each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check lint types imports doctests release hub openenv check-extras soak docs bench clean

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

ifneq ($(VENV_WORKS),yes)
.PHONY: $(VENV)/.created
endif
$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo "attune-env needs Python 3.11 or newer on the PATH" >&2; exit 1; }
	@if [ "$(VENV_WORKS)" != yes ]; then \
	  if [ -d $(VENV) ] && [ ! -e $(VENV)/.created ] && [ -e $(VENV)/pyvenv.cfg ] && [ ! -e $(VENV)/.ours ]; then \
	    echo "there is a $(VENV) without pip that this Makefile did not make: move it away" >&2; exit 1; fi; \
	  rm -rf $(VENV); mkdir $(VENV); touch $(VENV)/.ours; \
	  $(PYTHON) -m venv $(VENV) 2>/dev/null || { \
	    echo "no venv module here: using virtualenv" >&2; \
	    $(PYTHON) -m pip install --quiet --target $(VENV)/.tool virtualenv && \
	    PYTHONPATH=$(VENV)/.tool $(PYTHON) -m virtualenv --quiet $(VENV); }; fi
	@touch $@

# The stamps are remade when the requirements change, so that either command works first, and again.
$(VENV)/.installed: pyproject.toml $(VENV)/.created
	@echo "installing into $(VENV): about 1 GB, about two minutes the first time"
	$(PIP) --editable ".[all]"
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(VENV)/.created
	@echo "installing into $(VENV) what the checks need: about 1 GB, about two minutes the first time"
	$(PIP) --editable ".[dev]"
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed  ## Install, run every built-in policy over the sample, and write a report to open
	@echo "playing every built-in policy and writing a report: about half a minute"
	$(BIN)/attune demo --output "$(DEMO_OUT)"
	@echo "the commands live in $(BIN): source $(BIN)/activate"

test: $(VENV)/.installed-dev  ## Install what tests need, then run the quick ones
	@echo "running the quick tests: about five minutes"
	$(BIN)/python -m pytest -n 2 --quiet -m "not slow and not soak"

test-all: test  ## Then the slow ones too: statistical, long, fuzzing
	$(BIN)/python -m pytest -n 2 --quiet -m "slow and not soak"

check: lint types imports test doctests  ## Everything a change must pass

lint: $(VENV)/.installed-dev  ## Style and common mistakes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev  ## Strict type check of everything
	$(BIN)/mypy

imports: $(VENV)/.installed-dev  ## The floors: imports go down only
	$(BIN)/lint-imports

# Modules of extras are left out: their packages are not in this venv.
doctests: $(VENV)/.installed-dev  ## Examples in docstrings
	$(BIN)/python -m pytest --quiet --doctest-modules --doctest-ignore-import-errors attune_env envs rewards data

release: $(VENV)/.installed-dev  ## Rehearse a release: build into dist/, check, install and use what would be uploaded
	$(BIN)/python -m tools.check_release

hub: $(VENV)/.installed-dev  ## Make build/hub, the folder to push to the Environments Hub
	$(BIN)/python -m tools.hub_folder build/hub

openenv: $(VENV)/.installed-dev  ## Make build/attune_env, the folder that OpenEnv builds and pushes
	$(BIN)/python -m tools.openenv_folder build/attune_env

check-extras: $(VENV)/.installed-dev  ## What needs more than the base: one venv each, one after the other
	$(BIN)/python -m tools.check_extras

soak: $(VENV)/.installed-dev  ## What takes an hour
	$(BIN)/python -m pytest --quiet -s -m soak

docs: $(VENV)/.created  ## Build the documentation site into site/
	$(PIP) --editable ".[docs]"
	$(BIN)/python -m tools.build_site site

bench: $(VENV)/.installed  ## Speed, as ratios measured in one run
	$(BIN)/python -m tests.bench

clean:  ## Remove what was made here
	rm -rf $(VENV) .venv-* build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache results site
