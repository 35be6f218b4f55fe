# Entry points for developers, hooks and CI. `make demo` and `make test` need nothing but make, a Python
# 3.12 or newer that python3, pyenv or uv can provide, and the package registries.

UV := .venv-tools/bin/uv
BIN := .venv/bin
# Before the default is set: does the caller name a seed?
NAMED_SEED := $(if $(filter command environment,$(origin SEED)),$(SEED))
SEED ?= 7
SIZE ?= 0.3

# A relative SQLite folder in dagster.yaml would follow the working directory.
export DAGSTER_HOME := $(CURDIR)
export UV_SYSTEM_CERTS := $(if $(wildcard /etc/ssl/certs/ca-certificates.crt),1,)
# Without bytecode every process starts three times slower.
unexport PYTHONDONTWRITEBYTECODE VIRTUAL_ENV PYTHONHOME PYTHONPATH

# uv does not look into pyenv's versions by itself and would try to download a Python.
FIND_PYTHON = for p in python3.14 python3.13 python3.12 python3 "$$HOME"/.pyenv/versions/3.1[2-9]*/bin/python; do \
  "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && { command -v "$$p"; break; }; done

# What the image of deploy/image installs: a server scans, and writes no reports.
SERVER_EXTRAS = --extra celery --extra postgres --extra s3 --extra telemetry

# Processor times mean something only when numeric libraries do not spread over both cores.
ONE_THREAD = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

# Whole files go to one process each, in the order of tests/conftest.py; more processes than cores,
# because many tests wait for others, those of the full tier most. The order inside is new on every
# run, and printed as a seed.
PYTEST = $(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder $(if $(ORDER),--randomly-seed $(ORDER)) $(MEASURED)

.DEFAULT_GOAL := help
.PHONY: help env follow-readme follow-pages all-tests wheel demo notebook up up-cluster setup-cluster bench-cluster test test-busy check static coverage forget-coverage soak duckdb-1 validate-package validate-store wheel-demo supply audit fmt lint types arch docs fuzz fuzz-hostile fuzz-kills chaos load simulate mutants mutants-sample bench bench-start bench-truth bench-switches bench-week bench-coverage bench-catalog bench-audio bench-audio-far bench-identify leaderboard bench-versions setup-bench setup-bench-audio setup-browser lock clean

help: ## show this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

env: .venv/.ready

$(UV):
	@echo "set-up 1/3: the installer (uv, from pip)"
	@python3 -m venv .venv-tools || { echo "python3 cannot make an environment: apt-get install python3-venv" >&2; exit 1; }
	@.venv-tools/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.9

.venv/.ready: $(UV) requirements.lock pyproject.toml
	@echo "set-up 2/3: the locked packages (about 2.3 GB once; seconds when nothing changed)"
	@test -x $(BIN)/python || { py=$$($(FIND_PYTHON)); py=$${py:-$$($(UV) python find --quiet --no-python-downloads '>=3.12' 2>/dev/null || true)}; \
	  test -n "$$py" || { echo "Sametrack needs Python 3.12 or newer, and neither python3, pyenv nor uv has one: install it, for example by $(UV) python install 3.12" >&2; exit 1; }; \
	  $(UV) venv --quiet --python "$$py" .venv; }
	@$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	@echo "set-up 3/3: Sametrack itself; its inner loops are compiled once"
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --editable .
	@$(BIN)/python -m api.generate.client
	@$(BIN)/python -m pipelines.audio.compile_loops
	@touch $@

demo: env ## scan a track of the sandbox and show the verified ranking (SEED=, SIZE=)
	@$(BIN)/sametrack demo --seed $(SEED) --size $(SIZE)

notebook: env ## open the notebooks in JupyterLab; without data a demo collects it first (NO_BROWSER=1, PORT=)
	@$(BIN)/sametrack notebook --seed $(SEED) --size $(SIZE) $(if $(NO_BROWSER),--no-browser) $(if $(PORT),--port $(PORT))

up: env ## start API, worker and Dagster together
	@$(BIN)/sametrack up

up-cluster: env ## start a cluster on this machine: PostgreSQL, Redis, S3, two services, three Celery workers (WORKERS=, LATENCY_MS=)
	@$(BIN)/python -m deploy.local --workers $(or $(WORKERS),3) --latency-ms $(or $(LATENCY_MS),0)

test: env ## the quick tests: rules, contract and one real scan (ORDER=seed repeats an order)
	@$(PYTEST) -m '$(or $(TIERS),quick)'

check: env ## everything that CI runs: format, lint, types, architecture, packages, pages, the quick and the full tests
	@# Side by side: mypy, and most commands of the pages, keep no more than one core busy.
	@$(MAKE) --no-print-directory --jobs 3 static all-tests follow-pages

all-tests: # in one go: each process collects the tests once
	@$(MAKE) --no-print-directory test TIERS='quick or full'

coverage: export MEASURED = -p tests.measured
coverage: env forget-coverage all-tests ## by hand: all tests again, which branches they take, and the modules below 80 %
	@$(BIN)/python -m tests.coverage_floor

follow-pages: env
	@$(BIN)/python -m tests.follow_pages --in-check

static: env # what needs no tests, two at a time; the output of each comes as a whole
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target types validate-store fmt lint arch

forget-coverage:
	@rm -rf build/coverage

follow-readme: env ## follow README and "Five minutes" of docs/ in an empty clone, as a newcomer would (TODAY=2026-02-28)
	@$(BIN)/python -m tests.follow_pages $(if $(TODAY),--today $(TODAY))

test-busy: env ## by hand: the quick tests 20 times, in 20 orders, while every core is kept busy (RUNS=, ORDER=first seed)
	@$(BIN)/python -m benchmarks.repeated --runs $(or $(RUNS),20) --seed $(or $(ORDER),1)

soak: env ## by hand: tests that take minutes each, kills at 100 moments, a simulated week
	@$(PYTEST) -m soak
	@$(PYTEST) -m hypothesis --hypothesis-profile thorough
	@$(BIN)/python -m benchmarks.fuzz.kills --moments $(or $(MOMENTS),100)
	@$(BIN)/python -m benchmarks.truth.week

duckdb-1: env $(UV) ## by hand: the tests of SQL and exports under the last DuckDB 1.x
	@$(UV) pip install --quiet --python $(BIN)/python --target .duckdb-1 'duckdb<2'
	@PYTHONPATH=.duckdb-1 $(PYTEST) tests/warehouse tests/catalog \
	  --deselect 'tests/warehouse/analysis/test_user_sql.py::test_user_sql_refuses_statements_that_write[pragma version]' \
	  --deselect "tests/warehouse/analysis/test_user_sql.py::test_settings_definitions_and_logs_are_not_shown[select 'temp_directory'.current_setting()]" \
	  --deselect 'tests/warehouse/analysis/test_user_sql.py::test_user_sql_answers_describe_and_explain[-- why\nexplain select 1;]'

validate-package: env ## check a data package with the tools of its standards (PACKAGE=; default: of a stored scan)
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && set -e && package="$(PACKAGE)" \
	  && if [ -z "$$package" ]; then package="$$folder/all.zip"; tar -xf tests/data/first_release/store.tar.xz -C "$$folder"; \
	    PROFILE=sandbox DATA_HOME="$$folder/home" $(BIN)/sametrack export all --format package --out "$$package"; fi \
	  && $(BIN)/python -m zipfile -e "$$package" "$$folder/package" \
	  && $(BIN)/python -m frictionless validate "$$folder/package/datapackage.json" \
	  && $(BIN)/mlcroissant validate --jsonld "$$folder/package/croissant.json"

validate-store: env ## check that no column of a store has one value for what its surface does not show (PROFILE=, DATA_HOME=; default: a stored scan)
	@if [ -n "$(PROFILE)$(DATA_HOME)" ]; then $(BIN)/python -m tests.standards.constant_columns; else \
	  folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && tar -xf tests/data/first_release/store.tar.xz -C "$$folder" \
	  && $(BIN)/python -m tests.standards.constant_columns --migrate "$$folder/home"; fi

wheel: env $(UV) ## build the wheel in dist/; docs/operation.md says how it is installed
	@$(BIN)/python -m api.generate.client
	@$(UV) build --quiet --wheel --out-dir dist . && ls dist/*.whl

wheel-demo: env $(UV) ## by hand: install the wheel in an empty environment elsewhere and run its demo
	@$(BIN)/python -m api.generate.client
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT \
	  && $(UV) build --quiet --wheel --out-dir "$$folder" . \
	  && $(UV) venv --quiet --python $(BIN)/python "$$folder/env" \
	  && $(UV) pip install --quiet --compile-bytecode --python "$$folder/env/bin/python" --constraints requirements.lock "$$folder"/*.whl \
	  && du -sm "$$folder/env" && cd "$$folder" && env -u DAGSTER_HOME env/bin/sametrack report --list \
	  && env -u DAGSTER_HOME env/bin/sametrack demo --seed $(SEED) --size $(SIZE)

.venv-supply/.ready: $(UV) requirements-supply.lock
	@test -x .venv-supply/bin/python || $(UV) venv --quiet --python $(BIN)/python .venv-supply
	@$(UV) pip sync --quiet --python .venv-supply/bin/python --require-hashes requirements-supply.lock
	@touch $@

supply: env .venv-supply/.ready ## bill of materials and licences of what the image installs, to build/supply
	@mkdir -p build/supply
	@.venv-supply/bin/cyclonedx-py requirements --output-reproducible --pyproject pyproject.toml \
	  --of JSON -o build/supply/sbom.cdx.json requirements-server.lock
	@$(BIN)/python -m deploy.supply.licences requirements-server.lock build/supply/licences.csv

audit: .venv-supply/.ready ## by hand: ask the package index for known vulnerabilities of these packages
	@.venv-supply/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements-server.lock

fmt: env ## format, or with CI=true only check the format
	@$(BIN)/ruff format $(if $(CI),--check,) .

lint: env ## ruff and spelling
	@$(BIN)/ruff check .
	@$(BIN)/codespell api benchmarks deploy notebooks pipelines sandbox warehouse tests README.md CHANGELOG.md

types: env ## mypy, strict
	@$(BIN)/mypy

arch: env ## check the import direction
	@$(BIN)/lint-imports

docs: env ## generate API tables, the client, pictures and the data dictionary; the API description to build/openapi.json
	@$(BIN)/python -m api.generate.client
	@$(BIN)/python -m api.generate
	@mkdir -p build && $(BIN)/sametrack openapi --out build/openapi.json
	@$(BIN)/python -m warehouse.tables.dictionary

fuzz: env ## 100,000 mutated responses through every parser, 100,000 requests, 10,000 events of jobs (CASES=, FUZZ_SEED=)
	@$(BIN)/python -m benchmarks.fuzz --cases $(or $(CASES),100000) --seed $(or $(FUZZ_SEED),1)
	@$(BIN)/python -m benchmarks.fuzz.requests --cases $(or $(CASES),100000) --seed $(or $(FUZZ_SEED),1)
	@$(BIN)/python -m benchmarks.fuzz.jobs --seed $(or $(FUZZ_SEED),1)

fuzz-hostile: env ## bombs and malformed bodies through every reader, with their memory and time (ONLY=text)
	@$(BIN)/python -m benchmarks.fuzz.hostile --only '$(ONLY)'

chaos: env ## every operation under every fault of a proxy, then 1,000 scans under faults (RUNS=, CHAOS_SEED=, MINUTES=)
	@$(BIN)/python -m benchmarks.chaos --runs $(or $(RUNS),1000) --minutes $(or $(MINUTES),600) $(if $(CHAOS_SEED),--seed $(CHAOS_SEED))

load: env ## 200 users of the console and 10 jobs with faults on, beside a bare route (USERS=, JOBS=, MINUTES=)
	@$(BIN)/python -m benchmarks.load --users $(or $(USERS),200) --jobs $(or $(JOBS),10) --minutes $(or $(MINUTES),30)

fuzz-kills: env ## kill -9 of any one process at 100 random moments of scans (MOMENTS=)
	@$(BIN)/python -m benchmarks.fuzz.kills --moments $(or $(MOMENTS),100)

simulate: env ## days of jobs and questions under faults, kills and clock jumps (DAYS=, SEEDS=, SEED= the first one; ONCE=1; BUGS=1: planted bugs)
	@$(BIN)/python -m benchmarks.simulation --days $(or $(DAYS),10) --first $(or $(NAMED_SEED),1) --seeds $(or $(SEEDS),$(if $(NAMED_SEED),1,10)) $(if $(ONCE),--once) $(if $(BUGS),--bugs)

mutants: env ## mutation tests: the tests must kill 90 % (MODULE=, SAMPLE=, SEED=)
	@$(ONE_THREAD) $(BIN)/python -m benchmarks.mutants --seed $(SEED) $(if $(MODULE),--module $(MODULE)) $(if $(SAMPLE),--sample $(SAMPLE))

mutants-sample: env ## the same for a fixed sample of 100
	@$(MAKE) --no-print-directory mutants SAMPLE=100

bench: env ## measure the hot paths (ROW=reads,chart; ROW=list names them)
	@$(ONE_THREAD) $(BIN)/python -m benchmarks.speed --row '$(ROW)'

bench-start: env ## what starting costs: commands, the service, everything together
	@$(BIN)/python -m benchmarks.speed --row start

bench-truth: env ## precision and recall by link type, on ten generated sandboxes in each mode
	@$(BIN)/python -m benchmarks.truth.worlds

bench-switches: env ## a whole scan with each switch of the sandbox, against what is declared (SWITCH=name)
	@$(BIN)/python -m benchmarks.truth.switches --switch '$(SWITCH)'

bench-coverage: env ## coverage estimates of 200 drawn worlds, against what a guest could reach
	@$(BIN)/python -m benchmarks.coverage

bench-catalog: env ## a catalogue of 20 tracks: rate, memory, a killed worker, a second run
	@$(ONE_THREAD) $(BIN)/python -m benchmarks.speed.catalog

bench-cluster: env ## scans on one Celery worker and on three, one of them killed; needs setup-cluster
	@$(BIN)/python -m benchmarks.speed.cluster

bench-week: env ## a simulated week of a watchlist, against the ground truth
	@$(BIN)/python -m benchmarks.truth.week

bench-audio: env ## accuracy and cost of the matcher; writes docs/accuracy.md
	@$(ONE_THREAD) $(BIN)/python -m benchmarks.accuracy

bench-audio-far: env ## 100,000 unrelated pairs of each kind of audio through the full search; on the same card
	@$(ONE_THREAD) $(BIN)/python -m benchmarks.accuracy --only far --searched 100000

bench-identify: env ## which of 1,000 recordings is a stretched clip: right answers, cost, memory
	@$(ONE_THREAD) $(BIN)/python -m benchmarks.accuracy.identify

leaderboard: env ## the matcher beside Chromaprint and audfprint on edited queries of real recordings (QUICK=1)
	@$(ONE_THREAD) $(BIN)/python -m benchmarks.leaderboard $(if $(QUICK),--quick)

bench-versions: env ## compare the verdicts of Python 3.12 and 3.13
	@$(BIN)/python -m benchmarks.accuracy.versions

setup-bench: ## install the optional tools of bench-audio (Debian, as root)
	apt-get install -y --no-install-recommends fluidsynth fluid-soundfont-gm timgm6mb-soundfont espeak-ng libchromaprint-tools ffmpeg

setup-bench-audio: env ## fetch the real recordings of bench-audio: 0.7 GB of Debian packages, unpacked, not installed
	@$(BIN)/python -m benchmarks.accuracy.real.fetching

setup-cluster: ## install Redis and PostgreSQL for up-cluster (Debian, as root)
	apt-get install -y --no-install-recommends redis-server postgresql

setup-browser: ## install Chromium for DATA_PROVIDER=browser-public and PDFs, and fonts for these (Debian, as root)
	apt-get install -y --no-install-recommends chromium fonts-noto-cjk fonts-noto-color-emoji

lock: $(UV) ## compile the locks: pyproject.toml with all extras, the server's part of it, tools with older libraries
	$(UV) pip compile --quiet --universal --python-version 3.12 --generate-hashes --no-header --no-annotate --all-extras --group dev pyproject.toml -o requirements.lock
	$(UV) pip compile --quiet --universal --python-version 3.12 --generate-hashes --no-header --no-annotate --constraint requirements.lock $(SERVER_EXTRAS) pyproject.toml -o requirements-server.lock
	printf 'cyclonedx-bom\npip-audit\n' | $(UV) pip compile --quiet --universal --python-version 3.12 --generate-hashes --no-header --no-annotate - -o requirements-supply.lock

clean: ## remove caches and environments; data and .mypy_cache stay
	@rm -rf dist .venv .venv-tools .venv-supply .duckdb-1 build api/client/answers.py api/client/blocking .pytest_cache .ruff_cache .hypothesis .import_linter_cache
