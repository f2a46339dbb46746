"""Files of what may be known of a model: JSON, written by its owner, checked by whoever reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from tacit._bounds import Bounds, is_number
from tacit.errors import InputError, ProgramError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    Public = TypeVar("Public")

_MAX_FILE = 1 << 26
"""Bytes of a file that are read at most: units of a million features take a third of it."""

_BOUNDS = ("weights", "queries", "bias")


def save(public: Any, path: str | os.PathLike[str], form: str, more: dict[str, Any]) -> None:
    """Writes features, labels, fraction, units, bounds, and what more there is.

    Raises:
        InputError: A label is neither text nor a number nor a bool.
        OSError: The file can't be written.
    """
    for label in public.labels:
        if not _is_label(label):
            raise InputError(f"the label {label!r} is neither text nor a finite number nor a bool")
    told = {name: getattr(public, name) for name in ("features", "labels", "fraction")}
    units = public.units
    told["units"] = [_plain(unit) for unit in units] if isinstance(units, tuple) else _plain(units)
    bounds = {name: _plain(getattr(public.bounds, name)) for name in _BOUNDS}
    text = json.dumps({"format": f"tacit {form} 1", **told, **more, "bounds": bounds}, indent=1)
    Path(path).write_text(text + "\n", encoding="utf-8")


def load(
    path: str | os.PathLike[str], of: Callable[..., Public], form: str, more: dict[str, Callable[[Any], bool]]
) -> Public:
    """Reads what `save` wrote; `more` says of each further entry whether it is one.

    Raises:
        OSError: The file can't be read.
        InputError: It holds something else, or is damaged.
    """

    def wrong(why: str) -> NoReturn:
        raise InputError(f"{path} holds no {form} ({why}); its owner makes it with public.save(...)")

    with Path(path).open("rb") as file:
        text = file.read(_MAX_FILE + 1)
    if len(text) > _MAX_FILE:
        wrong(f"it has more than {_MAX_FILE} bytes")
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        wrong("it isn't JSON")
    keys = {"format", "features", "labels", "units", "fraction", "bounds", *more}
    if not isinstance(read, dict) or read.get("format") != f"tacit {form} 1" or set(read) != keys:
        wrong(f"it isn't of the format {f'tacit {form} 1'!r}")
    labels, units, bounds = read["labels"], read["units"], read["bounds"]
    if not is_count(read["features"]):
        wrong("features has to be an integer, at most 2**32")
    if not isinstance(labels, list) or not all(map(_is_label, labels)):
        wrong("labels has to be a list of texts, numbers or bools")
    if not isinstance(bounds, dict) or set(bounds) != set(_BOUNDS):
        wrong("bounds has to have weights, queries and bias")
    if type(read["fraction"]) is not int:
        wrong("fraction has to be an integer")
    for name, holds in more.items():
        if not holds(read[name]):
            wrong(f"{name} isn't what it has to be")
    many = isinstance(units, list)
    if not all(map(_is_small, [*(units if many else [units]), *bounds.values()])):
        wrong("units and bounds have to be finite numbers")
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in read.items()}
    del given["format"], given["bounds"]
    try:
        return of(bounds=Bounds(**bounds), **given)
    except ProgramError as error:
        wrong(error.message)


def is_count(value: Any) -> bool:
    """Whether this is an integer, of at most 2**32."""
    return type(value) is int and value <= 1 << 32


def _is_label(value: Any) -> bool:
    """Whether a file can hold this label."""
    return isinstance(value, (str, bool)) or (isinstance(value, (int, float)) and _is_small(value))


def _is_small(value: Any) -> bool:
    """Whether this is a number that a float holds; a file's integer may have any number of digits."""
    return isinstance(value, (int, float)) and abs(value) < 2**1000 and is_number(value)


def _plain(value: Any) -> int | float:
    """A number as a file holds it."""
    return value if isinstance(value, (int, float)) else float(value)
