"""Where in the user's source a value comes from: the nearest frame outside this package."""

from __future__ import annotations

import contextlib
import functools
import itertools
import linecache
import os
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType

    from tacit.errors import ProgramError

    Error = TypeVar("Error", bound=ProgramError)

P = ParamSpec("P")
Result = TypeVar("Result")

_HERE = __file__.removesuffix("_location.py")


class Location(NamedTuple):
    """A line of the user's; `text` is the expression on it."""

    file: str
    line: int
    text: str


_said: ContextVar[Location | None] = ContextVar("said", default=None)


@contextlib.contextmanager
def said(location: Location) -> Iterator[None]:
    """While what is computed comes from no line of the user's, but from this place of a file that is read."""
    before = _said.set(location)
    try:
        yield
    finally:
        _said.reset(before)


def at_one_line(function: Callable[P, Result]) -> Callable[P, Result]:
    """A function that adds many operations, of which all are at the line that called it."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> Result:
        with said(caller()):
            return function(*args, **kwargs)

    return called


def caller() -> Location:
    """The user's expression that is being evaluated."""
    known = _said.get()
    if known is not None:
        return known
    frame = sys._getframe(1)
    while _is_ours(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    return _locate(frame.f_code, frame.f_lasti, frame.f_lineno)


def fault(error: type[Error], message: str, hint: str | None = None) -> Error:
    """An error at the user's expression."""
    file, line, text = caller()
    return error(message, hint=hint, file=file, line=line, text=text)


@functools.lru_cache(maxsize=1 << 12)
def _is_ours(file: str) -> bool:
    """Whether a file is this package's, or one of a library that called it."""
    libraries = [sys.modules.get(name) for name in ("numpy", "scipy", "pandas")]
    folders = [str(one.__file__).removesuffix("__init__.py") for one in libraries if one is not None]
    return file.startswith((_HERE, *folders))


@functools.lru_cache(maxsize=1 << 12)
def _locate(code: CodeType, instruction: int, line: int) -> Location:
    file = code.co_filename
    shown = file.removeprefix(str(os.getcwd()) + os.sep)  # noqa: PTH109 (pathlib would double the start-up time)
    # An instruction takes two bytes of code.
    place = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
    first, last, start, end = place or (None, None, None, None)
    if first is None or last is None or start is None or end is None:
        return Location(shown, line, linecache.getline(file, line).strip())
    lines = [linecache.getline(file, number).encode() for number in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    text = " ".join(part.decode(errors="replace").strip() for part in lines)
    return Location(shown, first, text)
