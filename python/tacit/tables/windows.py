"""Aggregates of the rows before each one, or of all that go with it, and ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from tacit._division import floor_divide
from tacit._functions import concatenate, maximum, minimum, where
from tacit._location import fault
from tacit._ranges import within
from tacit.errors import ProgramError, ProgramTypeError
from tacit.tables.aggregates import check, from_raw, mean_of_column, neutral_of, raw_of_column, there_in
from tacit.tables.column import Column, made
from tacit.tables.facts import Facts
from tacit.tables.orders import wish
from tacit.tables.sorting import (
    differs_from_previous,
    either,
    packed,
    refuse_texts,
    running,
    shifted_down,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit._tensor import Tensor
    from tacit.tables.table import Table

Frame: TypeAlias = "tuple[int | None, int | None]"
"""The first and the last row that is looked at, from one's own; `None` for all on that side."""

HOWS = ("sum", "count", "mean", "min", "max")
RANKS = ("rank", "dense_rank")
BESIDE = ("lag", "lead", "first", "last")

_INSTEAD = {
    "row_number": 'say t.window("name", None, "count", order_by=...)',
    "cumcount": 'say t.window("name", None, "count", order_by=...)',
    **{f"cum{how}": f'say "{how}": it is of all rows before, if no rows= are named' for how in HOWS},
    **{how: f'say None for the column: t.window("name", None, "{how}", order_by=...)' for how in RANKS},
    "percent_rank": 'say "rank", take 1 away, and divide by the number of rows less 1',
    "shift": 'say "lag", or "lead" for rows after',
    "diff": 'say "lag", and take it away',
    **{
        how: f'tacit.sql("select *, {name}(x) over (order by day rows 6 preceding) as y from t", t=t) has it'
        for how, name in [("std", "stddev"), ("var", "variance")]
    },
    "median": "medians are of groups: group_by by a week or a month, say",
    "quantile": "quantiles are of groups: group_by by a week or a month, say",
}
"""Windows of pandas, and what to write."""


def windowed(
    table: Table,
    name: str,
    column: str | None,
    how: str,
    partition_by: str | Sequence[str],
    order_by: str | Sequence[str],
    descending: bool | Sequence[bool],
    rows: int | str | Frame | None,
    *,
    any_order: bool = False,
    peers: bool = False,
) -> Table:
    """`Table.window`: a sort, then sums of each row and those beside, as many as doublings reach.

    With `any_order` it doesn't matter which of the rows that are in no order comes first. With `peers` rows
    that are in no order have the same result, of all of them and those before; "last" that of the last of
    them.
    """
    from tacit.tables.table import names_of

    if column is not None and not isinstance(column, str):
        raise fault(
            ProgramTypeError,
            "a window is of a column by its name",
            "say t.assign(y=t.x * 2).window(...) before",
        )
    if how not in ((*HOWS, *BESIDE) if column is not None else ("count", *RANKS, "ntile")):
        known = f"use {', '.join((*HOWS, *BESIDE))} of a column, count, {', '.join(RANKS)}, ntile without one"
        raise fault(
            ProgramError, f"there is no window of {how!r} of {column!r}", _INSTEAD.get(str(how), known)
        )
    frame = _frame(rows)
    partition, order = names_of(partition_by), names_of(order_by)
    if how in RANKS and (not order or rows is not None):
        raise fault(ProgramError, f"a {how} is of all rows before, in an order", "say order_by, without rows")
    if how in ("first", "last") and (not order or rows is not None):
        raise fault(ProgramError, f"a {how} one is of all rows, in an order", "say order_by, without rows")
    if how == "ntile" and (not order or type(rows) is not int):
        raise fault(ProgramError, "ntile is of so many parts, in an order", "say order_by, and rows=4")
    if how in BESIDE and (not order or not isinstance(rows, int | None)):
        raise fault(ProgramError, f"a {how} is so many rows away, in an order", "say order_by, and rows=2")
    down = [descending] * len(order) if isinstance(descending, bool) else list(descending)
    if len(down) != len(order):
        raise fault(ProgramError, f"{len(down)} directions for {len(order)} columns of order_by")
    for one in () if any_order else order:
        refuse_texts(one, table[one])
    if partition or order:
        # Ranks and what equal rows share are the same in whichever order those are.
        alone = any_order or (peers and how != "last") or how in RANKS
        table = _in_line(table, partition, list(zip(order, down, strict=True)), any_order, alone)
    elif not any_order:
        table = table.settled()
    starts = _starts(table, partition)
    alike = _starts(table, (*partition, *order)) if peers or how in RANKS else starts
    if how in RANKS:
        value = _ranked(table, how, starts, alike)
    elif how == "ntile":
        assert isinstance(rows, int)
        value = _part(table, starts, rows)
    elif how in BESIDE:
        assert column is not None
        if how == "first":
            whole = table[column]
            value = whole.with_tensors([running(starts, one, lambda a, _: a) for one in whole.tensors()])
        elif how == "last":
            # Rows that don't count are behind the others.
            together = starts if partition else differs_from_previous(packed([(1 - table.valid, 2)]))
            value = _spread_back(table[column], alike if peers else together)
        else:
            away = rows if isinstance(rows, int) else 1
            value = _beside(table, table[column], starts, away, later=how == "lead")
    else:
        source = None if column is None else table[column]
        if source is not None:
            check(how, source)
        looked = []
        for one in ("sum", "count") if how == "mean" else (how,):
            back = _looked_around(table, source, one, starts, frame)
            if rows == "all" or peers:
                back = _spread_back(back, starts if rows == "all" else alike)
            looked.append(back)
        value = looked[0]
        if how == "mean":
            count = looked[1].value
            value = mean_of_column(value, raw_of_column(value), count, count != 0)
    kept = table.facts.without([name], table.columns) if name in table.columns else table.facts
    return table._with(columns={**table.columns, name: value}, facts=replace(kept, order=()), rows=None)


def _frame(rows: int | str | Frame | None) -> Frame:
    """Which rows are looked at.

    Raises:
        ProgramError: None are.
    """
    if rows is None or rows == "all":
        return None, 0
    if type(rows) is int and rows >= 1:
        return 1 - rows, 0
    if isinstance(rows, tuple) and len(rows) == 2 and all(one is None or type(one) is int for one in rows):
        first, last = rows
        if first is None or last is None or first <= last:
            return first, last
    raise fault(
        ProgramError,
        f"rows={rows!r} aren't so many rows",
        "say a number, or 'all', or the first and the last, as (-2, 2); no windows are of days: group by "
        "day, and join days without rows, first",
    )


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
    free = alone or unique or table.facts.is_settled_by(table.columns)
    if free and table.facts.is_in_line(partition, order):
        table = table.leading()
        settled = frozenset(keys) if unique else table.facts.settled
        if not unique and not table.facts.is_settled_by(table.columns):
            # Nobody asks for the order of equal rows here, and columns that are gone may be in it.
            settled = None
        return table._with(facts=replace(table.facts, settled=settled))
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
    import numpy as np

    if not keys:
        # Rows that don't count add nothing.
        return table.constant(np.arange(len(table)) == 0)
    return differs_from_previous(
        packed([(1 - table.valid, 2), *(word for key in keys for word in words_of(table[key]))])
    )


def _ranked(table: Table, how: str, starts: Tensor, alike: Tensor) -> Column:
    """How many rows come before those like this one, and one; or how many different ones do."""
    if how == "dense_rank":
        return made("integer", running(starts, alike + 0, lambda a, b: a + b))
    place = running(starts, table.valid + 0, lambda a, b: a + b)
    return made("integer", running(alike, place, lambda first, _: first))


def _part(table: Table, starts: Tensor, parts: int) -> Column:
    """In which of so many parts a row is: as long as one another, the first by one longer than the last."""
    place = running(starts, table.valid + 0, lambda a, b: a + b)
    if parts >= len(table):
        return made("integer", place)
    count = _spread_back(made("integer", place), starts).value
    each = floor_divide(count, parts)
    longer = within(count - each * parts, 0, parts - 1)
    begin: Any = 0
    found: Any = 1
    for part in range(1, parts):
        begin = begin + each + (longer >= part)
        found = (place > begin) + found
    return made("integer", within(found + place * 0, 1, parts))


def _beside(table: Table, source: Column, starts: Tensor, away: int, *, later: bool) -> Column:
    """What the row so many places before has, or the one after; null, if there is none."""
    there = there_in(table.valid, source)
    assert there is not None
    parts, away = list(source.parts), min(away, len(there))
    if later:
        starts = _ends(starts)
        there, parts = there[::-1], [one[::-1] for one in parts]
    there = ~_begun(starts, away) & shifted_down(there, False, away)
    if away < len(there):
        # What the first ones have is null, and in range.
        parts = [concatenate([one[:away], one[:-away]]) for one in parts]
    if later:
        there, parts = there[::-1], [one[::-1] for one in parts]
    return Column(source.type, tuple(parts), there)


def _begun(starts: Tensor, rows: int) -> Tensor:
    """Whether one of the last so many rows is the first of its partition."""
    reach = 1
    while reach < rows:
        further = min(reach, rows - reach)
        starts, reach = starts | shifted_down(starts, False, further), reach + further
    return starts


def _ends(starts: Tensor) -> Tensor:
    """Whether a row is the last before a start, of rows from the last one on."""
    return concatenate([starts[1:], starts[:1]])[::-1] if len(starts) > 1 else starts


def _spread_back(column: Column, starts: Tensor) -> Column:
    """What the last row since each start has, in all of these rows."""
    ends = _ends(starts)
    return column.with_tensors(
        [running(ends, one[::-1], lambda last, _: last)[::-1] for one in column.tensors()]
    )


def _looked_around(table: Table, source: Column | None, how: str, starts: Tensor, frame: Frame) -> Column:
    there = there_in(table.valid, source)
    assert there is not None
    if source is None or how == "count":
        return made("integer", _joined(there + 0, starts, lambda a, b: a + b, frame, 0))
    raw = raw_of_column(source)
    neutral = neutral_of(how, raw)
    filled = where(there, raw, neutral)
    join = {"sum": lambda a, b: a + b, "min": minimum, "max": maximum}[how]
    result = _joined(filled, starts, join, frame, neutral)
    valid = None
    first, last = frame
    if source.valid is not None or (first or 0) > 0 or (last or 0) < 0:
        valid = _joined(there, starts, either, frame, False)
    return from_raw(source, result, valid)


def _joined(values: Tensor, starts: Tensor, join: Any, frame: Frame, neutral: Any) -> Tensor:
    """What `join` makes of the values of a partition from one place beside each row to another."""
    first, last = frame
    if first is not None and first > 0:
        turned = None if last is None else -last, -first
        return _joined(values[::-1], _ends(starts), join, turned, neutral)[::-1]
    if last is None or last > 0:
        ahead = _joined(values, starts, join, (1, last), neutral)
        both: Tensor = join(_joined(values, starts, join, (first, 0), neutral), ahead)
        return both
    if last < 0:
        away = min(-last, len(values))
        values = _kept(~_begun(starts, away), shifted_down(values, neutral, away), neutral)
    if first is None:
        return running(starts, values, join)
    return _of_last(values, starts, join, last - first + 1, neutral)


def _of_last(values: Tensor, starts: Tensor, join: Any, rows: int, neutral: Any) -> Tensor:
    """What `join` makes of the values of the last so many rows, by doublings."""
    rows, taken = min(rows, len(values)), 0
    result = crossed = None
    # Of the last `reach` rows, and whether one of them is the first of its partition.
    whole, begun, reach = values, starts, 1
    while True:
        if rows & reach:
            if result is None or crossed is None:
                result, crossed = whole, begun
            else:
                result = join(_kept(~crossed, shifted_down(whole, neutral, taken), neutral), result)
                crossed = crossed | shifted_down(begun, False, taken)
            taken += reach
        if taken == rows and result is not None:
            return result
        whole = join(_kept(~begun, shifted_down(whole, neutral, reach), neutral), whole)
        begun, reach = begun | shifted_down(begun, False, reach), 2 * reach


def _kept(condition: Tensor, values: Tensor, neutral: Any) -> Tensor:
    return condition & values if values.dtype.kind == "bool" else where(condition, values, neutral)
