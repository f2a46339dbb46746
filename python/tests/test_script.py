"""Program files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import tacit
from tacit._script import load
from tacit.errors import PlanError

if TYPE_CHECKING:
    from pathlib import Path

FUNCTION = """
import sys, tacit

@tacit.function
def twice(x=tacit.secret("alice", range=(0, 9)), by=int(sys.argv[1])):
    return tacit.reveal(x * by)
"""

INSIDE = """
import sys, tacit

@tacit.function
def times(x=tacit.secret("alice", range=(0, 9))):
    print("tracing")
    return tacit.reveal(x * int(sys.argv[1]))
"""

OTHER = """
import tacit

@tacit.function
def other(x):
    pass
"""


def test_a_file_with_one_function_or_a_plan(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(FUNCTION)
    plan = load(tmp_path / "one.py", ["3"])
    with tacit.local() as run:
        assert run(plan, x=2) == 6
    (tmp_path / "two.py").write_text(FUNCTION + OTHER + "plan = twice.trace(by=5)")
    plan = load(tmp_path / "two.py", ["3"])
    with tacit.local() as run:
        assert run(plan, x=2) == 10


def test_a_function_sees_the_arguments_and_prints_beside_the_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "inside.py").write_text(INSIDE)
    plan = load(tmp_path / "inside.py", ["4"])
    with tacit.local() as run:
        assert run(plan, x=2) == 8
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "tracing\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "neither a `plan = f.trace"), (OTHER + OTHER.replace("other", "more"), "several functions")],
)
def test_a_file_without_a_plan(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(PlanError, match=says):
        load(tmp_path / "bad.py")
    with pytest.raises(PlanError, match=r"there is no file .*missing\.py"):
        load(tmp_path / "missing.py")
    (tmp_path / "notes.txt").touch()
    with pytest.raises(PlanError, match="is no Python file"):
        load(tmp_path / "notes.txt")
