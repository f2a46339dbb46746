"""Variances and deviations of groups: quotients of sums of squares, as SQL's VARIANCE and STDDEV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.tables.aggregates import SPREADS
from tacit.tables.correlation import deviation
from tacit.tables.functions import call

if TYPE_CHECKING:
    from tacit.tables.aggregates import Aggregate
    from tacit.tables.groups import Grouped
    from tacit.tables.table import Table


def with_spreads(grouped: Grouped, keys: tuple[str, ...], aggregates: dict[str, Aggregate]) -> Table:
    """Aggregates of which some are spreads, made of counts, sums and sums of squares.

    Of integers and decimals these are exact.
    """
    prefix = "of"
    while any(prefix in name for name in (*keys, *aggregates)):
        prefix += "f"
    given: dict[str, Any] = {}
    for name, one in aggregates.items():
        column = one.column
        if one.how not in SPREADS or column is None:
            given[name] = one.spec
            continue
        given |= {
            f"count {prefix} {name}": (column, "count"),
            f"sum {prefix} {name}": (column, "sum"),
            f"squares {prefix} {name}": (column * column, "sum"),
        }
    table = grouped.agg(**given)
    made = {}
    for name, one in aggregates.items():
        if one.how in SPREADS:
            count, total, squares = (table[f"{what} {prefix} {name}"] for what in ("count", "sum", "squares"))
            # Rounded squares may be less than what they are compared with.
            moment, pairs = call("maximum", count * squares - total * total, 0), count * (count - 1)
            made[name] = deviation(moment, pairs) if one.how == "std" else moment / pairs
    return table.assign(**made).select(*keys, *aggregates)
