# rememberd: `make serve` runs it, `make test` proves it. Everything else is below; `make help` lists it.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
ARGS   ?=
WORKERS ?= 2
UV     := $(shell command -v uv || echo .uv/bin/uv)
UV_READY := $(if $(filter .uv/bin/uv,$(UV)),.uv/bin/uv)

export PYTHONDONTWRITEBYTECODE :=
export UV_PROJECT_ENVIRONMENT := $(VENV)

.DEFAULT_GOAL := help
.PHONY: help serve test check lint types imports format reference bench bench-recall bench-rebuild reembed faults \
	outages load mutants requirements wheel clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

serve: $(VENV)/.run ## set up and run the product on its embedded default (ARGS="--port N --data DIR")
	@$(BIN)/rememberd models pull >/dev/null || echo "going on without models" >&2
	@exec $(BIN)/rememberd serve $(ARGS)

TESTS = $(BIN)/pytest -q --numprocesses $(WORKERS) --dist worksteal

test: $(VENV)/.dev lint types imports ## set up and run every test, on every engine
	@$(BIN)/rememberd models pull >/dev/null
	$(TESTS) $(ARGS)

check: $(VENV)/.dev ## the quick offline run: no servers; without models, what needs them is skipped
	$(TESTS) -m "not integration and not slow" $(ARGS)

lint: $(VENV)/.dev ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## strict types
	$(BIN)/mypy

imports: $(VENV)/.dev ## imports point downwards only
	$(BIN)/lint-imports

format: $(VENV)/.dev ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

reference: $(VENV)/.dev ## write the generated pages of docs/reference anew
	$(BIN)/python -m tests.meta.generated

bench: $(VENV)/.dev ## measure writes and HTTP against the raw engine underneath
	$(BIN)/python -m bench.writes
	$(BIN)/python -m bench.over_http

bench-recall: $(VENV)/.dev ## measure how good recall is (DATA=the folder of the published conversations)
	@test -n "$(DATA)" || { echo "make bench-recall DATA=DIR; see bench/quality.py for what is in DIR" >&2; exit 1; }
	@$(BIN)/rememberd models pull >/dev/null
	$(BIN)/python -m bench.quality --data $(DATA) $(ARGS)
	$(BIN)/python -m bench.nearest --data $(DATA)

faults: $(VENV)/.dev ## kills, deaths, power cuts, dropped replies by the hundreds; half an hour. Fills the table in the docs
	$(BIN)/python -m tests.faults.full $(ARGS)
	$(BIN)/python -m tests.meta.generated

mutants: $(VENV)/.dev ## seed defects into copies of the code, and see the tests that are named for each go red
	$(BIN)/python -m tests.mutants.run $(ARGS)

bench-rebuild: $(VENV)/.dev ## delete the index of 100,000 messages, rebuild it, compare it
	$(BIN)/python -m bench.rebuild

reembed: $(VENV)/.dev ## change the model of 20,000 messages under load, killed 20 times
	$(BIN)/python -m bench.reembed

outages: $(VENV)/.dev ## the long outages: 10,000 messages spooled through restarts, PostgreSQL killed 20 times
	$(BIN)/pytest -q tests/spool/long_runs.py $(ARGS)

load: $(VENV)/.dev ## 16 writers, 500 messages each, on one thread; a server told to end under load
	APPENDS=500 $(BIN)/pytest -q tests/load

wheel: $(VENV)/.dev ## build the wheel into dist/
	$(UV) build --wheel --out-dir dist

requirements: $(UV_READY) ## pin the dependencies anew
	$(COMPILE) pyproject.toml -o requirements/run.txt
	$(COMPILE) --extra bridge --extra fastembed pyproject.toml requirements/dev.in -o requirements/dev.txt

clean: ## remove everything that set-up made
	rm -rf $(VENV) .uv dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Set-up: uv from the machine, or one of our own; then the pinned requirements and the package itself.

COMPILE = $(UV) pip compile -q --universal --python-version 3.11 --extra models --extra postgres \
	--generate-hashes --no-emit-index-url --no-header --no-annotate
INSTALL = $(UV) pip install -q --compile-bytecode --python $(BIN)/python

.uv/bin/uv:
	@$(PYTHON) -m venv .uv
	@.uv/bin/pip install -q uv

$(BIN)/python: | $(UV_READY)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "rememberd needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(UV) venv -q --python $(PYTHON) $(VENV)

$(VENV)/.run: requirements/run.txt pyproject.toml | $(BIN)/python
	@echo "setting up $(VENV) …"
	@$(INSTALL) --require-hashes -r requirements/run.txt
	@$(INSTALL) --no-deps -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml | $(BIN)/python
	@echo "setting up $(VENV) for development …"
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@$(INSTALL) --no-deps -e .
	@touch $@ $(VENV)/.run
