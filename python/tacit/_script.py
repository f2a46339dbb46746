"""Program files: what the command line runs when it is given a Python file."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit._plan import Plan
from tacit._trace import Function
from tacit.errors import PlanError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from types import ModuleType


def load(path: str | os.PathLike[str], arguments: Sequence[str] = ()) -> Plan:
    """The plan of a program file.

    That is the file's `plan`, or that of its one traceable function, whose parameters then have declarations
    of secrets as their defaults. The file sees `arguments` in `sys.argv`, its own name before them.

    Raises:
        OSError: The file can't be read.
        PlanError: The file has no plan, or several that it could be.
        Exception: Whatever the file raises.
    """
    file = Path(path)
    if not file.exists():
        raise PlanError(f"there is no file {file}")
    spec = importlib.util.spec_from_file_location("__tacit_program__", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise PlanError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    before, sys.argv = sys.argv, [str(file), *arguments]
    # As for a script, what stands beside the file can be imported.
    sys.path.insert(0, str(file.parent))
    try:
        # Standard output is the command's own, for results.
        with contextlib.redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
            return _plan_of(module, file)
    finally:
        sys.argv = before
        sys.path.remove(str(file.parent))


def _plan_of(module: ModuleType, file: Path) -> Plan:
    """The plan that a loaded file names, or that of its one function."""
    plan = getattr(module, "plan", None)
    if isinstance(plan, Plan):
        return plan
    functions = [
        value
        for value in vars(module).values()
        if isinstance(value, Function) and value.__module__ == module.__name__
    ]
    match functions:
        case [function]:
            _check_defaults(function, file)
            return function.trace()
        case []:
            raise PlanError(f"{file} has neither a `plan = f.trace(...)` nor a @tacit.function")
    names = ", ".join(function.__name__ for function in functions)
    raise PlanError(f"{file} has several functions ({names}); say which with `plan = f.trace(...)`")


def _check_defaults(function: Function[Any], file: Path) -> None:
    """Refuses a function with a parameter that nothing is declared for."""
    without = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is parameter.empty and parameter.kind < parameter.VAR_POSITIONAL
    ]
    if without:
        name = function.__name__
        declared = ", ".join(f'{one}=tacit.secret("owner of {one}", shape=...)' for one in without)
        raise PlanError(
            f"{file}: nothing is declared for {' and '.join(without)} of {name}\n  "
            f"hint: add a line `plan = {name}.trace({declared})`, or make the declarations defaults"
        )
