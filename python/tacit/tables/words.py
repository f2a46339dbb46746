"""Categories: columns of words that everybody knows, each shared as its place among them."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from tacit._location import fault
from tacit._ranges import within
from tacit._tensor import Tensor
from tacit.errors import ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

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
    words = column.type.words
    if not isinstance(column.value, Tensor):
        return made("boolean", holds(words[column.value]), valid=column.valid)
    chosen = [bool(holds(word)) for word in words]
    if not any(chosen) or all(chosen):
        return made("boolean", any(chosen), valid=column.valid)
    # Fewer runs are left out than are in, perhaps.
    runs, others = _runs(chosen), _runs([not one for one in chosen])
    inverted = len(others) < len(runs)
    result: Any = None
    for first, last in others if inverted else runs:
        found = _between(column.value, first, last, len(words) - 1)
        result = found if result is None else result ^ found
    return made("boolean", ~result if inverted else result, valid=column.valid)


def mapped(column: Column, change: Callable[[str], str]) -> Column:
    """A category of other words: the place of what `change` makes of each."""
    from tacit.tables.column import made

    _checked(column)
    changed = [change(word) for word in column.type.words]
    words = tuple(sorted(set(changed)))
    value = _looked_up(column.value, [words.index(word) for word in changed])
    return made("category", value, valid=column.valid, words=words)


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
    """`table[value]`: a comparison for each end of a run of places that stay the same, or go up by one."""
    if not isinstance(value, Tensor):
        return table[value]
    # Where a run ends, so much is added from there on.
    steps = [after - before for before, after in itertools.pairwise(table)]
    slope = int(steps.count(1) > steps.count(0))
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
            f"{column.type} has no words that everybody knows",
            "declare the column as category([...])",
        )
