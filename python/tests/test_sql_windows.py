"""Windows of SQL against DuckDB, those of tables against pandas, and what is refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import tables
from tests.test_sql import by_duckdb, given, planned
from tests.test_tables import asked, people, same_rows, stays

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.tables.table import Table

QUERIES = [
    "select id, days, sum(days) over (partition by id order by cost rows between 2 preceding and "
    "current row) as s from stays",
    "select * from (select id, days, row_number() over (partition by ward order by days desc, cost) "
    "as rn from stays) t where rn <= 2",
    "select ward, sum(sum(days)) over (order by ward) as c from stays group by ward",
    # One row, which is its own partition's last.
    "select last_value(id) over (partition by ward order by id) as a, sum(days) over () as b, lead(id) over "
    "(order by id) as c, ntile(2) over (order by id) as d from (select * from stays order by id limit 1) s",
    "select id, days, avg(days) over (order by cost rows 3 preceding) - days as d from stays order by d",
    "select id, days, count(*) over (order by cost desc, days rows unbounded preceding) as e from stays",
    "select id, days, rank() over (partition by ward order by days) as r, dense_rank() over "
    "(partition by ward order by days) as dr from stays",
    "select id, days, rank() over (order by id desc) as r, dense_rank() over (order by id desc) as "
    "dr from stays",
    "select id, ward, days, days / sum(days) over (partition by ward) as part, count(*) over () as "
    "n, max(cost) over (partition by ward) as m from stays",
    "select id, days, dose, sum(dose) over (order by id) as t, count(dose) over (partition by ward "
    "order by id) as n, min(days) over (order by ward) as m, avg(dose) over (order by ward) as a "
    "from stays",
    "select id, days, sum(case when days > 20 then 1 else 0 end) over (partition by days % 3 order "
    "by cost rows unbounded preceding) as s from stays",
    "select id, sum(days) over (partition by ward) as a from stays order by max(cost) over "
    "(partition by ward) desc, sum(days) over (partition by ward), id, days",
    "select ward, count(*) as n, rank() over (order by count(*) desc) as r from stays group by ward",
    "select p.id, s.days, sum(s.days) over (partition by p.id order by s.cost rows unbounded "
    "preceding) as t from people p join stays s on s.id=p.id where p.age > 20",
    "select ward, days, count(*) filter (where days > 20) over (partition by ward) as n from stays",
    "select distinct ward, max(days) over (partition by ward) as m from stays",
    "select id, days from (select *, max(days) over (partition by id) as m from stays) t where days = m",
    "select id, sum(days) over (order by cost rows between current row and current row) as x, "
    "min(born) over (order by born) as b from stays, (select max(born) as born from people) p",
    "select id, age, born, max(born) over (order by age) as b, sum(age) over (order by id) as c, "
    "min(age) over (partition by smokes) as d, count(age) over (partition by smokes) as e from "
    "people",
    "select id, days, sum(days) over (order by cost range between unbounded preceding and current "
    "row) as x, sum(days) over (partition by ward rows between unbounded preceding and unbounded "
    "following) as y from stays",
    "select id, lag(days) over (order by cost) as a, "
    "lead(dose, 2) over (partition by ward order by cost desc) as b, "
    "lag(ward, 30) over (order by cost) as c, lead(ward) over (order by cost) as d from stays",
    "select id, stddev(days) over (partition by ward) as a, "
    "days - var_pop(days) over (order by cost rows 4 preceding) as b, "
    "bool_or(dose > 2) over (partition by ward order by cost) as c from stays",
    "select id, sum(days) over w as a, max(cost) over v as b, row_number() over w as c from stays "
    "window w as (partition by ward order by cost rows unbounded preceding), v as (partition by id)",
    # What a window says beside the name of another; names of a subquery are its own, and of any case.
    "select cost, sum(dose) over (w rows 1 preceding) as b from stays "
    "window w as (partition by ward order by cost)",
    "select id, sum(days) over (W order by cost) as a from stays window w as (partition by ward)",
    "select id, sum(days) over v as a from stays window w as (partition by ward), v as (w order by cost)",
    "select id, sum(a) over w as b from (select id, ward, cost, sum(days) over w as a from stays "
    "window w as (order by cost)) t window w as (partition by ward)",
    "select born, lag(born) over (order by id) as a from people",
    "select id, cost, lag(days, 5) over (partition by ward order by cost) as a, "
    "lead(days, 7) over (order by cost) as b, lag(days, 25) over (order by cost) as c from stays",
    "select ward, days - (sum(days) over (order by cost rows 1 preceding) - days) as change from stays",
    # Windows by one sort: finer orders, whole partitions, expressions, rows that a limit put in order.
    "select days, max(dose) over (partition by ward) as a, lag(days) over (partition by ward order by days, "
    "cost) as b, rank() over (partition by ward order by days) as c, sum(days) over (partition by ward, id) "
    "as d, row_number() over (partition by id, ward order by cost desc) as e from stays where days > 9",
    "select sum(days) over (partition by days % 3 order by days // 4) as a, row_number() over (partition by "
    "days % 3 order by days // 4, cost) as b, count(dose) over (partition by days % 3 order by days // 4 desc"
    ") as c from stays",
    "select id, rank() over (order by days) as a, sum(dose) over (order by days, cost rows 2 preceding) as b "
    "from (select * from stays where dose > 0 order by days, cost limit 12) t order by a, b",
    "select id, age, rank() over (order by id) as a, sum(age) over (order by id desc rows 2 preceding) as b, "
    "lag(age) over (order by id) as c from people where age > 20",
    "select id, days from stays qualify row_number() over (partition by ward order by cost) = 1",
    "select ward, sum(days) as d from stays group by ward having count(*) > 1 "
    "qualify rank() over (order by sum(days) desc) <= 2",
    "select id, days, lag(days) over w as before from stays where cost > 9 window w as (partition by ward "
    "order by cost) qualify before is null or days > before",
    "select distinct ward from stays qualify count(*) over (partition by id) > 1 order by ward",
    "select p.id, s.days from people p join stays s on s.id = p.id "
    "qualify row_number() over (partition by p.id order by s.cost) = 1 order by p.id limit 3",
    "select sum(days) over (order by cost rows between 2 preceding and 3 following) as a, count(dose) over "
    "(partition by ward order by cost rows between 1 preceding and 9 following) as b from stays where id > 9",
    "select max(days) over (order by cost rows between current row and 4 following) as a, min(dose) over "
    "(partition by ward order by cost rows between 5 preceding and 2 preceding) as b from stays",
    "select avg(days) over (partition by ward order by cost rows between unbounded preceding and 1 following"
    ") as a, sum(dose) over (order by cost rows between 1 following and unbounded following) as b from stays",
    "select sum(days) over (partition by ward order by cost rows between 90 preceding and 1 preceding) as a, "
    "bool_or(days > 9) over (order by cost rows between 2 following and 6 following) as b from stays",
    "select id, first_value(days) over (partition by ward order by cost) as a, first_value(dose) over "
    "(partition by ward order by cost desc) as b, first_value(ward) over (order by cost) as c from stays",
    "select id, percent_rank() over (order by days) as a, cume_dist() over (partition by ward order by days "
    "desc) as b, percent_rank() over w as c from stays window w as (partition by ward order by dose)",
    "select * from (select id, ward from stays qualify row_number() over (order by cost) <= 9) t "
    "where ward = 'west'",
    # Ranks are of all rows, whatever frame the window has.
    "select id, percent_rank() over w as a, cume_dist() over w as b, sum(days) over w as c from stays "
    "window w as (partition by ward order by cost rows 2 preceding)",
    "select ntile(4) over (order by cost) as a, ntile(3) over (partition by ward order by cost desc) as b, "
    "ntile(100) over (order by cost) as c, ntile(1) over (order by cost) as d, "
    "ntile(7) over (partition by id order by cost) as e from stays where days > 5",
    "select cost, last_value(days) over (partition by ward order by cost) as a, last_value(dose) "
    "over (partition "
    "by ward order by cost rows between unbounded preceding and unbounded following) as b, "
    "last_value(ward) over "
    "(order by cost desc range between unbounded preceding and unbounded following) as c from stays "
    "where days > 5",
    "select days, rank() over (order by dose nulls first) as a, row_number() over (partition by ward "
    "order by "
    "dose desc nulls first, cost) as b, sum(days) over (order by dose nulls first) as c, "
    "first_value(days) over "
    "(order by ward nulls first, cost) as d, lag(days) over (partition by ward order by dose desc "
    "nulls first, "
    "cost) as e from stays",
    "select cost, corr(days, cost) over (order by cost rows between 3 preceding and 3 following) as a, "
    "covar_pop(days, dose) over (partition by ward) as b from stays",
]


@pytest.mark.parametrize("place", range(len(QUERIES)))
def test_a_window_is_what_duckdb_says(place: int) -> None:
    first, second = given(place + 100)
    # Rows of equal costs would be in any order there.
    second["cost"] = np.random.default_rng(place).permutation(len(second)) * 3.5
    plan = planned(QUERIES[place])
    frames = {"registry": {"people": first}, "clinic": {"stays": second}}
    with tacit.local() as run:
        got = run(plan, **{schema.owner: frames[schema.owner] for schema in plan.tables})
    same_rows(got, by_duckdb(QUERIES[place], first, second))


@pytest.mark.parametrize("protocol", ["replicated-malicious", "astra", "gmw"])
def test_windows_under_other_protocols(protocol: str) -> None:
    query = (
        "select days, rank() over (partition by ward order by days) as r, "
        "sum(days) over (partition by ward order by days) as s from stays"
    )
    first, second = given(7)
    with tacit.local(protocol) as run:
        got = run(planned(query), clinic=second)
    same_rows(got, by_duckdb(query, first, second))


KNOWN = "SUM, COUNT, AVG, MIN, MAX, LAG, LEAD, ROW_NUMBER"


@pytest.mark.parametrize(
    ("window", "says"),
    [
        ("lag(days, 1, 0) over (order by cost)", "write COALESCE"),
        ("lag(days) over (partition by ward)", "of a row in an order"),
        ("lead(days, id) over (order by cost)", "no number of rows"),
        ("lag(days, 1.5) over (order by cost)", "no number of rows"),
        ("lag(days, 0) over (order by cost)", "no number of rows"),
        ("first_value(days) over (partition by ward)", "say ORDER BY"),
        ("first_value(days) over (order by cost rows 2 preceding)", "no ROWS"),
        ("last_value(days) over (partition by ward)", "say ORDER BY"),
        ("last_value(days) over (order by cost rows unbounded preceding)", "UNBOUNDED FOLLOWING"),
        ("nth_value(days, 2) over (order by cost)", KNOWN),
        ("ntile(4) over (partition by ward)", "has no order"),
        ("ntile(id) over (order by cost)", "no number of parts"),
        ("ntile(0) over (order by cost)", "no number of parts"),
        ("percent_rank() over (partition by ward)", "has no order"),
        ("avg(days * 100000000) over (order by cost)", "may be 2\\*\\*31 or more"),
        ("sum(days * 10000000000000000) over (order by cost)", "int holds at most"),
        ("median(days) over (partition by ward)", KNOWN),
        ("sum(distinct days) over (partition by ward)", "of different values"),
        ("rank() over (partition by ward)", "has no order"),
        ("sum(days ignore nulls) over (order by cost)", "aggregates skip them"),
        *(
            (f"sum(days) over (order by cost {frame})", "looks at rows that are not known here")
            for frame in [
                "rows between 2 following and 1 following",
                "rows between unbounded following and 2 following",
                "rows between 1.5 preceding and 2 following",
                "range between current row and unbounded following",
                "range between 3 preceding and current row",
                "groups 2 preceding",
            ]
        ),
        ("sum(days) over (order by cost rows 2 preceding exclude current row)", "EXCLUDE"),
    ],
)
def test_windows_that_are_not_known_are_named(window: str, says: str) -> None:
    with pytest.raises(tacit.ProgramError, match=says):
        planned(f"select {window} as x from stays")


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("select sum(days) over w as x from stays window v as (order by cost)", "not supported, ALIAS"),
        ("select sum(days) over (w order by days) as x from stays window w as (order by cost)", "says again"),
        ("select id from stays where row_number() over (order by cost) = 1", "stand in SELECT, QUALIFY"),
    ],
)
def test_windows_elsewhere_are_refused(query: str, says: str) -> None:
    with pytest.raises(tacit.ProgramError, match=says):
        planned(query)


def test_windows_of_tables_are_pandas() -> None:
    second = stays(np.random.default_rng(4), 26)
    second["cost"] = np.random.default_rng(1).permutation(26) * 3.5

    def query(_: Any, s: Any) -> Any:
        known = s.window("all", "days", "sum", partition_by="ward", rows="all")
        known = known.window("rank", None, "rank", partition_by="ward", order_by="days", descending=True)
        known = known.window("dense", None, "dense_rank", order_by="days")
        known = known.window("n", "dose", "count", rows="all")
        known = known.window("mean", "days", "mean", order_by="cost", rows=3)
        known = known.window("first", "days", "first", partition_by="ward", order_by="cost")
        known = known.window("last", "dose", "last", order_by="cost")
        known = known.window("quarter", None, "ntile", partition_by="ward", order_by="cost", rows=4)
        known = known.window("near", "days", "sum", order_by="cost", rows=(-1, 2))
        known = known.window("shifted", "days", "lag", partition_by="ward", order_by="cost", rows=2)
        known = known.window(
            "place", None, "count", order_by=("days", "cost", "id"), descending=[True, False, True]
        )
        return known.select(
            "first",
            "last",
            "quarter",
            "mean",
            "near",
            "shifted",
            "days",
            "ward",
            "all",
            "rank",
            "dense",
            "n",
            "place",
        )

    groups = second.groupby("ward", dropna=False)["days"]
    ordered = second.sort_values(["days", "cost", "id"], ascending=[False, True, False])
    shifted = second.sort_values("cost").groupby("ward", dropna=False)["days"].shift(2).astype("Int64")
    mean = second.sort_values("cost")["days"].rolling(3, min_periods=1).mean()
    days = second.sort_values("cost")["days"]
    near = sum(days.shift(by, fill_value=0) for by in (1, 0, -1, -2))
    first = second.sort_values("cost").groupby("ward", dropna=False)["days"].transform("first")
    parts = second.sort_values("cost").groupby("ward", dropna=False)["cost"]
    sizes = [[len(one) // 4 + (part < len(one) % 4) for part in range(4)] for _, one in parts]
    quarter = pd.concat(
        [
            pd.Series(np.repeat([1, 2, 3, 4], size), one.index)
            for (_, one), size in zip(parts, sizes, strict=True)
        ]
    )
    last = second.sort_values("cost")["dose"].iloc[-1]
    expected = second.assign(first=first, last=last, quarter=quarter, mean=mean, near=near, shifted=shifted)
    expected = expected[["first", "last", "quarter", "mean", "near", "shifted", "days", "ward"]].assign(
        all=groups.transform("sum"),
        rank=groups.rank(method="min", ascending=False).astype(int),
        dense=second["days"].rank(method="dense").astype(int),
        n=second["dose"].count(),
        place=ordered.assign(place=np.arange(len(second)) + 1)["place"],
    )
    same_rows(asked(query, people(np.random.default_rng(0), 2), second), expected)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (lambda s: s.rename(id="x"), r'use rename\({"old": "new"}\)'),
        (lambda s: s.join(s, left_on="id", right_on="days"), r'on={"id": "cust"} joins by keys of two'),
        (lambda s: s.window("x", "days", "rank", order_by="cost"), "no window of 'rank' of 'days'"),
        (lambda s: s.window("x", None, "rank"), "say order_by"),
        (lambda s: s.window("x", "days", "lag"), "say order_by"),
        (lambda s: s.window("x", "days", "first", order_by="cost", rows=2), "without rows"),
        (lambda s: s.window("x", None, "lead", order_by="cost"), "no window of 'lead' of None"),
        (lambda s: s.window("x", "days", "last", order_by="cost", rows=2), "without rows"),
        (lambda s: s.window("x", None, "ntile", order_by="cost"), "rows=4"),
        (lambda s: s.window("x", "days", rows="some"), "or 'all'"),
        (lambda s: s.window("x", "days", order_by="cost", rows=(2, 1)), "the first and the last"),
        (lambda s: s.window("x", "days", "lag", order_by="cost", rows=(-2, -1)), "so many rows away"),
        (lambda s: s.window("x", "days", order_by=["cost", "id"], descending=[True]), "1 directions for 2"),
    ],
)
def test_methods_of_tables_that_are_refused(query: Callable[[Table], Table], says: str) -> None:
    second = stays(np.random.default_rng(4), 5)
    with pytest.raises(tacit.ProgramError, match=says):
        asked(lambda _, s: query(s), people(np.random.default_rng(0), 2), second)


def test_all_rows_together_need_no_sort() -> None:
    def rounds(query: str) -> int:
        return planned(query).cost(protocol="replicated").protocols["replicated"].rounds

    plain = rounds("select days from stays")
    assert rounds("select days, count(*) over () as n, sum(days) over () as s from stays") < plain + 8
    assert rounds("select days, sum(days) over (order by id) as s from stays") > plain + 20


def test_windows_of_one_order_share_a_sort() -> None:
    declared = {"g": tables.integer(0, 50), "t": tables.integer(0, 10_000), "x": tables.integer(0, 1000)}
    plain = tacit.table("bank", declared, rows=1000, name="t")
    ordered = tacit.table("bank", declared, rows=1000, unique=("g", "t"), name="t")

    def sent(*windows: str, table: Any = plain) -> int:
        shown = ", ".join(f"{one} as c{place}" for place, one in enumerate(windows))
        plan = tacit.sql(f"select t.*, {shown} from t window w as (partition by g order by t)", t=table)
        return sum(plan.cost(protocol="replicated").protocols["replicated"].bytes.values())

    one = sent("row_number() over w")
    assert sent("row_number() over w", "lag(x) over w", "sum(x) over (partition by g)") < 1.8 * one
    # Of the rows that the owner put in order none is compared with others.
    assert sent("row_number() over w", table=ordered) < one / 3


def test_what_moves_rows_or_replaces_columns_ends_their_order() -> None:
    second = stays(np.random.default_rng(9), 26)
    second["cost"] = np.random.default_rng(1).permutation(26) * 3.5

    def query(_: Any, s: Any) -> Any:
        known = s.order_by("days", "cost").window("a", None, "count", order_by=("days", "cost"))
        known = known.filter(known.days > 5).window("b", "days", "lag", order_by=("days", "cost"))
        known = known.assign(cost=0 - known.cost).window("c", None, "count", order_by=("days", "cost"))
        known = known.rename({"cost": "days", "days": "cost"}).window("d", None, "count", order_by="days")
        return known.order_by("cost", "days").limit(12).select("days", "cost", "a", "b", "c", "d")

    ordered = second.sort_values(["days", "cost"]).assign(a=np.arange(26) + 1).query("days > 5")
    ordered = ordered.assign(b=ordered["days"].shift().astype("Int64"), cost=-ordered["cost"])
    ordered["c"] = ordered.sort_values(["days", "cost"]).assign(c=np.arange(len(ordered)) + 1)["c"]
    ordered = ordered.rename(columns={"cost": "days", "days": "cost"})
    ordered["d"] = ordered["days"].rank().astype(int)
    expected = ordered.sort_values(["cost", "days"])[["days", "cost", "a", "b", "c", "d"]][:12]
    same_rows(asked(query, people(np.random.default_rng(0), 2), second), expected)


def test_an_order_that_is_asked_for_again_says_nothing_of_columns_that_are_gone() -> None:
    second = stays(np.random.default_rng(2), 26)
    second["days"] %= 3

    def query(_: Any, s: Any) -> Any:
        known = s.order_by("days", "cost").select("days", "id")
        return known.window("place", None, "count", order_by="days").order_by("days")

    expected = second.sort_values(["days", "id"])[["days", "id"]]
    expected["place"] = np.arange(26) + 1
    same_rows(asked(query, people(np.random.default_rng(0), 2), second), expected, ordered=True)


@pytest.mark.parametrize(
    "query",
    [
        "select id, rank() over (order by x) as r from (select id, x, c from t order by x, c limit 8) t",
        "select id, count(*) over (partition by x) as r from (select * from t order by x, c limit 8) t",
        "select id, x from (select c, id, x from t order by x limit 8) t where c > 0",
        "select id, x from t order by x limit 4 offset 2",
        "select x, ntile(3) over (order by x) as r from (select c, id, x from t limit 8 offset 0) t",
        "select x, last_value(id) over (order by x) as r from (select c, id, x from t order by x limit 8) t",
        "select id from t order by x nulls first limit 5",
    ],
)
def test_an_order_within_a_query_says_nothing_of_columns_that_are_not_shown(query: str) -> None:
    declared = {name: tables.integer(0, 50) for name in ("id", "x", "c")}
    plan = tacit.sql(query, t=tacit.table("bank", declared, rows=10))
    rows = pd.DataFrame({"id": range(8), "x": [1, 1, 1, 1, 2, 2, 2, 2], "c": [3, 1, 9, 5, 8, 2, 7, 4]})
    with tacit.local() as run:
        shown = [run(plan, bank=rows), run(plan, bank=rows.assign(c=10 - rows["c"]))]
    assert len(shown[0]) > 3
    pd.testing.assert_frame_equal(*shown)


def test_texts_have_no_order_in_windows() -> None:
    table = tacit.table("bank", {"name": tables.text(), "x": tables.integer(0, 9)}, rows=5)
    tacit.sql("select sum(x) over (partition by name) as s from t", t=table)
    with pytest.raises(tacit.ProgramError, match="shared as hashes"):
        tacit.sql("select row_number() over (order by name) as n from t", t=table)
    with pytest.raises(tacit.ProgramError, match=r"\n  t.name is shared as hashes"):
        tacit.sql("select x from t order by name", t=table)
    with pytest.raises(tacit.ProgramError, match="shared as hashes"):
        tacit.function(lambda t: tacit.reveal(t.window("n", None, "rank", order_by="name"))).trace(table)


def test_deviations_of_large_numbers_are_taken_in_a_larger_unit() -> None:
    table = tacit.table("bank", {"x": tables.number(0, 500_000)}, rows=1000, name="t")
    with pytest.raises(tacit.ProgramError, match="may be anything"):
        tacit.sql("select stddev(x) as s from t", t=table)
    frame = pd.DataFrame({"x": np.random.default_rng(1).uniform(0, 500_000, 1000).round(3)})
    with tacit.local() as run:
        got = run(tacit.sql("select stddev(x / 1000) * 1000 as s from t", t=table), bank=frame)
    assert float(got["s"][0]) == pytest.approx(frame["x"].std(), abs=0.1)
