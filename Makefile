# Two commands are enough on a fresh machine: `make demo` and `make test`. Both set up what they need:
# a virtual environment in .venv with pinned packages, and the compiled core.

PYTHON ?= python3
VENV := .venv
# Cargo's profile of the compiled core: `make build CORE_PROFILE=dev` compiles half as long what is slower.
CORE_PROFILE ?= release
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := build
# How long `make fuzz` gives to each target, and what counts its branches.
FUZZ_SECONDS ?= 180
FUZZ_FLAGS := --cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares

# Where `make native` leaves the command.
NATIVE_TARGET := x86_64-unknown-linux-gnu
NATIVE := target/$(NATIVE_TARGET)/release/tacit

WASM := target/wasm32-unknown-unknown/release/examples/tacit_client.wasm

.PHONY: build native native-check wasm wheel demo test test-rust test-python test-long test-kerberos attacks timing check check-rust check-python docs nightly miri sanitize fuzz format clean

build: $(STAMP) ## The command .venv/bin/tacit and the Python package
	@ls target/release/deps/lib_native* >/dev/null 2>&1 || echo "compiles some 200 Rust crates, once; about four minutes on two cores, more if they are busy"
	cd python && VIRTUAL_ENV=$(abspath $(VENV)) ../$(BIN)/maturin develop --profile $(CORE_PROFILE)

# With the C library inside, and randomness from a system call, it needs no file of the system that it runs on.
native: ## The command without Python, for any x86-64 Linux: target/x86_64-unknown-linux-gnu/release/tacit
	RUSTFLAGS='-C target-feature=+crt-static --cfg getrandom_backend="linux_getrandom"' \
		cargo build --release --package tacit-cli --bin tacit --target $(NATIVE_TARGET)

native-check: native ## That the command without Python needs no library, interpreter or environment, and runs a plan
	! readelf --dynamic $(NATIVE) | grep NEEDED
	! readelf --program-headers $(NATIVE) | grep INTERP
	cargo run --release --quiet --package tacit --example save_plan -- target/larger.plan
	env -i $(NATIVE) plan target/larger.plan
	env -i $(NATIVE) cost target/larger.plan --protocol replicated
	$(PYTHON) .ci/npy.py 42 > target/more.npy
	$(PYTHON) .ci/npy.py 17 > target/less.npy
	env -i $(NATIVE) run target/larger.plan --simulate --input north.total=target/more.npy \
		--input south.total=target/less.npy --json | grep '"value":true'

wasm: ## A client's half for JavaScript (target/wasm32-unknown-unknown), and its test under Node
	rustup target add wasm32-unknown-unknown
	RUSTFLAGS="-D warnings" cargo build --release --quiet --package tacit-client-js --example tacit_client --target wasm32-unknown-unknown
	TACIT_CLIENT_WASM=$(WASM) node --test crates/client-js/js/

$(STAMP): python/requirements.txt
	@echo "installs Python packages in $(VENV): about a minute"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement python/requirements.txt
	touch $@

demo: build ## Private predictions on real data: three servers, a model owner, a client
	$(BIN)/tacit demo

test: test-rust test-python ## All tests but the long ones

# Cargo compiles one thing at a time in a profile's folder: a core in that of Rust's tests goes first, so that Python's tests
# don't wait for those.
ifneq ($(CORE_PROFILE),release)
test-rust: | build
endif

test-rust:
	$(PYTHON) .ci/tests.py

test-python: build
	cd python && ../$(BIN)/python -m pytest --quiet

test-long: build ## Tests that take longer than a few minutes
	$(PYTHON) .ci/tests.py --include-ignored
	cd python && ../$(BIN)/python -m pytest --quiet --long

# Where `make test-kerberos` puts clients that needn't be installed.
KERBEROS_CLIENTS := target/kerberos-clients

test-kerberos: ## The KDC with MIT's clients and curl, which have to be there (Debian: krb5-user, curl), and others, which are fetched
	crates/kdc/tests/fetch_clients $(KERBEROS_CLIENTS) $(PYTHON)
	cargo build --release --package tacit-kdc
	crates/kdc/tests/kerberos target/release/tacit-kdc $(KERBEROS_CLIENTS)

attacks: ## Every attack program against a version with the mistake that it exploits, and against ours
	cargo test --package tacit-testkit --test attacks --quiet

timing: ## Whether kernels take longer for some secrets than for others (some minutes, on an idle machine)
	cargo bench --package tacit-kernel --bench timing

check: check-rust check-python ## Formatting, lints, types, documentation, licences, and that no mistake is planted in what ships

check-rust:
	cargo fmt --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	cargo metadata --locked --format-version 1 | $(PYTHON) .ci/licences.py
	.ci/planted

check-python: build
	$(BIN)/ruff format --check python examples
	$(BIN)/ruff check python examples
	cd python && ../$(BIN)/mypy && ../$(BIN)/python -m mypy.stubtest tacit._native

wheel: $(STAMP) ## The Python package as a wheel, in target/wheels
	cd python && ../$(BIN)/maturin build --release --out ../target/wheels

docs: build ## Reference of the Rust crates (target/doc) and of the Python package (target/doc-python)
	cargo doc --workspace --no-deps
	$(BIN)/pdoc --docformat google --output-directory target/doc-python tacit tacit.errors tacit.dtypes

nightly: miri sanitize fuzz native-check wheel docs test-long ## What takes an hour or more: interpreter, address sanitizer, every fuzz target, long tests

# Under Miri the kernel finds none of the machine's instructions, so this is its portable level. A trace of each panic that a test
# expects would take it longer than the test.
miri: ## The kernel's portable level under Miri (a nightly compiler with the component miri)
	RUST_BACKTRACE=0 PROPTEST_CASES=2 MIRIFLAGS="-Zmiri-disable-isolation" cargo +nightly miri test --package tacit-kernel --lib

sanitize: ## The kernel, on all its levels, under the address sanitizer (a nightly compiler)
	RUSTFLAGS="-Zsanitizer=address" cargo +nightly test --package tacit-kernel --lib \
		--target $(NATIVE_TARGET) --target-dir target/sanitize

fuzz: ## Every fuzz target for FUZZ_SECONDS (a nightly compiler); crashes are left in the folder fuzz
	cd fuzz && RUSTFLAGS="$(FUZZ_FLAGS)" cargo +nightly build --release --target $(NATIVE_TARGET) --bins
	cd fuzz && for target in fuzz_targets/*.rs; do \
		name=$$(basename $$target .rs); found=$$(mktemp -d); echo "$$name"; \
		target/$(NATIVE_TARGET)/release/$$name $$found corpus/$$name -max_len=4096 \
			-max_total_time=$(FUZZ_SECONDS) -verbosity=0 -print_final_stats=1 || exit 1; \
		rm -rf $$found; \
	done

format: $(STAMP)
	cargo fmt
	$(BIN)/ruff format python examples

clean:
	cargo clean
	rm -rf $(VENV)
