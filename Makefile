# All work on this repository, on a machine with only make and Python 3.11 or newer.
#
#   make demo     set up, and run the command on an example log
#   make test     set up, and run all tests and laws
#   make check    style, types, floors, documentation and its examples
#   make laws     the laws alone, with many more random cases
#   make laws-long  the same, and new interesting logs looked for and kept
#   make broken-cores  59 deliberately broken cores, each judged by the laws
#   make bench    the cost table, measured
#   make crash    writers killed 1,000 times, and what they leave looked at
#   make docs     the documentation, into docs/_build/html
#   make clean    remove all that the above made
#
# Another Python, another place:  make test PYTHON=python3.12 VENV=.venv-3.12

PYTHON ?= python3
VENV = .venv
LOG = examples/garden.jsonl
PYTEST_ARGS =
BENCH_ARGS =
CRASH_ARGS = --kills 1000
LAWS_PROFILE = nightly
LOGS_LOOKED_AT = 20000
SEED = 1
BROKEN_ARGS =

BIN := $(VENV)/bin
# pyrsistent's C vector, built from source, crashes on CPython 3.13: its wheels only.
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --only-binary pyrsistent
TYPED := $(wildcard dsh_fp property_specs tests benchmarks examples/*.py tools/*.py)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check style types floors docs docs-examples laws laws-long \
    broken-cores bench crash clean

help:
	@sed -n 's/^#   //p' $(firstword $(MAKEFILE_LIST))

# ---- what the targets need, each installed once and again when pyproject.toml changes

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "make: '$(PYTHON)' is not Python 3.11 or newer; say PYTHON=..." >&2; exit 1; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.package: $(VENV)/.made pyproject.toml
	@echo "installing dsh-fp"
	@$(INSTALL) -e .
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	@echo "installing dsh-fp and what the tests need"
	@$(INSTALL) -e '.[test]'
	@touch $(VENV)/.package $@

$(VENV)/.check: $(VENV)/.made pyproject.toml
	@echo "installing dsh-fp and what the checks need"
	@$(INSTALL) -e '.[check,docs]'
	@touch $(VENV)/.package $(VENV)/.test $@

# ---- the two commands of the README

demo: $(VENV)/.package
	@for command in verify show messages requests; do \
	    printf '\n$$ dsh-fp %s %s\n' "$$command" "$(LOG)"; \
	    $(BIN)/dsh-fp $$command $(LOG) || exit; \
	done

test: $(VENV)/.test
	@$(BIN)/python -m pytest -q $(PYTEST_ARGS)

# ---- the checks

check: style types floors docs docs-examples
	@echo "all checks passed"

style: $(VENV)/.check
	@echo "== ruff"
	@$(BIN)/ruff check -q .
	@$(BIN)/ruff format -q --check . || { $(BIN)/ruff format --check .; exit 1; }

types: $(VENV)/.check
	@echo "== mypy"
	@$(BIN)/mypy $(TYPED)
	@echo "== pyright"
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --pythonpath $(BIN)/python

floors: $(VENV)/.check
	@echo "== import-linter"
	@report=$$($(BIN)/lint-imports --no-cache 2>&1) || { echo "$$report"; exit 1; }

docs: $(VENV)/.check
	@echo "== sphinx"
	@$(BIN)/python -m sphinx -q -W -E -b html docs docs/_build/html

docs-examples: $(VENV)/.check
	@echo "== examples of README, docs and docstrings"
	@$(BIN)/python -m pytest -q -p tools.docs_examples --doctest-modules README.md docs dsh_fp

# ---- longer runs

laws: $(VENV)/.test
	@$(BIN)/python -m pytest -q property_specs --hypothesis-profile=$(LAWS_PROFILE) $(PYTEST_ARGS)

laws-long: laws
	@$(BIN)/python -m property_specs.corpus collect $(LOGS_LOOKED_AT) $(SEED)

broken-cores: $(VENV)/.test
	@$(BIN)/python -m property_specs.broken_cores $(BROKEN_ARGS)

bench: $(VENV)/.package
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)

crash: $(VENV)/.package
	@$(BIN)/python -m benchmarks.crash $(CRASH_ARGS)

clean:
	@rm -rf $(VENV) .venv-* build dist docs/_build
	@rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
