"""Groups of rows and their aggregates: by a matrix product where there are few groups, else by order."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from tacit._functions import concatenate, minimum, where
from tacit._functions import maximum as _maximum
from tacit._location import at_one_line, fault
from tacit._ranges import within
from tacit._tensor import Tensor, matmul
from tacit.errors import ProgramError
from tacit.tables.aggregates import (
    SPREADS,
    Aggregate,
    Spec,
    aggregate_of,
    from_raw,
    mean_of_column,
    neutral_of,
    raw_of_column,
    there_in,
)
from tacit.tables.column import Column, made
from tacit.tables.facts import Facts
from tacit.tables.instead import NAMED, OF_GROUPS, no_attribute
from tacit.tables.orders import wish
from tacit.tables.quantiles import in_own_order, with_orders
from tacit.tables.sorting import (
    compact_to_end,
    differs_from_previous,
    either,
    packed,
    running,
    shifted_down,
    sort_rows,
    summed,
    words_of,
)
from tacit.tables.spreads import with_spreads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.tables.table import Fault, Table

FEW = 64
"""Groups that are told apart by a comparison of each row with each group."""


class Grouped:
    """Groups of rows, made by `Table.group_by`."""

    def __init__(self, table: Table, keys: Sequence[str], groups: int | None) -> None:
        if groups is not None and (type(groups) is not int or groups < 1):
            raise fault(ProgramError, f"groups={groups!r}: a number of groups is needed")
        for key in keys:
            table[key]
        self._table, self._keys, self._groups = table, tuple(dict.fromkeys(keys)), groups

    def __getattr__(self, name: str) -> NoReturn:
        is_column = not name.startswith("_") and name in self._table.columns
        raise no_attribute("group", name, {name: NAMED} if is_column else OF_GROUPS)

    def __getitem__(self, key: Any) -> NoReturn:
        raise fault(ProgramError, f"[{key!r}] of groups", NAMED)

    @at_one_line
    def agg(self, *given: Any, **aggregates: Spec) -> Table:
        """A row for each group: its keys, and aggregates of columns.

        Args:
            given: Nothing.
            aggregates: `total=("pay", "sum")`; the second is "sum", "count" (of values that aren't null),
                "mean", "median", "var" or "std" (in fixed point; the last two of a sample: by the count less
                1), "min", "max" or "distinct" (how many different ones).
                `p90=("pay", "quantile", 0.9)` is between the values at both sides, as pandas has it and SQL's
                QUANTILE_CONT; "quantile_disc" is one of the values, the first that as large a part of them
                isn't above.

                `rows="count"` counts rows. In the place of a name a column of the table may stand,
                `table["a"] * 2`.

        Sums and counts cost no messages once the rows are in order; "min" and "max" log n comparisons a row;
        the median or quantiles of a column a sort by it.
        """
        if given:
            raise fault(ProgramError, f"agg({given[0]!r})", NAMED)
        chosen: dict[str, Aggregate] = {}
        for name, spec in aggregates.items():
            if name in self._keys:
                raise fault(ProgramError, f"{name} is a key and an aggregate", "call the aggregate otherwise")
            chosen[name] = aggregate_of(self._table, name, spec)
        if any(one.how in SPREADS for one in chosen.values()):
            return with_spreads(self, self._keys, chosen)
        if in_own_order(chosen):
            return with_orders(self._table, self._keys, chosen, self._groups)
        if not self._keys:
            return _whole(self._table, chosen)
        domain = _domain(self._table, self._keys)
        distinct = any(one.how == "distinct" for one in chosen.values())
        if not distinct and domain is not None and domain <= FEW:
            return _few(self._table, self._keys, chosen, domain, self._groups)
        return _ordered(self._table, self._keys, chosen, self._groups)


def _domain(table: Table, keys: Sequence[str]) -> int | None:
    """How many values the keys can have together, if few do."""
    count = 1
    for key in keys:
        kind = table[key].type
        if kind.kind in ("text", "number"):
            return None
        count *= kind.high - kind.low + 1 + kind.null
        if count > FEW:
            return None
    return count


def _finished(aggregate: Aggregate, sums: Tensor | None, counts: Tensor | None, some: bool) -> Column:
    """A column of a result, from sums or extremes and how many values each is of; `some` if one at least."""
    column = aggregate.column
    if aggregate.how in ("count", "distinct") or column is None:
        assert counts is not None
        return made("integer", counts)
    assert sums is not None
    valid = None if counts is None or (some and column.valid is None) else counts > 0
    if aggregate.how == "mean":
        assert counts is not None
        return mean_of_column(column, sums, counts, valid)
    return from_raw(column, sums, valid)


# All rows together.


def _whole(table: Table, aggregates: dict[str, Aggregate]) -> Table:
    """One row, of all rows together."""
    columns = {}
    for name, one in aggregates.items():
        there = there_in(table.valid, one.column)
        assert there is not None
        counts = there.sum().reshape(1)
        sums = None
        if one.how == "distinct":
            assert one.column is not None
            inner = table._with(columns={"x": one.column}, valid=there, facts=Facts())
            counts = inner.group_by("x").agg().valid.sum().reshape(1)
        elif one.column is not None and one.how != "count":
            raw = raw_of_column(one.column)
            filled = where(there, raw, neutral_of(one.how, raw))
            sums = filled.min() if one.how == "min" else filled.max() if one.how == "max" else filled.sum()
            sums = sums.reshape(1)
        columns[name] = _finished(one, sums, counts, some=False)
    nothing: frozenset[str] = frozenset()
    facts = Facts(unique=frozenset((nothing,)), bounds={nothing: 1}, leading=True, settled=nothing)
    return type(table)(columns, table.constant(True, rows=1), facts, table.faults)


# Few groups, whose keys everybody knows.


def _few(
    table: Table, keys: Sequence[str], aggregates: dict[str, Aggregate], domain: int, groups: int | None
) -> Table:
    """A row for each value that the keys can have; those without rows don't count."""
    import numpy as np

    words = [word for key in keys for word in words_of(table[key])]
    # What the words of each group are, and the keys that these make.
    combinations = itertools.product(*(_word_values(table[key]) for key in keys))
    places = np.array([[*itertools.chain(*one)] for one in combinations]).T
    (key,) = packed(words)
    values = np.ravel_multi_index(tuple(places), [count for _, count in words])
    among = (key.reshape(-1, 1) == values) & table.valid.reshape(-1, 1)
    total = among.sum(axis=0)
    columns, place = {}, 0
    for name in keys:
        column = table[name]
        valid = None
        if column.valid is not None:
            valid = table.constant(places[place] == 0)
            place += 1
        known = places[place] + (0 if column.type.kind == "boolean" else column.type.low)
        value = table.constant(known == 1 if column.type.kind == "boolean" else known)
        columns[name] = Column(column.type, (value,), valid)
        place += 1
    for name, one in aggregates.items():
        null = None if one.column is None else one.column.valid
        there = among if null is None else among & null.reshape(-1, 1)
        counts = total if null is None else there.sum(axis=0)
        sums = None
        if one.column is not None and one.how != "count":
            raw = raw_of_column(one.column)
            if one.how in ("sum", "mean"):
                sums = matmul(raw, there + 0)
            else:
                filled = where(there, raw.reshape(-1, 1), neutral_of(one.how, raw))
                sums = filled.min(axis=0) if one.how == "min" else filled.max(axis=0)
        columns[name] = _finished(one, sums, counts, some=True)
    unique = frozenset(keys)
    facts = Facts(
        unique=frozenset((unique,)),
        order=() if any(table[name].valid is not None for name in keys) else tuple(keys),
        last=len(keys),
        bounds={unique: domain},
        determines=((unique, frozenset(columns)),),
        settled=unique,
    )
    there, faults = total > 0, table.faults
    if groups is not None and groups < domain:
        faults = (*faults, _beyond(keys, groups, there))
    return type(table)(columns, there, facts, faults)


def _beyond(keys: Sequence[str], groups: int, there: Tensor) -> Fault:
    """That there are more groups than a program allows, of those that may be there."""
    return f"there are more than groups={groups} groups of {', '.join(keys)}", (there.sum() > groups).reshape(
        1
    )


def _word_values(column: Column) -> list[tuple[int, ...]]:
    """What `words_of` makes of each value that a column may have, and of null."""
    values = range(column.type.high - column.type.low + 1)
    if column.valid is None:
        return [(value,) for value in values]
    return [*((0, value) for value in values), (1, 0)]


# Groups by order.


def _ordered(
    table: Table, keys: Sequence[str], aggregates: dict[str, Aggregate], groups: int | None
) -> Table:
    """A row for each group, at the end of as many as there may be; by a sort, unless rows are in order."""
    least = table.facts.reduced(keys)
    distinct = [one for one in aggregates.values() if one.how == "distinct"]
    wish(table, least)
    placed = None if distinct else _in_place(table, least, keys)
    if placed is not None:
        least, starts = placed
        leading = table.blocks is None and table.facts.leading
        rows = _Rows(table, keys, least, aggregates, starts, leading=leading)
    else:
        rows = _sorted_rows(table, keys, least, aggregates, distinct[0].column if distinct else None)
    domains = {name: _values(table[name]) for name in keys}
    most = table.facts.bound(keys, domains, len(table))
    size = most if groups is None else min(most, groups)
    kept, columns = rows.grouped(size)
    faults = table.faults
    if size < most:
        faults = (*faults, _beyond(keys, size, rows.keep))
    unique = {frozenset(keys)}
    if table.facts.same_groups(least, keys):
        unique.add(frozenset(least))
    facts = Facts(
        unique=frozenset(unique),
        order=tuple(least) if frozenset(least) in unique else (),
        last=len(least),
        bounds={**dict.fromkeys(unique, size), **table.facts.renamed({key: key for key in keys}).bounds},
        determines=tuple((key, frozenset(columns)) for key in unique),
        settled=frozenset(least) if frozenset(least) in unique else None,
    )
    return type(table)(columns, kept, facts, faults)


def _in_place(
    table: Table, least: Sequence[str], keys: Sequence[str]
) -> tuple[tuple[str, ...], Tensor] | None:
    """The keys that rows ascend by and where groups begin, if the rows of each stand together already."""
    facts = table.facts
    if table.blocks is not None and facts.same_groups(table.blocks[0], least):
        return _aliases(table, table.blocks[0], keys), table.blocks[1]
    line = tuple(name for name, _ in itertools.takewhile(lambda one: not one[1], facts.line))
    order = line if facts.leading else facts.order
    for count in range(1, len(order) + 1):
        first = order[:count]
        if facts.same_groups(first, least):
            words = [word for name in first for word in words_of(table[name])]
            if facts.leading:
                words.insert(0, (1 - table.valid, 2))
            return _aliases(table, first, keys), differs_from_previous(packed(words))
    return None


def _aliases(table: Table, order: Sequence[str], keys: Sequence[str]) -> tuple[str, ...]:
    """Which keys an order is, as far as they are."""
    known = [table.facts.alias(name, keys) for name in order]
    return tuple(itertools.takewhile(bool, known))  # type: ignore[arg-type]


def _values(column: Column) -> int:
    kind = column.type
    return 1 << 64 if kind.kind == "text" else kind.high - kind.low + 1 + kind.null


class _Rows:
    """Rows of which those of a group are neighbours."""

    def __init__(
        self,
        table: Table,
        keys: Sequence[str],
        least: Sequence[str],
        aggregates: dict[str, Aggregate],
        starts: Tensor,
        *,
        leading: bool = False,
        fresh: Tensor | None = None,
    ) -> None:
        """Groups begin at `starts`. Rows that don't count are among the others, or behind, if those lead."""
        self.table, self.aggregates, self.least = table, aggregates, least
        self.columns = {key: table[key] for key in keys}
        self.starts, self.fresh = starts, fresh
        self.mask = None if leading else table.valid
        ends = concatenate([starts[1:], starts[:1]]) if len(starts) > 1 else starts
        # Rows that don't count may have other values in keys that follow from those that groups are by.
        self.keep = ends & table.valid if leading else _last_that_counts(starts, ends, table.valid)

    def grouped(self, size: int) -> tuple[Tensor, dict[str, Column]]:
        """Which rows of the result count, and its columns."""
        moved: list[Tensor] = [tensor for column in self.columns.values() for tensor in column.tensors()]
        kept = len(moved)
        plans: list[tuple[str, Aggregate, int | None, int | None]] = []
        known: dict[tuple[str, int], int] = {}

        def note(kind: str, source: object, tensor: Any) -> int:
            """Where a tensor is among those that are moved; each once."""
            if (kind, id(source)) not in known:
                known[kind, id(source)] = len(moved)
                moved.append(tensor())
            return known[kind, id(source)]

        for name, one in self.aggregates.items():
            there = there_in(self.mask, one.column)
            sums = counts = None
            column = one.column
            if one.how == "distinct":
                assert self.fresh is not None
                fresh = self.fresh
                counts = note("distinct", column, lambda fresh=fresh: summed(fresh + 0))
            else:
                counts = self._counts(note, column, there)
            if column is not None and one.how in ("sum", "mean"):
                sums = note("sum", column, lambda column=column, there=there: _sums(column, there))
            elif column is not None and one.how in ("min", "max"):
                sums = note(
                    one.how,
                    column,
                    lambda column=column, there=there, how=one.how: self._extreme(column, there, how),
                )
            plans.append((name, one, sums, counts))
        taken, moved = compact_to_end(self.keep, moved, size)
        before = taken[:-1] if size > 1 else None

        def between(place: int) -> Tensor:
            """What is added from one group's end to the next."""
            value = moved[place]
            low, high = min(value._kind.low, 0), max(value._kind.high, 0)
            value = where(taken, value, 0)
            if before is None:
                return value
            return within(value - shifted_down(value, 0), low, high)

        columns = self._keys(taken, moved[:kept])
        for name, one, sums, counts in plans:
            total = None
            if sums is not None:
                total = between(sums) if one.how in ("sum", "mean") else moved[sums]
            # Groups that count have a row at least.
            number = None if counts is None else between(counts)
            if number is not None and one.how == "mean":
                number = where(taken, number, 1) if one.column is None or one.column.valid is None else number
            columns[name] = _finished(one, total, number, some=True)
        return taken, columns

    def _counts(self, note: Any, column: Column | None, there: Tensor | None) -> int:
        import numpy as np

        null = None if column is None else column.valid
        if there is None:
            return int(note("rows", None, lambda: self.table.constant(np.arange(1, len(self.table) + 1))))
        return int(note("count" if null is not None else "rows", null, lambda: summed(there + 0)))

    def _extreme(self, column: Column, there: Tensor | None, how: str) -> Tensor:
        raw = raw_of_column(column)
        filled = raw if there is None else where(there, raw, neutral_of(how, raw))
        return running(self.starts, filled, minimum if how == "min" else _maximum)

    def _keys(self, taken: Tensor, tensors: list[Tensor]) -> dict[str, Column]:
        """The keys; the least ones where there is no group, so that rows ascend by them."""
        columns, left = {}, list(tensors)
        for name, column in self.columns.items():
            count = len(column.tensors())
            own = column.with_tensors(left[:count])
            left = left[count:]
            if name in self.least:
                parts = tuple(_or_least(taken, part) for part in own.parts)
                valid = None if own.valid is None else own.valid | ~taken
                own = Column(own.type, parts, valid)
            columns[name] = own
        return columns


def _sorted_rows(
    table: Table,
    keys: Sequence[str],
    least: Sequence[str],
    aggregates: dict[str, Aggregate],
    distinct: Column | None,
) -> _Rows:
    """The rows, sorted by their keys, those that count first; and then by the column that is counted."""
    words = [(1 - table.valid, 2), *(word for key in least for word in words_of(table[key]))]
    key_words = len(words)
    if distinct is not None:
        words += words_of(distinct)
    # The columns that go along, each once.
    sources: list[Column] = []
    for column in [*(table[key] for key in keys), *(one.column for one in aggregates.values())]:
        if column is not None and not any(column is one for one in sources):
            sources.append(column)
    tensors = [table.valid, *(tensor for column in sources for tensor in column.tensors())]
    order = packed(words[:key_words])
    inner = packed(words[key_words:]) if distinct is not None else []
    sorted_keys, moved = sort_rows([*order, *inner], tensors)
    valid, left = moved[0], moved[1:]
    places = {}
    for column in sources:
        count = len(column.tensors())
        places[id(column)] = column.with_tensors(left[:count])
        left = left[count:]
    arranged = type(table)({key: places[id(table[key])] for key in keys}, valid, Facts(), table.faults)
    changed = {
        name: replace(one, column=None if one.column is None else places[id(one.column)])
        for name, one in aggregates.items()
    }
    fresh = None
    if distinct is not None:
        null = places[id(distinct)].valid
        fresh = differs_from_previous(sorted_keys)
        fresh = fresh if null is None else fresh & null
    starts = differs_from_previous(sorted_keys[: len(order)])
    return _Rows(arranged, keys, least, changed, starts, leading=True, fresh=fresh)


def _last_that_counts(starts: Tensor, ends: Tensor, valid: Tensor) -> Tensor:
    """The rows that count and have none behind them in their group that does."""
    from_here = running(ends[::-1], valid[::-1], either) & ~starts[::-1]
    return valid & ~shifted_down(from_here, False)[::-1]


def _sums(column: Column, there: Tensor | None) -> Tensor:
    raw = raw_of_column(column)
    return summed(raw if there is None else where(there, raw, 0))


def _or_least(taken: Tensor, part: Tensor) -> Tensor:
    if part.dtype.kind == "bool":
        return part & taken
    return where(taken, part, part.range[0])
