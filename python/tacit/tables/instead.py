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


_ONE = 'one of all rows is t.group_by().agg(x=("column", {})), and t.join(it, how="cross") has it beside each'

_OF_ALL = {
    **{
        how: _ONE.format(f'"{how}"') for how in ("sum", "mean", "median", "min", "max", "count", "var", "std")
    },
    "quantile": _ONE.format('"quantile", 0.9'),
    "nunique": _ONE.format('"distinct"'),
    "any": _ONE.format('"sum"') + ", above 0 where it holds once: bools count as 0 and 1",
    "all": _ONE.format('"sum"') + '; it is ("column", "count") where it holds everywhere',
    "prod": "use np.log of the column, the sum of that, and np.exp of the sum",
    "skew": 'use the means of x, x ** 2 and x ** 3: group_by().agg(a=("x", "mean"), b=(t["x"] ** 2, "mean"))',
    "mode": 'use group_by("column").agg(rows="count").order_by("rows", descending=True).limit(1)',
}
"""Aggregates of all rows."""

_ORDER = 'use window("name", "column", "{}", order_by=...), with partition_by="key" in each group'

_RUNNING = {
    **{f"cum{how}": _ORDER.format(how) for how in ("sum", "min", "max")},
    "cumcount": 'use window("name", None, "count", order_by=...), which numbers rows from 1',
    "expanding": _ORDER.format("mean"),
    "rolling": 'use window("name", "column", "mean", rows=3, order_by=...)',
    "ewm": 'weigh rows by their number, which window("name", None, "count", order_by=...) has',
    **dict.fromkeys(
        ("shift", "diff", "pct_change"),
        'use window("before", "column", "lag", order_by=...), of the row before, and subtract it',
    ),
    "rank": 'use window("name", None, "rank", order_by="column"), with partition_by="key" in each group',
    **dict.fromkeys(
        ("ffill", "bfill", "interpolate"),
        'use window("before", "column", "lag", order_by=...), and x.fill_null(t["before"]): by one row',
    ),
}
"""What looks at rows in an order."""

_SHOWN = "reveal the table, tacit.reveal(t), and do it with the DataFrame that the run gives"

OF_COLUMNS = {
    **_OF_ALL,
    **_RUNNING,
    "isna": "use is_null()",
    "isnull": "use is_null()",
    "notna": "use not_null()",
    "notnull": "use not_null()",
    "fillna": "use fill_null(value)",
    "combine_first": "use fill_null(other)",
    "isin": "use is_in([...])",
    "dropna": 'use t.drop_nulls("column")',
    "dt": 'dates have year(), month(), day(), quarter(), weekday(), start_of("month") and strftime("%Y-%m") '
    "themselves, and date - date is a number of days",
    "to_period": 'use start_of("month"), or strftime("%Y-%m")',
    **dict.fromkeys(("dayofweek", "day_of_week"), "use weekday(), from 0, Monday"),
    **dict.fromkeys(("dayofyear", "day_of_year"), 'use x - x.start_of("year") + 1'),
    "str": "categories have like(pattern) and map(f): f is given each word",
    "cat": "categories have like(pattern) and map(f): f is given each word",
    "apply": "use map(f), or operators and NumPy's functions of the column",
    "replace": "use map(dict), or np.where(x == old, new, x)",
    "where": "use np.where(condition, x, other)",
    "mask": "use np.where(condition, other, x)",
    **{name: f"use x {sign} y" for name, sign in [("eq", "=="), ("ne", "!="), ("gt", ">"), ("lt", "<")]},
    **{name: f"use x {sign} y" for name, sign in [("ge", ">="), ("le", "<="), ("add", "+"), ("mul", "*")]},
    **{name: f"use x {sign} y" for name, sign in [("sub", "-"), ("div", "/"), ("mod", "%"), ("pow", "**")]},
    **dict.fromkeys(("truediv", "divide"), "use x / y"),
    "floordiv": "use x // y",
    "value_counts": 't.group_by("column").agg(rows="count") counts values',
    "unique": 't.select("column").distinct() has the different values',
    "drop_duplicates": 't.select("column").distinct() has the different values',
    "duplicated": 'use window("n", None, "count", partition_by="column"), which is above 1',
    **dict.fromkeys(("sort_values", "argsort"), 'use t.order_by("column")'),
    **dict.fromkeys(
        ("head", "tail", "nlargest", "iloc"), 'use t.order_by("column", descending=True).limit(5)'
    ),
    "nsmallest": 'use t.order_by("column").limit(5)',
    **dict.fromkeys(
        ("idxmax", "argmax"), 'use t.order_by("column", descending=True).limit(1), which has the whole row'
    ),
    **dict.fromkeys(("idxmin", "argmin"), 'use t.order_by("column").limit(1), which has the whole row'),
    "corr": 'use tacit.sql("select corr(x, y) as r from t", t=t), which is a table here',
    "cov": 'use tacit.sql("select covar_samp(x, y) as c from t", t=t), which is a table here',
    "describe": _ONE.format('"mean"') + ", with others beside it",
    "dtype": "x.type is its type",
    **dict.fromkeys(("size", "shape"), "len(t) is the bound on rows"),
    **dict.fromkeys(("plot", "hist", "values", "to_numpy", "tolist", "to_list", "item", "array"), _SHOWN),
}
"""What is written instead of the attributes of a column of pandas."""

OF_TABLES = {
    **_OF_ALL,
    **_RUNNING,
    "groupby": 'use group_by("key").agg(total=("column", "sum"))',
    "merge": 'use join(other, on="key", how="left"), on={"here": "there"} for keys of two names',
    "sort_values": 'use order_by("a", "b", descending=[False, True])',
    "sort_index": 'use order_by("column")',
    "nlargest": 'use order_by("column", descending=True).limit(n)',
    "nsmallest": 'use order_by("column").limit(n)',
    "head": "use limit(n)",
    "tail": 'use order_by("column", descending=True).limit(n)',
    "sample": "let owners take samples before they share",
    "dropna": "use drop_nulls()",
    **dict.fromkeys(("fillna", "fill_null"), 'use assign(x=t["x"].fill_null(value))'),
    "drop_duplicates": "use distinct(), or group_by with an aggregate of what may differ",
    "duplicated": 'use window("n", None, "count", partition_by="column"), which is above 1',
    "query": 'use filter(condition), as t[t["x"] > 3]',
    "eval": 'use assign(x=t["a"] + t["b"])',
    "where": 'use filter(condition), as t[t["x"] > 3]',
    **dict.fromkeys(("isna", "isnull", "is_null"), 'use t["x"].is_null()'),
    **dict.fromkeys(("notna", "notnull", "not_null"), 'use t["x"].not_null()'),
    **{name: f'use assign(x=t["x"].{name}(...))' for name in ("astype", "clip", "round", "map")},
    **dict.fromkeys(("replace", "applymap"), 'use assign(x=t["x"].map(dict))'),
    "loc": 't[t["x"] > 3] has rows, t[["a", "b"]] columns, and assign(x=...) makes others',
    "iloc": "rows have no numbers: use order_by and limit",
    **dict.fromkeys(("index", "set_index", "reset_index", "reindex"), "rows have no index: keys are columns"),
    "shape": "len(t) is the bound on rows, and len(t.columns) how many columns there are",
    "dtypes": "t.schema has the types of columns",
    "info": "print(t) says the bound on rows, and the types of columns",
    **dict.fromkeys(("concat", "append"), "use a.union(b)"),
    "copy": "a table isn't changed: all methods make another one",
    "insert": "use assign(x=...)",
    "pop": 'use drop("x")',
    **dict.fromkeys(("add_prefix", "add_suffix"), 'use rename({name: f"old_{name}" for name in t.columns})'),
    "pipe": "call the function: f(t)",
    "agg": 'use group_by().agg(x=("column", "sum")) for one row of all',
    "aggregate": 'use group_by().agg(x=("column", "sum")) for one row of all',
    "apply": "use assign(x=...) with operators and NumPy's functions of columns",
    **dict.fromkeys(
        ("pivot_table", "pivot", "unstack", "crosstab"),
        'use group_by("row", "column").agg(x=("value", "sum")), and make the pivot table after the run',
    ),
    **dict.fromkeys(
        ("melt", "stack"),
        'use a union: t.select("id", "a").rename({"a": "x"}).union(t.select("id", "b").rename({"b": "x"}))',
    ),
    "explode": "let owners give a row for each before they share",
    "value_counts": 'use group_by("column").agg(rows="count")',
    "size": "len(t) is the bound on rows",
    "empty": 'group_by().agg(rows="count") counts rows',
    "transform": 'use window("name", "column", "sum", partition_by="key", rows="all")',
    "resample": 'use assign(month=t["day"].start_of("month")) and group_by("month").agg(...)',
    "corr": 'use tacit.sql("select corr(x, y) as r from t", t=t), which is a table here',
    "cov": 'use tacit.sql("select covar_samp(x, y) as c from t", t=t), which is a table here',
    "describe": 'use group_by().agg(mean=("column", "mean"), most=("column", "max"))',
    **dict.fromkeys(("idxmax", "idxmin"), 'use order_by("column", descending=True).limit(1)'),
    **dict.fromkeys(("iterrows", "itertuples", "items"), "operators and functions are of whole columns"),
    **dict.fromkeys(("plot", "hist", "values", "to_numpy", "to_dict", "to_csv", "to_parquet", "T"), _SHOWN),
}
"""What is written instead of the attributes of a table of pandas."""

NAMED = 'name the results: agg(total=("pay", "sum"), rows="count")'

OF_GROUPS = {
    **dict.fromkeys(
        ["mean", "sum", "min", "max", "count", "size", "std", "var", "median", "describe"], NAMED
    ),
    "quantile": 'name the results: agg(p90=("pay", "quantile", 0.9))',
    "nunique": 'name the results: agg(kinds=("column", "distinct"))',
    "aggregate": NAMED,
    **_RUNNING,
    "transform": 'use t.window("name", "column", "sum", partition_by="key", rows="all")',
    **dict.fromkeys(
        ("head", "tail", "nth", "nlargest", "nsmallest", "first", "last"),
        'use t.window("n", None, "count", partition_by="key", order_by=...), and the rows where n is 1',
    ),
    "filter": 'use agg(rows="count"), the groups where that is as it should be, and t.join(them, on="key")',
    "apply": "use agg, or t.window(...) for what is of each row; functions are of whole columns",
    "value_counts": 'use group_by("key", "column").agg(rows="count")',
}
"""What is written instead of the methods of groups of pandas."""
