"""Aggregates of the rows before each one, or of all that go with it, and ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit._functions import concatenate, maximum, minimum, where
from tacit._location import fault
from tacit.errors import ProgramError
from tacit.tables.column import Column, made
from tacit.tables.facts import Facts
from tacit.tables.groups import _back, _check, _neutral, _raw, _there
from tacit.tables.orders import wish
from tacit.tables.sorting import differs_from_previous, packed, running, shifted_down, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit._tensor import Tensor
    from tacit.tables.table import Table

HOWS = ("sum", "count", "mean", "min", "max")
RANKS = ("rank", "dense_rank")
BESIDE = ("lag", "lead")


def windowed(
    table: Table,
    name: str,
    column: str | None,
    how: str,
    partition_by: str | Sequence[str],
    order_by: str | Sequence[str],
    descending: bool | Sequence[bool],
    rows: int | str | None,
    *,
    any_order: bool = False,
    peers: bool = False,
) -> Table:
    """`Table.window`: a sort, then sums of each row and those before, as many as doublings reach.

    With `any_order` it doesn't matter which of the rows that are in no order comes first. With `peers` rows
    that are in no order have the same result, of all of them and those before.
    """
    from tacit.tables.table import names_of

    if how not in ((*HOWS, *BESIDE) if column is not None else ("count", *RANKS)):
        known = f"use {', '.join((*HOWS, *BESIDE))} of a column, count, {' or '.join(RANKS)} without one"
        raise fault(ProgramError, f"there is no window of {how!r} of {column!r}", known)
    if rows not in (None, "all") and (type(rows) is not int or rows < 1):
        raise fault(ProgramError, f"rows={rows!r}: a number of rows is needed, or 'all'")
    partition, order = names_of(partition_by), names_of(order_by)
    if how in RANKS and (not order or rows is not None):
        raise fault(ProgramError, f"a {how} is of all rows before, in an order", "say order_by, without rows")
    if how in BESIDE and (not order or rows == "all"):
        raise fault(ProgramError, f"a {how} is so many rows away, in an order", "say order_by, and rows=2")
    down = [descending] * len(order) if isinstance(descending, bool) else list(descending)
    if len(down) != len(order):
        raise fault(ProgramError, f"{len(down)} directions for {len(order)} columns of order_by")
    if partition or order:
        # Ranks and what equal rows share are the same in whichever order those are.
        alone = any_order or peers or how in RANKS
        table = _in_line(table, partition, list(zip(order, down, strict=True)), any_order, alone)
    elif not any_order:
        table = table.settled()
    starts = _starts(table, partition)
    alike = _starts(table, (*partition, *order)) if peers or how in RANKS else starts
    if how in RANKS:
        value = _ranked(table, how, starts, alike)
    elif how in BESIDE:
        assert column is not None
        away = rows if isinstance(rows, int) else 1
        value = _beside(table, table[column], starts, away, later=how == "lead")
    else:
        source = None if column is None else table[column]
        if source is not None:
            _check(how, source)
        looked = []
        for one in ("sum", "count") if how == "mean" else (how,):
            back = _looked_back(table, source, one, starts, rows if isinstance(rows, int) else None)
            if rows == "all" or peers:
                back = _spread_back(back, starts if rows == "all" else alike)
            looked.append(back)
        value = looked[0] / looked[1] if how == "mean" else looked[0]
    kept = table.facts.without([name], table.columns) if name in table.columns else table.facts
    return table._with(columns={**table.columns, name: value}, facts=replace(kept, order=()))


def _in_line(
    table: Table, partition: Sequence[str], order: Sequence[tuple[str, bool]], any_order: bool, alone: bool
) -> Table:
    """The rows that count first, each partition's together and in its order: a sort, unless they are.

    With `alone` it doesn't matter which of the rows that are in no order comes first; with `any_order` they
    aren't put in one, either.
    """
    keys = (*partition, *(key for key, _ in order))
    unique = table.facts.is_unique(keys)
    if (alone or unique) and not any(falls for _, falls in order):
        wish(table, keys)
    if table.facts.is_in_line(partition, order) and (alone or unique or table.facts.settled is not None):
        table = table.leading()
        return table._with(facts=replace(table.facts, settled=frozenset(keys))) if unique else table
    # What a row comes after has to follow from what is in the rows, not from where they stood.
    others = () if any_order else table.facts.tell_apart(keys, table.columns)
    line = (*((key, False) for key in partition), *order, *((key, False) for key in others))
    words = [(1 - table.valid, 2)]
    for key, falls in line:
        words += words_of(table[key], descending=falls)
    by = None if any_order else frozenset((*keys, *others))
    return table.sorted_by(packed(words), Facts(leading=True, settled=by, line=line))


def _starts(table: Table, keys: Sequence[str]) -> Tensor:
    """Whether a row is the first with its values in these columns."""
    if not keys:
        # Rows that don't count add nothing.
        return table.constant(np.arange(len(table)) == 0)
    return differs_from_previous(
        packed([(1 - table.valid, 2), *(word for key in keys for word in words_of(table[key]))])
    )


def _ranked(table: Table, how: str, starts: Tensor, alike: Tensor) -> Column:
    """How many rows come before those like this one, and one; or how many different ones do."""
    if how == "dense_rank":
        return made("integer", _joined_back(alike + 0, starts, lambda a, b: a + b, None, 0))
    place = _joined_back(table.valid + 0, starts, lambda a, b: a + b, None, 0)
    return made("integer", running(alike, place, lambda first, _: first))


def _beside(table: Table, source: Column, starts: Tensor, away: int, *, later: bool) -> Column:
    """What the row so many places before has, or the one after; null, if there is none."""
    there = _there(table.valid, source)
    assert there is not None
    parts, away = list(source.parts), min(away, len(there))
    if later:
        starts = _ends(starts)
        there, parts = there[::-1], [one[::-1] for one in parts]
    # Whether one of the last `reach` rows is the first of its partition.
    begun, reach = starts, 1
    while reach < away:
        further = min(reach, away - reach)
        begun, reach = begun | shifted_down(begun, False, further), reach + further
    there = ~begun & shifted_down(there, False, away)
    if away < len(there):
        # What the first ones have is null, and in range.
        parts = [concatenate([one[:away], one[:-away]]) for one in parts]
    if later:
        there, parts = there[::-1], [one[::-1] for one in parts]
    return Column(source.type, tuple(parts), there)


def _ends(starts: Tensor) -> Tensor:
    """Whether a row is the last before a start, of rows from the last one on."""
    return concatenate([starts[1:], starts[:1]])[::-1]


def _spread_back(column: Column, starts: Tensor) -> Column:
    """What the last row since each start has, in all of these rows."""
    ends = _ends(starts)
    return column.with_tensors(
        [running(ends, one[::-1], lambda last, _: last)[::-1] for one in column.tensors()]
    )


def _looked_back(table: Table, source: Column | None, how: str, starts: Tensor, rows: int | None) -> Column:
    there = _there(table.valid, source)
    assert there is not None
    if source is None or how == "count":
        return made("integer", _joined_back(there + 0, starts, lambda a, b: a + b, rows, 0))
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
