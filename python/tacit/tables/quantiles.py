"""Aggregates that need rows in an order of their own: quantiles, and different values of further columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacit._functions import where
from tacit._ranges import within
from tacit.tables.aggregates import from_raw, raw_of_column
from tacit.tables.column import Column, made
from tacit.tables.functions import call
from tacit.tables.windows import windowed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tacit.tables.aggregates import Aggregate
    from tacit.tables.table import Table


def in_own_order(aggregates: Mapping[str, Aggregate]) -> list[str]:
    """Those that rows are put in an order for: quantiles, and all but the first column's different values."""
    counted = [one.column for one in aggregates.values() if one.how == "distinct"]
    return [
        name
        for name, one in aggregates.items()
        if one.place is not None or (one.how == "distinct" and one.column is not counted[0])
    ]


def with_orders(
    table: Table, keys: tuple[str, ...], aggregates: Mapping[str, Aggregate], groups: int | None
) -> Table:
    """Aggregates of which some are in an order of their own: sums of what each row adds to them.

    Rows of a group are put in order by a column once, for all quantiles of it.
    """
    sources = {id(one.column): one.column for one in aggregates.values() if one.column is not None}
    prefix = "value"
    while any(prefix in name for name in (*keys, *aggregates)):
        prefix += "s"
    names = {key: f"{prefix} {place}" for place, key in enumerate(sources)}
    table = table.select(*keys).assign(**{names[key]: column for key, column in sources.items()})
    parts = {name: f"{prefix} of {name}" for name in in_own_order(aggregates)}
    for key in dict.fromkeys(id(aggregates[name].column) for name in parts):
        own = {part: aggregates[name] for name, part in parts.items() if id(aggregates[name].column) == key}
        quantiles = {part: one for part, one in own.items() if one.place is not None}
        if quantiles:
            table = _weighed(table, keys, names[key], quantiles)
        if len(quantiles) < len(own):
            table = _counted(table, keys, names[key], own.keys() - quantiles.keys())
    specs: dict[str, Any] = {}
    for name, one in aggregates.items():
        source = None if one.column is None else table[names[id(one.column)]]
        specs[name] = (parts[name], "sum") if name in parts else replace(one, column=source).spec
    found = table.group_by(*keys, groups=groups).agg(**specs)
    made_of = {name: _whole(found[name], aggregates[name]) for name in parts}
    return found._with(columns={**found.columns, **made_of})


def _weighed(table: Table, keys: tuple[str, ...], source: str, wanted: Mapping[str, Aggregate]) -> Table:
    """With a column for each quantile of a column: what each row adds to it, from the least value on."""
    place, count = f"place of {source}", f"count of {source}"
    # Nulls are last in order, and not counted.
    table = windowed(table, place, None, "count", keys, source, False, None, any_order=True)
    table = windowed(table, count, source, "count", keys, (), False, "all", any_order=True)
    column, at, rows = table[source], table[place], table[count]
    value = raw_of_column(column) - column.type.low
    added: dict[str, Any] = {}
    for name, one in wanted.items():
        assert one.place is not None
        part, whole = one.place.as_integer_ratio()
        if one.how == "quantile_disc":
            # The first row that, with those before, is such a part of all.
            end = rows * part
            is_it = at == 1 if part == 0 else ((at - 1) * whole < end) & (end <= at * whole)
            raw = where(is_it.value, value, 0)
        else:
            # A row counts less the further from the place it is, and nothing from the next row on.
            away = abs((rows - 1) * part - (at - 1) * whole)
            raw = value * call("maximum", whole - away, 0).value
        added[name] = made("integer", raw, valid=column.valid)
    kept = table.drop(place, count)
    return kept._with(columns={**kept.columns, **added})


def _counted(table: Table, keys: tuple[str, ...], source: str, wanted: Iterable[str]) -> Table:
    """With columns of 1 in the first row of each value of a column, and of 0 in the others."""
    place = f"place of {source}"
    table = windowed(table, place, None, "count", (*keys, source), (), False, None, any_order=True)
    first = made("integer", (table[place] == 1).value + 0, valid=table[source].valid)
    kept = table.drop(place)
    return kept._with(columns={**kept.columns, **dict.fromkeys(wanted, first)})


def _whole(total: Column, one: Aggregate) -> Column:
    """What rows have added up to: how many there are, a value of their column, or what is between two."""
    if one.place is None:
        return total.bare()
    assert one.column is not None
    kind = one.column.type
    whole = 1 if one.how == "quantile_disc" else one.place.denominator
    # The weights of a group are `whole` together.
    raw = within(total.value, 0, whole * (kind.high - kind.low)) + whole * kind.low
    value = from_raw(one.column, raw, total.valid)
    return value if one.how == "quantile_disc" else value / whole
