"""What axes and indices are written as."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, TypeAlias

from tacit._handles import Unknown

Axes: TypeAlias = int | Sequence[int] | None
Plain: TypeAlias = int | slice | EllipsisType | None
Index: TypeAlias = Any


def axes_of(axis: Axes) -> list[int] | None:
    if axis is None:
        return None
    return [*map(operator.index, axis)] if isinstance(axis, Sequence) else [operator.index(axis)]


def unpacked(arguments: tuple[Any, ...]) -> Sequence[int]:
    """Lengths or axes, given one by one or as one sequence."""
    if len(arguments) == 1 and isinstance(arguments[0], Sequence):
        return arguments[0]
    return arguments


def is_plain(entry: Any) -> bool:
    """Whether an entry of an index is an integer, a slice, `...` or `None`."""
    if entry is None or entry is ... or isinstance(entry, slice):
        return True
    return not isinstance(entry, (bool, Unknown, list, tuple)) and _is_integer(entry)


def is_whole_number(entry: Any) -> bool:
    """Whether an entry is one integer, public or secret."""
    if isinstance(entry, Unknown):
        return getattr(entry, "shape", None) == () and getattr(entry, "dtype", None) is not None
    return is_plain(entry) and entry is not None and entry is not ... and not isinstance(entry, slice)


def _is_integer(entry: Any) -> bool:
    try:
        operator.index(entry)
    except TypeError:
        return False
    return True


def entry_of(entry: Any) -> Plain:
    if entry is None or entry is ... or isinstance(entry, slice):
        return entry
    return operator.index(entry)
