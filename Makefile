# Two commands do everything: `make demo` and `make test`. Both set up what they need, inside this folder only.
PYTHON ?= python3
VENV := .venv
comma := ,
BIN := $(VENV)/bin
export PIP_CACHE_DIR := $(CURDIR)/$(VENV)/cache
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONDONTWRITEBYTECODE :=

NATIVE := pyproject.toml CMakeLists.txt $(shell find core -type f)

.PHONY: demo test test-gpu test-bridges test-oldest core-test bench bench-quick bench-kernels fuzz soak kills audit oracle corpus mutants lint format stubs map docs clean

demo: $(VENV)/demo.ready
	@$(BIN)/serape demo --out build/demo

test: $(VENV)/test.ready
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 -q

# On a machine with an NVIDIA GPU and CuPy: the tests of kernels, and 2,000 random questions of both engines.
test-gpu: $(VENV)/test.ready
	@SERAPE_GPU=1 $(BIN)/python -m pytest -q tests/gpu
	@cd tests && ../$(BIN)/python -m gpu.runs --runs 2000

# Graphs, networks and knowledge to and from the other packages, which are installed into a folder of their own.
BRIDGES := .venv-peers/bridges
test-bridges: $(VENV)/test.ready $(BRIDGES)/ready
	@PYTHONPATH=$(BRIDGES) $(BIN)/python -m pytest -q tests/bridges

$(BRIDGES)/ready: tests/bridges/requirements.txt $(VENV)/bin/python
	@echo "Installing causal-learn, pgmpy and pyAgrum into $(BRIDGES) …"
	@rm -rf $(BRIDGES)
	@$(BIN)/python -m pip install -q --target $(BRIDGES) -r $< && touch $@

# Installed, not from src, with exactly the oldest versions that pyproject.toml allows.
OLDEST := .venv-oldest
# Old packages are warned by newer ones that they use themselves.
ALLOWED := -W default::DeprecationWarning -W default::PendingDeprecationWarning -W default::FutureWarning
test-oldest: $(OLDEST)/ready
	@$(OLDEST)/bin/python -m pytest $(ALLOWED) -n auto --maxprocesses 4 -q tests/cli tests/data tests/distributed tests/networks \
	  tests/results tests/selector

$(OLDEST)/ready: constraints/oldest.txt $(NATIVE) $(shell find src -type f -name '*.py')
	@$(PYTHON) -m venv --clear $(OLDEST)
	@echo "Building serape and installing the oldest versions of what it needs into $(OLDEST) …"
	@$(OLDEST)/bin/python -m pip install -q -c $< '.[all,test]' && touch $@

# SANITIZE=address,undefined or SANITIZE=thread builds with these sanitizers.
CORE_TEST_BUILD := build/core-test$(if $(SANITIZE),-$(firstword $(subst $(comma), ,$(SANITIZE))))
core-test: $(VENV)/build.ready
	@$(BIN)/cmake -S . -B $(CORE_TEST_BUILD) -DCMAKE_BUILD_TYPE=Release -DCORE_TESTS=ON -DSANITIZE=$(SANITIZE) >/dev/null
	@$(BIN)/cmake --build $(CORE_TEST_BUILD) --parallel $$(nproc 2>/dev/null || echo 2) --target core_tests
	@$(CORE_TEST_BUILD)/core_tests

bench: $(VENV)/test.ready
	@$(BIN)/python -m benchmarks suite questions --peers
	@$(BIN)/python -m benchmarks suite searches --peers
	@$(BIN)/python -m benchmarks scaling

bench-quick: $(VENV)/test.ready
	@$(BIN)/python -m benchmarks suite questions --quick
	@$(BIN)/python -m benchmarks suite searches --quick
	@$(BIN)/python -m benchmarks scaling --quick

bench-kernels: $(VENV)/test.ready
	@$(BIN)/python -m benchmarks kernels screens
	@$(BIN)/python -m benchmarks kernels subsets
	@$(BIN)/python -m benchmarks kernels scores
	@$(BIN)/python -m benchmarks kernels incremental
	@$(BIN)/python -m benchmarks kernels divide

# How many processes `make corpus` and `make mutants` use.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

# Random input for so many seconds: see tests/fuzz.py.
TIME ?= 300
fuzz: $(VENV)/test.ready
	@$(BIN)/python tests/fuzz.py --seconds $(TIME)

# Random questions in one process for so many minutes: see tests/soak.py.
MINUTES ?= 60
soak: $(VENV)/test.ready
	@$(BIN)/python tests/soak.py --minutes $(MINUTES)

# Kills of each kind at random moments: see tests/kills.py.
TIMES ?= 100
kills: $(VENV)/test.ready
	@$(BIN)/python tests/kills.py --times $(TIMES)

# Known weaknesses of the installed packages, by pip-audit, which asks PyPI; one that cannot be looked up is a failure.
AUDIT := build/audit
audit: $(VENV)/test.ready
	@$(PYTHON) -m venv $(AUDIT) && $(AUDIT)/bin/python -m pip install -q pip-audit
	@$(BIN)/python -m pip freeze --exclude-editable > $(AUDIT)/installed.txt
	@$(AUDIT)/bin/pip-audit --strict --disable-pip --no-deps -r $(AUDIT)/installed.txt

oracle: $(VENV)/test.ready
	@$(BIN)/python tests/oracle.py
	@$(BIN)/python tests/oracle.py --knowledge --dags 1000
	@$(BIN)/python tests/causes_oracle.py --dags 500
	@$(BIN)/python tests/causes_oracle.py --check 50
	@$(BIN)/python tests/contexts_oracle.py --dags 1000
	@$(BIN)/python tests/contexts_oracle.py --knowledge --dags 1000
	@$(BIN)/python tests/score_oracle.py
	@$(BIN)/python tests/score_oracle.py --knowledge

corpus: $(VENV)/test.ready
	@$(BIN)/python tests/corpus.py check tests/corpus.txt --jobs $(JOBS)

# Small changes of the code that tests must notice: see tests/mutants.py.
mutants: $(VENV)/test.ready
	@$(BIN)/python tests/mutants.py --jobs $(JOBS)

lint: $(VENV)/lint.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $$(find core -name '*.?pp' -o -name '*.inl')
	$(BIN)/lint-imports
	$(BIN)/mypy
	@$(BIN)/python -m nanobind.stubgen -q -m serape._core -o $(VENV)/_core.pyi
	@cmp $(VENV)/_core.pyi src/serape/_core.pyi || { echo "src/serape/_core.pyi is out of date: run 'make stubs'" >&2; exit 1; }

format: $(VENV)/lint.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(find core -name '*.?pp' -o -name '*.inl')

stubs: $(VENV)/lint.ready
	$(BIN)/python -m nanobind.stubgen -q -m serape._core -o src/serape/_core.pyi
	$(BIN)/python tools/keywords.py
	$(BIN)/python tools/settings_page.py
	$(BIN)/python tools/commands.py
	$(BIN)/python tools/oldest.py

# Every file of the package, with what it is for.
map: $(VENV)/bin/python
	@$(BIN)/python tools/file_map.py

docs: $(VENV)/docs.ready
	$(BIN)/sphinx-build -W -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:
	rm -rf $(VENV) $(OLDEST) .venv-peers build docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis

# --- set-up -----------------------------------------------------------------------------------------------------

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "serape needs Python 3.11 or newer as '$(PYTHON)'; name another with: make PYTHON=/path/to/python" >&2; exit 1; }
	@command -v "$${CXX:-c++}" >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1 \
	  || { echo "serape needs a C++20 compiler (g++ 11 or clang++ 14, or newer); none was found" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "serape needs Python's venv module; on Debian and Ubuntu: apt install python3-venv" >&2; rm -rf $(VENV); exit 1; }

# What builds the core stays installed, so that a second build finds it in the same place and compiles nothing again.
$(VENV)/build.ready: $(VENV)/bin/python
	@echo "Setting up: installing what builds the native core into $(VENV) …"
	@$(BIN)/python -m pip install -q 'scikit-build-core>=0.10' 'nanobind>=2.4' 'cmake>=3.18' ninja && touch $@

$(VENV)/demo.ready: $(VENV)/build.ready $(NATIVE)
	@echo "Setting up: building the native core and installing what it needs into $(VENV) …"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install -q --no-build-isolation -e '.[plots]' && touch $@

$(VENV)/%.ready: $(VENV)/demo.ready
	@echo "Installing what 'make $*' needs into $(VENV) …"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install -q --no-build-isolation -e '.[$*]' && touch $@
