# Everything runs inside .venv, which is made on first use and again only when
# pyproject.toml or constraints.txt change. Paths are relative, so the checkout may
# live in a folder with spaces in its name.

PYTHON ?= python3
CONFIG ?= configs/quickstart.yaml
RUN ?=
ARGS ?=
CHECK := --deals 4000 --seed 20261130 --jobs 2

VENV_PYTHON := .venv/bin/python
STAMP := .venv/.installed
INTEGRATIONS := .venv/.integrations
NOTEBOOKS := .venv/.notebooks
DOCS := .venv/.docs

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help train champion-check tensorboard test lint typecheck unit jitless test-integrations test-notebooks notebooks docs playthroughs format clean distclean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  CONFIG=$(CONFIG)  configuration used by make train"
	@echo "  RUN=name                 name of the run: runs/name"
	@echo "  ARGS='...'               further arguments, for train.py or for pytest (make unit)"
	@echo "  PYTHON=$(PYTHON)           interpreter (3.11 or newer) that .venv is made from"

$(STAMP): pyproject.toml constraints.txt
	@echo 'Setting up .venv: only the first time, a minute or a few'
	$(PYTHON) -m venv .venv
	$(VENV_PYTHON) -m pip install --quiet -c constraints.txt -e '.[test]'
	@touch $@

$(INTEGRATIONS): $(STAMP)
	$(VENV_PYTHON) -m pip install --quiet -c constraints.txt -e '.[integrations]'
	@touch $@

$(NOTEBOOKS): $(STAMP)
	$(VENV_PYTHON) -m pip install --quiet -c constraints.txt -e '.[notebooks]'
	@touch $@

$(DOCS): $(STAMP)
	$(VENV_PYTHON) -m pip install --quiet -c constraints.txt -e '.[docs]'
	@touch $@

train: $(STAMP) ## train an agent: make train RUN=first ARGS='--section.key value'
	$(VENV_PYTHON) train.py --config '$(CONFIG)' $(if $(RUN),--run.name '$(RUN)') $(ARGS)

champion-check: $(STAMP) ## what the shipped champions are worth: the headline tables of docs/strength.md
	.venv/bin/casino arena champion random greedy counter searcher --gauntlet $(CHECK)
	.venv/bin/casino arena champion:endgame=exact counter searcher --gauntlet $(CHECK)
	.venv/bin/casino regret champion
	.venv/bin/casino arena champion counter --players 3 $(CHECK)
	.venv/bin/casino arena champion counter --players 4 $(CHECK)
	.venv/bin/casino arena champion counter searcher --gauntlet --rules plain $(CHECK)

tensorboard: $(STAMP) ## show the curves of all runs in the browser
	$(VENV_PYTHON) -m tensorboard.main --logdir runs

# One recipe, so that the checks keep their order under make -j and the first failure ends them.
test: $(STAMP) ## all checks: lint, types, tests, and the fast tests without the jit
	$(MAKE) --no-print-directory lint
	$(MAKE) --no-print-directory typecheck
	$(MAKE) --no-print-directory unit
	$(MAKE) --no-print-directory jitless

lint: $(STAMP) ## style, format and import layers
	$(VENV_PYTHON) -m ruff check .
	$(VENV_PYTHON) -m ruff format --check .
	.venv/bin/lint-imports --no-logo

typecheck: $(STAMP) ## types (mypy)
	$(VENV_PYTHON) -m mypy

unit: $(STAMP) ## tests, without those marked slow: make unit ARGS='-k token'
	$(VENV_PYTHON) -m pytest $(ARGS)

jitless: $(STAMP) ## the tests marked jitless, with the kernels run as plain Python
	NUMBA_DISABLE_JIT=1 $(VENV_PYTHON) -m pytest -m 'jitless and not slow'

test-integrations: $(INTEGRATIONS) ## the examples for other libraries, which this installs first
	$(VENV_PYTHON) -m pytest -m integrations $(ARGS)

test-notebooks: $(NOTEBOOKS) ## run every notebook from top to bottom
	$(VENV_PYTHON) -m pytest -m notebooks $(ARGS)

notebooks: $(NOTEBOOKS) ## run the notebooks, and write what they show to docs/notebooks
	$(VENV_PYTHON) -m jupyter nbconvert --to markdown --execute --output-dir docs/notebooks notebooks/*.ipynb

docs: $(DOCS) ## write what the pages take from the code, and build the site in build/docs
	$(VENV_PYTHON) -m docs.generate
	$(VENV_PYTHON) -m sphinx -q -W --keep-going -b html docs build/docs
	@echo 'open build/docs/index.html'

playthroughs: $(STAMP) ## write the golden games anew: read the difference before it is committed
	$(VENV_PYTHON) -m tests.make_playthroughs

format: $(STAMP) ## rewrite the code in the house format
	$(VENV_PYTHON) -m ruff check --fix .
	$(VENV_PYTHON) -m ruff format .

clean: ## remove caches and build leftovers (keeps .venv and runs)
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
	find . \( -path ./.venv -o -path ./runs -o -path ./.git \) -prune -o -type d -name __pycache__ -exec rm -rf {} +

distclean: clean ## clean, and remove .venv too (keeps runs)
	rm -rf .venv
