"""Columns of rows that stand otherwise, which would be combined wrongly: what is refused, and what isn't."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import tables

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 8
KINDS = {
    "c": tables.integer(0, 99),
    "x": tables.integer(0, 9, null=True),
    "b": tables.boolean(),
    "k": tables.category(["p", "q"]),
    "day": tables.date("2020-01-01", "2021-12-31"),
}
DECLARED = tacit.table("bank", KINDS, rows=ROWS, unique="c", order="c", name="t")
OTHER = tacit.table("shop", KINDS, rows=ROWS, unique="c", name="other")
FRAME = pd.DataFrame(
    {
        "c": [5, 3, 40, 1, 7, 9],
        "x": pd.array([1, 2, None, 4, 3, 9], "Int64"),
        "b": [True, False, True, True, False, False],
        "k": list("pqqppq"),
        "day": pd.date_range("2020-02-27", periods=6, freq="97D"),
    }
)


def traced(query: Callable[[Any, Any], Any]) -> tacit.Plan:
    return tacit.function(lambda t, other: tacit.reveal(query(t, other))).trace(DECLARED, OTHER)


MOVED: dict[str, Callable[[Any, Any], Any]] = {
    "order_by": lambda t, _: t.order_by("x"),
    # Orders that there are already, which cost no sort, and limits above the bound: what is right doesn't
    # depend on what was declared.
    "order_by that is there": lambda t, _: t.order_by("c"),
    "limit": lambda t, _: t.limit(ROWS - 1),
    "limit above the bound": lambda t, _: t.limit(ROWS),
    "window": lambda t, _: t.window("w", "x", order_by="c"),
    "window of all": lambda t, _: t.window("w", "x", rows="all"),
    "distinct": lambda t, _: t.distinct(),
    "group_by": lambda t, _: t.group_by("c", "x", "b", "k", "day").agg(),
    "group_by a few": lambda t, _: t.group_by("x", "b").agg(
        c=("c", "max"), k=("k", "max"), day=("day", "min")
    ),
    "union": lambda t, other: t.union(other),
    "join": lambda t, other: t.join(other, on="c"),
    "left join": lambda t, other: t.join(other, on="c", how="left"),
    "semi join": lambda t, other: t.join(other, on="c", how="semi"),
    "anti join": lambda t, other: t.join(other, on="c", how="anti"),
    "many matches": lambda t, other: t.join(other, on="x", matches=1),
    "another table of so many rows": lambda _, other: other,
    "one row": lambda t, _: t.limit(1),
}

USED: dict[str, Callable[[Any, Any], Any]] = {
    "a filter": lambda s, t: s[t.x > 1],
    "a column": lambda s, t: s.assign(y=t.c),
    "a part of a date": lambda s, t: s.assign(y=t.day.month()),
    "a sum": lambda s, t: s.assign(y=s.x + t.x),
    "a comparison": lambda s, t: s[s.c == t.c],
    "logic": lambda s, t: s[s.b & t.b],
    "either": lambda s, t: s[s.b ^ t.b],
    "a choice": lambda s, t: s.assign(y=np.where(t.b, s.x, None)),
    "several choices": lambda s, t: s.assign(y=np.select([s.b, t.b], [1, 2])),
    "the largest": lambda s, t: s.assign(y=np.fmax(s.x, t.c)),
    "a clip": lambda s, t: s.assign(y=s.c.clip(upper=t.c)),
    "a value for nulls": lambda s, t: s.assign(y=s.x.fill_null(t.c)),
    "one of some": lambda s, t: s[s.x.is_in([1, t.x])],
    "nulls of a constant": lambda s, t: s.assign(y=tables.when(t.b, 5, None)),
    "an aggregate": lambda s, t: s.group_by("k").agg(y=(t.c, "sum")),
}


PAIRS = [
    *((moved, used) for moved in MOVED for used in ("a filter", "a column", "a sum")),
    *(("order_by", used) for used in USED),
]


@pytest.mark.parametrize(("moved", "used"), PAIRS)
def test_columns_of_rows_that_stand_otherwise_are_refused(moved: str, used: str) -> None:
    def alone(t: Any, other: Any) -> Any:
        made = MOVED[moved](t, other)
        return USED[used](made, made)

    traced(alone)
    with pytest.raises(tacit.ProgramError, match="rows that stand otherwise"):
        traced(lambda t, other: USED[used](MOVED[moved](t, other), t))
    with pytest.raises(tacit.ProgramError, match="rows that stand otherwise"):
        traced(lambda t, other: USED[used](t, MOVED[moved](t, other)))


KEPT: dict[str, Callable[[Any, Any], Any]] = {
    "filter": lambda t, _: t[t.c > 3],
    "select": lambda t, _: t.select("c", "x", "b", "k", "day"),
    "rename": lambda t, _: t.rename({"c": "d"}).rename({"d": "c"}),
    "assign": lambda t, _: t.assign(y=t.c * 2),
    "SQL beside": lambda t, other: (tacit.sql("select count(*) as n from t", t=other), t)[1],
}


@pytest.mark.parametrize("kept", KEPT)
def test_columns_of_rows_that_stay_go_together(kept: str) -> None:
    def used(t: Any, other: Any) -> Any:
        for use in USED.values():
            use(KEPT[kept](t, other), t)
            use(t, KEPT[kept](t, other))
        return t

    traced(used)


FEWER: dict[str, Callable[[Any, Any], Any]] = {
    "drop_nulls": lambda t, _: t.drop_nulls(),
    "drop_nulls of what has none": lambda t, _: t.drop_nulls("c"),
    "cross join": lambda t, _: t.join(t.group_by().agg(m=("c", "mean")), how="cross"),
    "a filter after": lambda t, _: t.drop_nulls("x")[t.c > 3],
    "twice": lambda t, _: t.drop_nulls("x").drop_nulls(),
}


@pytest.mark.parametrize("fewer", FEWER)
def test_columns_that_hold_nothing_in_some_rows_stay_in_the_others(fewer: str) -> None:
    """What stands in the place of a null, or of a row that doesn't count, isn't shown beside all rows."""

    def used(t: Any, other: Any) -> Any:
        some = FEWER[fewer](t, other)
        for use in USED.values():
            use(some, t)
        return some.assign(y=t.x.fill_null(0) + some.c)

    traced(used)
    # Here the table is that of all rows.
    for use in ("a filter", "a column", "a sum", "a choice", "an aggregate"):

        def mixed(t: Any, other: Any, use: str = use) -> Any:
            return USED[use](t, FEWER[fewer](t, other))

        with pytest.raises(tacit.ProgramError, match="of some rows alone"):
            traced(mixed)
    with pytest.raises(tacit.ProgramError, match="rows that stand otherwise"):
        traced(lambda t, _: t.drop_nulls("x")[t.drop_nulls("c").c > 1])


def test_columns_beside_those_of_a_filter_are_of_the_same_rows() -> None:
    def query(t: Any, _: Any) -> Any:
        some = t[t.c > 3].assign(y=t.x.fill_null(0) + t.c, z=t.day.month())
        return some[t.b | (t.k == "q")].order_by("c").select("c", "y", "z")

    with tacit.local() as run:
        got = run(traced(query), bank=FRAME, shop=FRAME)
    rows = FRAME[(FRAME["c"] > 3) & (FRAME["b"] | (FRAME["k"] == "q"))].sort_values("c")
    assert got["c"].tolist() == rows["c"].tolist()
    assert got["y"].tolist() == (rows["x"].fillna(0) + rows["c"]).tolist()
    assert got["z"].tolist() == rows["day"].dt.month.tolist()


def test_an_error_says_which_rows_a_column_has_and_what_to_write() -> None:
    def query(t: Any, _: Any) -> Any:
        ordered = t.order_by("x")
        return ordered.assign(y=t.c)

    said = (
        "'c', which is integer\\(0, 99\\), has those of the table t, "
        'and the table those of `t.order_by\\("x"\\)` \\(.*test_table_rows.py:\\d+\\)\n'
        '.*s = t.order_by\\("c"\\); s\\[s.x > 1\\]'
    )
    with pytest.raises(tacit.ProgramError, match=said):
        traced(query)
    with pytest.raises(tacit.ProgramError, match=r"the table t, and 'c', .* those of the table other"):
        traced(lambda t, other: t[t.c == other.c])
