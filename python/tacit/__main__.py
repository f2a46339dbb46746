"""The command `tacit`: the core's, for which Python loads programs, asks networks and runs the demo."""

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
    return _native.main(sys.argv[1:], _load, _table, _infer, _network, _demo, sys.executable)


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


def _infer(arguments: list[str]) -> int:
    from tacit._infer import main

    return main(arguments)


def _network(name: str, rows: int, quick: bool, kept: bool, folder: Path) -> str | None:
    """A network to measure with, as files in a folder; or why there is none."""
    from tacit._bench import network
    from tacit.errors import TacitError

    try:
        network(name, rows, quick, kept, folder)
    except (TacitError, OSError) as error:
        return str(error)
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
