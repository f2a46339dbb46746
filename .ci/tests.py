"""All Rust tests, a program of tests at a time for each core, so that none is idle.

`cargo test` runs one program after another, and each of them ends with a test or two that take longest. Options are
given to every program: `--include-ignored` for the long tests, too.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
import time
from pathlib import Path

CARGO_TEST = ["cargo", "test", "--workspace"]

# Parties of a test wait for one another: of its core a program makes the best with two tests at a time.
THREADS = "2"

# Those that take longest begin first.
FIRST = ["malicious", "conformance", "garbled", "malicious_garbled", "information_theoretic", "tenants", "attacks"]


def built() -> list[tuple[str, Path]]:
    """The programs of tests, each with its crate's folder."""
    # Without examples, which clippy looks at.
    targets = ["--lib", "--bins", "--tests"]
    build = [*CARGO_TEST, *targets, "--no-run", "--message-format", "json-render-diagnostics"]
    lines = subprocess.run(build, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    messages = [json.loads(line) for line in lines]
    tests = [message for message in messages if message.get("executable") and message["profile"]["test"]]
    tests.sort(key=lambda test: test["target"]["name"] not in FIRST)
    return [(test["executable"], Path(test["manifest_path"]).parent) for test in tests]


def run(program: str, folder: Path, options: list[str]) -> bool:
    """Whether it passes; it runs as under Cargo, in its crate's folder."""
    environment = os.environ | {"CARGO_MANIFEST_DIR": str(folder), "RUST_TEST_THREADS": THREADS}
    begun = time.monotonic()
    ended = subprocess.run(
        [program, "--quiet", *options],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    passed = ended.returncode == 0
    verdict = "passes" if passed else "fails"
    print(f"{folder.name}: {Path(program).name} {verdict} after {time.monotonic() - begun:.0f} s", flush=True)
    if not passed:
        print(ended.stdout, flush=True)
    return passed


def main() -> int:
    """1 if one fails."""
    options = sys.argv[1:]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tried = [pool.submit(run, program, folder, options) for program, folder in built()]
        passed = all([each.result() for each in tried])
    documentation = subprocess.run([*CARGO_TEST, "--doc", "--quiet", "--", *options])
    return int(not passed or documentation.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
