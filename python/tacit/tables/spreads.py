"""Variances and deviations of groups: quotients of sums of squares, as SQL's VARIANCE and STDDEV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.tables.functions import call

if TYPE_CHECKING:
    from tacit.tables.column import Column
    from tacit.tables.groups import Aggregate, Grouped
    from tacit.tables.table import Table

SPREADS = ("var", "std")
"""Aggregates of samples: by the count less 1; null of one row."""


def with_spreads(grouped: Grouped, keys: tuple[str, ...], aggregates: dict[str, Aggregate]) -> Table:
    """Aggregates of which some are spreads, made of counts, sums and sums of squares.

    Of integers and decimals these are exact.
    """
    prefix = "of"
    while any(prefix in name for name in (*keys, *aggregates)):
        prefix += "f"
    given: dict[str, tuple[Column | None, str]] = {}
    for name, one in aggregates.items():
        column = one.column
        if one.how not in SPREADS or column is None:
            given[name] = column, one.how
            continue
        given |= {
            f"count {prefix} {name}": (column, "count"),
            f"sum {prefix} {name}": (column, "sum"),
            f"squares {prefix} {name}": (column * column, "sum"),
        }
    table = grouped.agg(
        **{name: how if source is None else (source, how) for name, (source, how) in given.items()}
    )
    made = {}
    for name, one in aggregates.items():
        if one.how in SPREADS:
            count, total, squares = (table[f"{what} {prefix} {name}"] for what in ("count", "sum", "squares"))
            # Rounded squares may be less than what they are compared with.
            variance = call("maximum", count * squares - total * total, 0) / (count * (count - 1))
            made[name] = call("sqrt", variance) if one.how == "std" else variance
    return table.assign(**made).select(*keys, *aggregates)
