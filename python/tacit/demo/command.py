"""The command `tacit demo`, from training to the table."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from tacit.demo.models import MODELS
from tacit.demo.processes import Processes, deploy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tacit.demo.results import Result
    from tacit.demo.training import Trained

    Step: TypeAlias = Callable[[str], None]

PLOT = "tacit-demo.svg"
"""The drawing's name, in the current folder."""

_NEEDED = {"sklearn": "scikit-learn", "matplotlib": "matplotlib", "rich": "rich"}
_EXIT_CODES = {"input": 2, "aborted": 1, "wrong": 1}
_INTERRUPTED = 130


class DemoError(Exception):
    """Why there are no results.

    Attributes:
        kind: "input" for a machine that can't run the demo, "aborted" for a run that came to nothing.
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


def main(as_json: bool) -> int:
    """Runs the demo. See `tacit.demo.main`."""
    try:
        _check_packages()
        with _cleaning_up(), _progress(2 * len(MODELS) + 1) as step:
            results = predictions(list(MODELS), step)
            step("drawing")
            _draw(results)
    except KeyboardInterrupt:
        print("interrupted; the demo's processes are ended", file=sys.stderr)
        return _INTERRUPTED
    except DemoError as failure:
        return _fail(failure, as_json)
    return _show(results, as_json)


def predictions(names: Sequence[str], step: Step = lambda _: None) -> list[Result]:
    """Has five processes predict with the models of some names, in turn.

    Args:
        names: Of `MODELS`; one can come several times.
        step: Called before every step with its description.

    Raises:
        DemoError: A process failed. All have ended by then, in any case.
    """
    from tacit.demo.results import judge
    from tacit.demo.training import train

    trained: dict[str, Trained] = {}
    for name in dict.fromkeys(names):
        step(f"training {name}")
        trained[name] = train(MODELS[name])
    with tempfile.TemporaryDirectory(prefix="tacit-demo-") as made:
        folder = Path(made)
        deploy(folder)
        for name, secrets in trained.items():
            _hand_over(folder, name, secrets)
        told = _told(folder, names, step)
    return [judge(MODELS[name], trained[name], told[name]) for name in dict.fromkeys(names)]


def _hand_over(folder: Path, name: str, trained: Trained) -> None:
    """Gives the owner its model and the client its queries, and nobody anything else."""
    import numpy as np

    np.savez(folder / "owner" / f"{name}.npz", weights=trained.model.weights, bias=trained.model.bias)
    np.savez(folder / "client" / f"{name}.npz", queries=trained.queries)


def _told(folder: Path, names: Sequence[str], step: Step) -> dict[str, dict[str, Any]]:
    """What the processes tell of each model, by its name and theirs."""
    told: dict[str, dict[str, Any]] = {name: {} for name in names}
    coming = iter(names)
    step(f"predicting with {next(coming)}")
    with Processes(folder, names) as processes:
        for who, facts in processes.told():
            told[facts["model"]][who] = facts
            if who == "client" and (name := next(coming, None)):
                step(f"predicting with {name}")
    if processes.failures:
        raise DemoError("aborted", "\n".join(f"{who}: {why}" for who, why in processes.failures.items()))
    return told


def _draw(results: Sequence[Result]) -> None:
    from tacit.demo.plot import draw

    try:
        draw(results, Path(PLOT))
    except OSError as error:
        raise DemoError("input", f"{PLOT} can't be written in the current folder: {error}") from None


def _show(results: Sequence[Result], as_json: bool) -> int:
    """Prints the results; the exit code."""
    from tacit.demo import results as shown

    print(shown.as_json(results) if as_json else shown.as_table(results))
    print(f"\nWhat it cost is drawn in {PLOT}.", file=sys.stderr if as_json else sys.stdout)
    faults = [f"{result.name}: {fault}" for result in results for fault in result.faults]
    for fault in faults:
        print(fault, file=sys.stderr)
    return _EXIT_CODES["wrong"] if faults else 0


def _fail(failure: DemoError, as_json: bool) -> int:
    """Prints why there are no results, as the other commands do; the exit code."""
    if as_json:
        error = {"kind": failure.kind, "message": str(failure), "peer": None, "phase": None, "line": None}
        print(json.dumps({"error": error}))
    print(failure, file=sys.stderr)
    return _EXIT_CODES[failure.kind]


def _check_packages() -> None:
    missing = [package for module, package in _NEEDED.items() if find_spec(module) is None]
    if missing:
        names, all_of_them = ", ".join(missing), " ".join(missing)
        raise DemoError("input", f"the demo needs {names}, not found here: pip install {all_of_them}")


@contextmanager
def _cleaning_up() -> Iterator[None]:
    """Turns signals that end this process into an exception, so that everything is put away first."""

    def stop(*_: object) -> NoReturn:
        # The first is enough: what follows it is not to be cut short.
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextmanager
def _progress(steps: int) -> Iterator[Step]:
    """A bar on standard error, on a terminal only; it goes on by a step whenever it is told of the next."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<40}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        # The first step is only begun when it is told of.
        task = bar.add_task("starting", total=steps, completed=-1)
        yield lambda description: bar.update(task, advance=1, description=description)
