"""All Rust tests, a program of tests at a time for each core, so that none is idle.

`cargo test` runs one program after another, and each of them ends with a test or two that take longest.
Options are given to every program: `--include-ignored` for the long tests, too.
"""

import collections
import concurrent.futures
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# The Python package has no tests in Rust.
CARGO_TEST = ["cargo", "test", "--workspace", "--exclude", "tacit-python"]

# Parties of a test wait for one another: a program stays on one core, as waking a thread on another one takes longer than
# what it then does, and makes the best of its core with two tests at a time.
THREADS = "2"

# Crates whose tests look for free ports: these run one after another, as two could find the same one.
WITH_PORTS = {"net", "tacit", "cli", "kdc"}

# Those that take longest begin first.
FIRST = {
    "processes",
    "malicious",
    "conformance",
    "garbled",
    "malicious_garbled",
    "information_theoretic",
    "tenants",
    "attacks",
    "fair",
    "suite",
    "tacit_program",
    "order",
    "masked",
    "macs",
}

# Seconds after which a program counts as stuck, and is ended: the longest takes some four minutes on its core.
STUCK_AFTER = 900

# What random cases are drawn from, so that a commit that passed passes again. Long tests draw new ones each time, and more.
SEED = "20"
LONG_CASES = "1500"

Program = collections.namedtuple("Program", ["name", "path", "folder"])


def built() -> list[Program]:
    """The programs of tests."""
    # Without examples, which clippy looks at.
    targets = ["--lib", "--bins", "--tests"]
    build = [*CARGO_TEST, *targets, "--no-run", "--message-format", "json-render-diagnostics"]
    lines = subprocess.run(build, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    found = []
    for message in map(json.loads, lines):
        if message.get("executable") and message["profile"]["test"]:
            folder = Path(message["manifest_path"]).parent
            found.append(Program(message["target"]["name"], message["executable"], folder))
    return sorted(found, key=lambda program: program.name not in FIRST)


def run(program: Program, options: list[str]) -> bool:
    """Whether it passes; it runs as under Cargo, in its crate's folder."""
    environment = os.environ | {"CARGO_MANIFEST_DIR": str(program.folder), "RUST_TEST_THREADS": THREADS}
    is_long = "--include-ignored" in options
    environment = ({"PROPTEST_CASES": LONG_CASES} if is_long else {"PROPTEST_RNG_SEED": SEED}) | environment
    begun = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        # Not quiet, so that the output names each test, and those that take more than a minute.
        begins = [program.path, *options]
        child = subprocess.Popen(
            begins, cwd=program.folder, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        stuck = False
        try:
            child.wait(timeout=None if is_long else STUCK_AFTER)
        except subprocess.TimeoutExpired:
            stuck = True
        # With the processes that it began.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        output.seek(0)
        printed = output.read()
    passed = child.returncode == 0
    results = [line for line in printed.splitlines() if line.startswith("test result: ")]
    took = time.monotonic() - begun
    verdict = "stuck, and ended" if stuck else results[-1] if results else f"ended with {child.returncode}"
    print(f"{program.folder.name}: {program.name}, after {took:.0f} s: {verdict}", flush=True)
    for line in printed.splitlines():
        if line.endswith(" lines of code"):
            print(line, flush=True)
    if not passed:
        print(printed, flush=True)
    return passed


def play(programs: list[Program], options: list[str]) -> bool:
    """Whether all of them pass, one after another."""
    return [run(program, options) for program in programs].count(False) == 0


def documented(options: list[str]) -> bool:
    """Whether the examples in the documentation pass: little to do for Cargo, which takes one crate after another."""
    told = subprocess.run(
        [*CARGO_TEST, "--doc", "--quiet", "--", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    print(told.stdout, flush=True)
    return told.returncode == 0


def main() -> int:
    """1 if one fails."""
    options = sys.argv[1:]
    programs = built()
    with_ports = [program for program in programs if program.folder.name in WITH_PORTS]
    alone = [program for program in programs if program not in with_ports]
    cores = sorted(os.sched_getaffinity(0))
    free = iter(cores)
    # Children inherit the core of their worker.
    with concurrent.futures.ThreadPoolExecutor(
        len(cores), initializer=lambda: os.sched_setaffinity(0, {next(free)})
    ) as pool:
        tried = [pool.submit(play, with_ports, options), pool.submit(documented, options)]
        tried += [pool.submit(play, [program], options) for program in alone]
    return int(not all(line.result() for line in tried))


if __name__ == "__main__":
    sys.exit(main())
