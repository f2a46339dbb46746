"""The command `tacit`: the core's, for which Python loads programs, makes benchmarks and runs the demo."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from tacit import _native

if TYPE_CHECKING:
    from pathlib import Path

    from tacit._values import Public


def main() -> int:
    """Runs the command line of this process; the exit code."""
    # The core waits for messages without asking Python: Ctrl-C has to end the process by itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(
        sys.argv[1:], _load, _table, _tables, _revealed, _infer, _measured, _demo, sys.executable
    )


def _load(path: Path, arguments: list[str]) -> tuple[_native.Program, str, str] | str:
    """A program, its name and what its function returns, as JSON; or why there is none."""
    from tacit._script import load
    from tacit.errors import TacitError

    try:
        return load(path, arguments)._parts()
    except (TacitError, OSError) as error:
        return str(error)
    except Exception:
        # The program's own mistake, which its author finds by the traceback.
        import traceback

        return traceback.format_exc().rstrip()


def _table(structure: str, name: str, path: Path) -> list[tuple[str, Public]] | str:
    """The inputs that a file's table is, by owner and name; or why it isn't one of a plan."""
    from tacit.errors import InputError
    from tacit.tables.given import read_for

    try:
        return read_for(structure, name, path)
    except InputError as error:
        return str(error)


def _tables(structure: str, inputs: list[tuple[str, str, list[int]]]) -> tuple[str, str] | str | None:
    """What the owners of a plan's tables declare, for people and as JSON, if it has any; or what is wrong."""
    from tacit.errors import PlanError
    from tacit.tables.told import described

    try:
        return described(structure, {(owner, name): tuple(shape) for owner, name, shape in inputs})
    except PlanError as error:
        return str(error)


def _revealed(
    structure: str, outputs: list[Public | None], file: Path | None
) -> tuple[str, str] | str | None:
    """A revealed table for people and as JSON, which is written to a file besides; or what is wrong."""
    from tacit.errors import TacitError
    from tacit.tables.told import revealed

    try:
        return revealed(structure, outputs, file)
    except (TacitError, OSError) as error:
        return str(error)


def _infer(arguments: list[str]) -> int:
    from tacit._infer import main

    return main(arguments)


def _measured(work: str, folder: Path) -> tuple[str, bool] | None:
    """What a benchmark measures, as files in a folder; or why not, and whether a result is wrong."""
    from tacit._bench import WrongResultError, measured
    from tacit.errors import TacitError

    try:
        measured(work, folder)
    except WrongResultError as error:
        return str(error), True
    except (TacitError, OSError) as error:
        return str(error), False
    return None


def _demo(as_json: bool) -> int:
    from tacit.demo import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = main(as_json)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Nobody reads any more. The interpreter would try once more at its end, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


if __name__ == "__main__":
    sys.exit(main())
