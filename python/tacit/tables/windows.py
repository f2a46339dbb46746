"""Aggregates of the rows before each one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacit._functions import maximum, minimum, where
from tacit._location import fault
from tacit.errors import ProgramError
from tacit.tables.column import Column, made
from tacit.tables.facts import Facts
from tacit.tables.groups import _back, _check, _neutral, _raw, _there
from tacit.tables.sorting import differs_from_previous, packed, running, shifted_down, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit._tensor import Tensor
    from tacit.tables.table import Table

HOWS = ("sum", "count", "min", "max")


def windowed(
    table: Table,
    name: str,
    column: str | None,
    how: str,
    partition_by: str | Sequence[str],
    order_by: str | Sequence[str],
    descending: bool,
    rows: int | None,
) -> Table:
    """`Table.window`: a sort, then sums of each row and those before, as many as doublings reach."""
    from tacit.tables.table import names_of

    if how not in HOWS or (column is None and how != "count"):
        raise fault(ProgramError, f"there is no window of {how!r} of {column!r}", f"use {', '.join(HOWS)}")
    if rows is not None and (type(rows) is not int or rows < 1):
        raise fault(ProgramError, f"rows={rows!r}: a number of rows is needed")
    partition, order = names_of(partition_by), names_of(order_by)
    words = [(1 - table.valid, 2)]
    for key in partition:
        words += words_of(table[key])
    count = len(words)
    for key in order:
        words += words_of(table[key], descending=descending)
    # Rows of one partition need a key of their own to be told from the next.
    if packed_apart(words, count):
        facts = Facts(leading=True, settled=False)
        table = table.sorted_by(packed(words), facts)
    again = [(1 - table.valid, 2), *(word for key in partition for word in words_of(table[key]))]
    starts = differs_from_previous(packed(again))
    source = None if column is None else table[column]
    value = _looked_back(table, source, how, starts, rows)
    kept = table.facts.without([name], table.columns) if name in table.columns else table.facts
    return table._with(columns={**table.columns, name: value}, facts=replace(kept, order=()))


def packed_apart(words: Sequence[Any], count: int) -> bool:
    """Whether there is anything to sort by."""
    return len(words) > 1 or count > 1


def _looked_back(table: Table, source: Column | None, how: str, starts: Tensor, rows: int | None) -> Column:
    there = _there(table.valid, source)
    assert there is not None
    if source is None or how == "count":
        return made("integer", _joined_back(there + 0, starts, lambda a, b: a + b, rows, 0))
    _check(how, source)
    raw = _raw(source)
    neutral = _neutral(how, raw)
    filled = where(there, raw, neutral)
    join = {"sum": lambda a, b: a + b, "min": minimum, "max": maximum}[how]
    result = _joined_back(filled, starts, join, rows, neutral)
    valid = None
    if source.valid is not None:
        valid = _joined_back(there, starts, lambda a, b: a | b, rows, False)
    return _back(source, result, valid)


def _joined_back(values: Tensor, starts: Tensor, join: Any, rows: int | None, neutral: Any) -> Tensor:
    if rows is None:
        return running(starts, values, join)
    result, before = values, values
    for _ in range(min(rows, len(values)) - 1):
        # What has come across a start once is neutral from then on.
        before = _kept(~starts, shifted_down(before, neutral), neutral)
        result = join(before, result)
    return result


def _kept(condition: Tensor, values: Tensor, neutral: Any) -> Tensor:
    return condition & values if values.dtype.kind == "bool" else where(condition, values, neutral)
