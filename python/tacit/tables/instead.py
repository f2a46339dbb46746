"""What pandas calls otherwise, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit._location import fault
from tacit.errors import ProgramError

if TYPE_CHECKING:
    from collections.abc import Mapping


def no_attribute(what: str, name: str, instead: Mapping[str, str]) -> AttributeError:
    """That a column or a table has no such attribute, and what pandas' is called here."""
    if name.startswith("_"):
        return AttributeError(name)
    hint = instead.get(name, "docs/tables.md lists what there is")
    return AttributeError(str(fault(ProgramError, f"a {what} has no {name!r}", hint)))


_ONE = (
    'one of all rows is t.group_by().agg(x=("column", "{}")), and t.join(it, how="cross") has it beside each'
)

OF_COLUMNS = {
    **{how: _ONE.format(how) for how in ("sum", "mean", "min", "max", "count", "var", "std")},
    "nunique": _ONE.format("distinct"),
    "isna": "use is_null()",
    "isnull": "use is_null()",
    "notna": "use not_null()",
    "notnull": "use not_null()",
    "fillna": "use fill_null(value)",
    "isin": "use is_in([...])",
    "dt": 'dates have year(), month(), day(), quarter(), weekday() and start_of("month") themselves',
    "str": "categories have like(pattern) and map(f): f is given each word",
    "apply": "use map(f), or operators and NumPy's functions of the column",
    "replace": "use map(dict), or np.where(x == old, new, x)",
    "where": "use np.where(condition, x, other)",
    "mask": "use np.where(condition, other, x)",
    **{name: f"use x {sign} y" for name, sign in [("eq", "=="), ("ne", "!="), ("gt", ">"), ("lt", "<")]},
    **{name: f"use x {sign} y" for name, sign in [("ge", ">="), ("le", "<="), ("add", "+"), ("mul", "*")]},
    "value_counts": 't.group_by("column").agg(rows="count") counts values',
    "unique": 't.select("column").distinct() has the different values',
    "shift": 't.window("name", "column", "lag", order_by=...) is what the row before has',
    "diff": 't.window("name", "column", "lag", order_by=...) is what the row before has: subtract it',
    "cumsum": 't.window("name", "column", order_by=...) has running sums',
    "rank": 't.window("name", None, "rank", order_by="column") has ranks',
    "rolling": 't.window("name", "column", "mean", rows=3, order_by=...) has means of three rows',
}
"""What is written instead of the attributes of a column of pandas."""

OF_TABLES = {
    "groupby": 'use group_by("key").agg(total=("column", "sum"))',
    "merge": 'use join(other, on="key")',
    "sort_values": 'use order_by("column"), with descending=True',
    "nlargest": 'use order_by("column", descending=True).limit(n)',
    "nsmallest": 'use order_by("column").limit(n)',
    "head": "use limit(n)",
    "dropna": "use drop_nulls()",
    "fillna": 'use assign(x=t["x"].fill_null(value))',
    "drop_duplicates": "use distinct()",
    "drop": 'use select("a", "b") with the columns to keep',
    "query": 'use filter(condition), as t[t["x"] > 3]',
    "where": 'use filter(condition), as t[t["x"] > 3]',
    "loc": 't[t["x"] > 3] has rows, t[["a", "b"]] columns, and assign(x=...) makes others',
    "iloc": "rows have no numbers: use order_by and limit",
    "shape": "len(t) is the bound on rows, and len(t.columns) how many columns there are",
    "dtypes": "t.schema has the types of columns",
    "concat": "use a.union(b)",
    "append": "use a.union(b)",
    "agg": 'use group_by().agg(x=("column", "sum")) for one row of all',
    "apply": "use assign(x=...) with operators and NumPy's functions of columns",
    "pivot_table": "group by both keys, and make the pivot table after the run",
    "value_counts": 'use group_by("column").agg(rows="count")',
    "size": "len(t) is the bound on rows",
    "rank": 'use window("name", None, "rank", order_by="column")',
    "transform": 'use window("name", "column", "sum", partition_by="key", rows="all")',
    "resample": 'use assign(month=t["day"].month()) and group_by("month").agg(...)',
    "rolling": 'use window("name", "column", "mean", rows=3, order_by=...)',
    "cumsum": 'use window("name", "column", order_by=...)',
    **dict.fromkeys(("shift", "diff", "pct_change"), 'use window("name", "column", "lag", order_by=...)'),
    "corr": 'use tacit.sql("select corr(x, y) as r from t", t=t), which is a table here',
    "describe": 'use group_by().agg(mean=("column", "mean"), most=("column", "max"))',
    **{how: _ONE.format(how) for how in ("sum", "mean", "min", "max", "count", "var", "std", "nunique")},
}
"""What is written instead of the attributes of a table of pandas."""
