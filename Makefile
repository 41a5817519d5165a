# Everything a contributor types. Needs GNU make, git and Python 3.11 or newer with its venv module;
# all else is installed into .venv, from the locks in requirements/, when a target first needs it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# A stamp carries the hash of what was installed, so a changed lock is installed anew.
hash = $(shell cat $(1) | sha256sum | cut -c1-16)
RUN_LOCKS := requirements/run.txt requirements/build.txt
DEV_LOCKS := requirements/dev.txt
RUN_STAMP := $(VENV)/.run-$(call hash,$(RUN_LOCKS) pyproject.toml)
DEV_STAMP := $(VENV)/.dev-$(call hash,$(DEV_LOCKS) pyproject.toml)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

TESTS ?=
DEMO ?=
SECONDS ?= 600
POINTS ?= 200
MINUTES ?= 30

.DEFAULT_GOAL := help
.PHONY: help demo test oracles coverage fuzz bench load drill soak fleet lint format docs lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(RUN_STAMP) ## Run the agent against a simulated cluster of GPUs, for 30 seconds (DEMO="--nodes 4")
	@$(BIN)/cwgpu demo $(DEMO)

test: $(DEV_STAMP) ## Run all tests and measure coverage (TESTS="tests/prom -k relabel")
	@$(BIN)/python -m pytest --numprocesses auto --cov --cov-report= $(TESTS)

oracles: ## Fetch the real programs that some tests ask: promtool, prometheus, vmagent; none is installed
	@.ci/oracles

# Floors 0 to 2, the pure ones.
CORE := model prom emf logs pace gpu plan digest
comma := ,
empty :=
CORE_FILES := $(subst $(empty) $(empty),$(comma),$(CORE:%=cwgpu/%/*))

coverage: ## After `make test`: the pure floors must be covered wholly, lines and branches
	@$(BIN)/coverage report --include='$(CORE_FILES)' --fail-under=100

fuzz: $(DEV_STAMP) ## Break pages, rules and documents for ten minutes and see what gives (SECONDS=60)
	@$(BIN)/python -m tests.fuzz.exposition --seconds $$(($(SECONDS) / 2))
	@$(BIN)/python -m tests.fuzz.rules --seconds $$(($(SECONDS) / 4))
	@$(BIN)/python -m tests.fuzz.documents --seconds $$(($(SECONDS) / 4))

bench: $(DEV_STAMP) ## Measure the hot path, and what sending costs
	@$(BIN)/python -m pytest --benchmark-enable --benchmark-only tests/bench
	@$(BIN)/python -m tests.bench.sink

load: $(DEV_STAMP) ## Measure hostile pages, 300 targets, 5,000 pods, and a day without CloudWatch
	@$(BIN)/python -m tests.load.lines
	@$(BIN)/python -m tests.load.targets
	@$(BIN)/python -m tests.load.kubernetes
	@$(BIN)/python -m tests.load.outage

drill: $(DEV_STAMP) ## Kill the agent at 200 random points and see that nothing is lost (POINTS=20)
	@$(BIN)/python -m tests.drill.kill --points $(POINTS)

soak: $(DEV_STAMP) ## Let all come, go and fail for half an hour and see that nothing grows (MINUTES=10)
	@$(BIN)/python -m tests.bench.soak --minutes $(MINUTES)

fleet: $(DEV_STAMP) ## Measure the whole agent before 200 targets (FLEET="--targets 1000 --interval 15")
	@$(BIN)/python -m tests.bench.fleet --floor $(FLEET)

lint: $(DEV_STAMP) ## Check style, types and floors
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(DEV_STAMP) ## Format the code and repair what can be repaired
	@$(BIN)/ruff check --fix-only
	@$(BIN)/ruff format

docs: $(DEV_STAMP) ## Write the tables of docs/configuration.md from the code
	@$(BIN)/python -m tests.docs.keys

# Versions stay as they are unless the floors ask otherwise; LOCK=--upgrade takes the newest.
LOCK ?=
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-build --custom-compile-command 'make lock' $(LOCK)

lock: $(DEV_STAMP) ## Resolve the locks again (LOCK=--upgrade: with the newest versions)
	$(COMPILE) pyproject.toml --output-file requirements/run.txt
	$(COMPILE) --group build --output-file requirements/build.txt
	$(COMPILE) pyproject.toml --group dev --constraints requirements/run.txt \
		--constraints requirements/build.txt --output-file requirements/dev.txt

clean: ## Remove .venv and all that the tools left
	rm -rf $(VENV) .cache dist build .coverage .coverage.* .benchmarks .hypothesis .import_linter_cache \
		.mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and \
		f"cwgpu needs Python 3.11 or newer; $(PYTHON) is {v[0]}.{v[1]}. Say make PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): | $(VENV)/bin/python
	@echo 'Installing into $(VENV) from $(RUN_LOCKS)' >&2
	@$(PIP) install --require-hashes $(RUN_LOCKS:%=-r %)
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@rm -f $(VENV)/.run-*
	@touch $@

$(DEV_STAMP): $(RUN_STAMP)
	@echo 'Installing into $(VENV) from $(DEV_LOCKS)' >&2
	@$(PIP) install --require-hashes $(DEV_LOCKS:%=-r %)
	@rm -f $(VENV)/.dev-*
	@touch $@
