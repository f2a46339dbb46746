# Two commands are enough on a fresh machine: `make demo` and `make test`. Both set up what they need:
# a virtual environment in .venv with pinned packages, and the compiled core.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Parties of a test wait for one another: with two tests at a time for each core, no core is idle.
export RUST_TEST_THREADS ?= $(shell echo $$((2 * $$(nproc))))

.DEFAULT_GOAL := build
# Where `make native` leaves the command.
NATIVE_TARGET := x86_64-unknown-linux-gnu

.PHONY: build native demo test test-rust test-python test-long attacks timing check format clean

build: $(STAMP) ## The command .venv/bin/tacit and the Python package
	cd python && VIRTUAL_ENV=$(abspath $(VENV)) ../$(BIN)/maturin develop --release --quiet

# With the C library inside, it needs nothing of the system that it runs on.
native: ## The command without Python, for any x86-64 Linux: target/x86_64-unknown-linux-gnu/release/tacit
	RUSTFLAGS="-C target-feature=+crt-static" \
		cargo build --release --package tacit-cli --bin tacit --target $(NATIVE_TARGET)

$(STAMP): python/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement python/requirements.txt
	touch $@

demo: build ## Private predictions on real data: three servers, a model owner, a client
	$(BIN)/tacit demo

test: test-rust test-python ## All tests but the long ones

test-rust:
	cargo test --workspace --quiet

test-python: build
	cd python && ../$(BIN)/python -m pytest --quiet

test-long: build ## Tests that take longer than a few minutes
	cargo test --workspace --quiet -- --include-ignored
	cd python && ../$(BIN)/python -m pytest --quiet --long

attacks: ## Every attack program against a version with the mistake that it exploits, and against ours
	cargo test --package tacit-testkit --test attacks --quiet

timing: ## Whether kernels take longer for some secrets than for others (some minutes, on an idle machine)
	cargo bench --package tacit-kernel --bench timing

check: build ## Formatting, lints, types
	cargo fmt --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check python examples
	$(BIN)/ruff check python examples
	cd python && ../$(BIN)/mypy && ../$(BIN)/python -m mypy.stubtest tacit._native

format: $(STAMP)
	cargo fmt
	$(BIN)/ruff format python examples

clean:
	cargo clean
	rm -rf $(VENV)
