"""Categories, columns of words that everybody knows, each shared as its place; and tables of few values."""

from __future__ import annotations

import collections
import datetime
import itertools
import math
import re
from typing import TYPE_CHECKING, Any

from tacit._functions import where
from tacit._location import fault
from tacit._ranges import within
from tacit._tensor import Tensor
from tacit.errors import ProgramError, ProgramTypeError
from tacit.tables.types import EPOCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tacit.tables.column import Column


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a word matches a pattern of SQL's LIKE."""
    parts = ["." if one == "_" else ".*" if one == "%" else re.escape(one) for one in pattern]
    compiled = re.compile("".join(parts), re.DOTALL)
    return lambda word: compiled.fullmatch(word) is not None


def among(column: Column, holds: Callable[[str], bool]) -> Column:
    """Whether a category is one of the words for which `holds`: a comparison or two for each run of them."""
    from tacit.tables.column import made

    _checked(column)
    chosen = [bool(holds(word)) for word in column.type.words]
    return made("boolean", _is_chosen(column.value, chosen), valid=column.valid)


def _is_chosen(value: Any, chosen: list[bool]) -> Any:
    """Whether the place of each value is one of those that are chosen."""
    if not isinstance(value, Tensor):
        return chosen[value]
    if not any(chosen) or all(chosen):
        return any(chosen)
    # Fewer runs are left out than are in, perhaps.
    runs, others = _runs(chosen), _runs([not one for one in chosen])
    inverted = len(others) < len(runs)
    result: Any = None
    for first, last in others if inverted else runs:
        found = _between(value, first, last, len(chosen) - 1)
        result = found if result is None else result ^ found
    return ~result if inverted else result


def mapped(change: Callable[..., Any], *columns: Column, nulls: bool = False) -> Column:
    """What a function makes of the values that columns may have together.

    Where one is null the result is null; with `nulls` the function is given `None` for it.
    """
    from tacit.tables.column import both_valid, is_missing, made

    said = f"map of {' and '.join(column.said() for column in columns)}"
    place, values = _together(said, columns, nulls)
    results: list[Any] = [change(*several) for several in values]
    there = [not is_missing(one) for one in results]
    if not any(there):
        raise fault(ProgramError, f"{said} makes nothing of all values", "see what it gives")
    some = results[there.index(True)]
    results = [one if known else some for one, known in zip(results, there, strict=True)]
    valid = None if nulls else both_valid(*columns)
    if not all(there):
        known = _is_chosen(place, there)
        valid = known if valid is None else valid & known
    if all(isinstance(one, bool) for one in results):
        return made("boolean", _is_chosen(place, results), valid=valid)
    if all(isinstance(one, str) for one in results):
        words = tuple(sorted(set(results)))
        places = {word: place for place, word in enumerate(words)}
        return made("category", _looked_up(place, [places[one] for one in results]), valid=valid, words=words)
    return _of_numbers(said, place, results, valid)


MOST_VALUES = 10_000
"""Values of columns that a function is tried on."""


def _together(said: str, columns: Sequence[Column], nulls: bool) -> tuple[Any, Iterable[tuple[Any, ...]]]:
    """The place of each row's values among all that columns may have together, and these."""
    place: Any = None
    values = []
    for column in columns:
        own, several = _values(said, column)
        if nulls and column.valid is not None:
            own, several = where(column.valid, own + 1, 0), [None, *several]
        place = own if place is None else place * len(several) + own
        values.append(several)
    if math.prod(map(len, values)) > MOST_VALUES:
        raise _too_many(said)
    return place, itertools.product(*values)


def _too_many(said: str) -> ProgramTypeError:
    return fault(
        ProgramTypeError,
        f"{said} of more than {MOST_VALUES:,} values that there may be, too many to try them all",
        "write arithmetic on the column itself, x * 2, and np.where(condition, a, b) for if",
    )


def _values(said: str, column: Column) -> tuple[Any, list[Any]]:
    """The place of each value among those that a column may have, and these."""
    kind = column.type
    if kind.kind == "category":
        return column.value, [*kind.words]
    if kind.kind == "boolean":
        return column.value + 0, [False, True]
    if kind.kind in ("integer", "date") and kind.high - kind.low < MOST_VALUES:
        several = range(kind.low, kind.high + 1)
        days = [EPOCH + datetime.timedelta(one) for one in several] if kind.kind == "date" else several
        return column.value - kind.low, [*days]
    if kind.kind == "decimal" and kind.high - kind.low < MOST_VALUES:
        return column.value - kind.low, [one / kind.unit for one in range(kind.low, kind.high + 1)]
    raise _too_many(said)


def _of_numbers(said: str, place: Any, results: list[Any], valid: Tensor | None) -> Column:
    """Numbers that are looked up: integers, decimals, or in fixed point if they have more places."""
    from tacit.tables.alignment import as_number, is_real, scaled
    from tacit.tables.column import column_of, made

    made_of = [column_of(one) for one in results]
    if not all(one.type.kind in ("integer", "decimal") for one in made_of):
        raise fault(
            ProgramTypeError,
            f"{said} gives values of several kinds",
            "give words of all values, or numbers, or bools; None is null",
        )
    if not any(map(is_real, made_of)):
        places = max(one.type.places for one in made_of)
        value = _looked_up(place, [scaled(one, places) for one in made_of])
        return made("decimal" if places else "integer", value, places=places, valid=valid)
    raw = _looked_up(place, [math.floor(as_number(one) * 2**16 + 0.5) for one in made_of])
    return made("number", raw._made(raw._at().raw_as(raw._id, 16)), places=16, valid=valid)


def together(a: Column, b: Column) -> tuple[Any, Any, tuple[str, ...]]:
    """Two categories as places among the words of both."""
    if a.type.words == b.type.words:
        return a.value, b.value, a.type.words
    words = tuple(sorted({*a.type.words, *b.type.words}))
    x, y = (_looked_up(one.value, [words.index(word) for word in one.type.words]) for one in (a, b))
    return x, y, words


def recoded(column: Column, words: tuple[str, ...]) -> Column:
    """A category as places among more words."""
    from tacit.tables.column import made

    if column.type.words == words:
        return column
    value = _looked_up(column.value, [words.index(word) for word in column.type.words])
    return made("category", value, valid=column.valid, words=words)


def _looked_up(value: Any, table: list[int]) -> Any:
    """`table[value]`: a comparison for each end of a run of places that go up by the usual step."""
    if not isinstance(value, Tensor):
        return table[value]
    # Where a run ends, so much is added from there on.
    steps = [after - before for before, after in itertools.pairwise(table)]
    counts = collections.Counter(steps)
    slope = max(counts, key=lambda step: (counts[step], step == 0, step == 1), default=0)
    result: Any = value * slope + table[0]
    for place, step in enumerate(steps, 1):
        if step != slope:
            result = result + (value >= place) * (step - slope)
    return within(result, min(table), max(table))


def _runs(chosen: list[bool]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for place, one in enumerate(chosen):
        if one and runs and runs[-1][1] == place - 1:
            runs[-1] = runs[-1][0], place
        elif one:
            runs.append((place, place))
    return runs


def _between(value: Tensor, first: int, last: int, end: int) -> Tensor:
    if first == last:
        return value == first
    if first == 0:
        return value <= last
    return value >= first if last == end else (value >= first) & (value <= last)


def _checked(column: Column) -> None:
    if column.type.kind != "category":
        raise fault(
            ProgramTypeError,
            f"{column.said()} has no words that everybody knows",
            "declare the column as category([...])",
        )
