"""Whether every crate that is built has a licence that goes with Apache-2.0.

Reads what `cargo metadata --format-version 1` prints, on standard input.
"""

import json
import re
import sys

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Zlib",
}
"""Licences that ask for no more than to be named."""


def allows(expression: str) -> bool:
    """Whether an SPDX expression can be met with allowed licences alone; `/` is an old `OR`."""
    tokens = re.findall(r"[()]|\bAND\b|\bOR\b|[^\s()]+(?: WITH \S+)?", expression.replace("/", " OR "))

    def any_of() -> bool:
        met = all_of()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met = all_of() or met
        return met

    def all_of() -> bool:
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met = one() and met
        return met

    def one() -> bool:
        token = tokens.pop(0) if tokens else ""
        if token != "(":
            return token in ALLOWED
        met = any_of()
        closed = bool(tokens) and tokens.pop(0) == ")"
        return closed and met

    return any_of() and not tokens


def main() -> int:
    """Names crates that may not be built; the exit code."""
    # What the check is for: it notices, and it isn't put off by forms.
    assert allows("(MIT OR GPL-3.0) AND Unicode-3.0")
    assert allows("Apache-2.0 WITH LLVM-exception/GPL-2.0")
    assert not allows("MIT AND AGPL-3.0")
    assert not allows("")
    assert not allows("(MIT")
    packages = json.load(sys.stdin)["packages"]
    wrong = [
        f"{package['name']} {package['version']}: {package['license'] or 'no licence'}"
        for package in packages
        if not allows(package["license"] or "")
    ]
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    print(f"licences of {len(packages)} crates: {len(wrong)} not allowed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
