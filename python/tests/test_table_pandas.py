"""What pandas has: joins that keep rows of both, quantiles, parts of ranges; and what it calls otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import tables
from tacit.tables import lookups
from tests.test_tables import asked, people, same_rows, stays

if TYPE_CHECKING:
    from collections.abc import Callable


def merged(left: pd.DataFrame, right: pd.DataFrame, how: Any, **keys: Any) -> pd.DataFrame:
    """What pandas makes of both, where nulls are equal to nothing."""
    (here,), (there,) = keys.get("left_on", ["id"]), keys.get("right_on", ["id"])
    parts = [
        left.dropna(subset=[here]).merge(right.dropna(subset=[there]), how=how, **(keys or {"on": "id"}))
    ]
    if how in ("left", "outer"):
        parts.append(left[left[here].isna()])
    if how in ("right", "outer"):
        parts.append(right[right[there].isna()])
    return pd.concat(parts)[parts[0].columns]


@pytest.mark.parametrize("how", ["right", "outer"])
@pytest.mark.parametrize("few", [0, lookups.FEW])
def test_joins_that_keep_rows_of_the_other_table(how: str, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # By order, and by comparing all with all.
    monkeypatch.setattr(lookups, "FEW", few)
    random = np.random.default_rng(few)
    first, second = people(random, 15), stays(random, 24)

    def both_ways(p: Any, s: Any) -> Any:
        some = p.filter(p["born"] >= "1960-01-01")
        long = s.filter(s["days"] > 10)
        return {
            "forth": long.join(some, on="id", how=how),
            "back": some.join(long, on="id", how=how),
            "named": some.join(long.rename({"id": "who"}), on={"id": "who"}, how=how),
            "grouped": some.join(long, on="id", how=how).group_by("id").agg(n="count", d=("days", "sum")),
        }

    got = asked(both_ways, first, second, debug=few == 0)
    some, long = first[first["born"] >= "1960-01-01"], second[second["days"] > 10]
    same_rows(got["forth"], merged(long, some, how))
    same_rows(got["back"], merged(some, long, how))
    named = long.rename(columns={"id": "who"})
    same_rows(got["named"], merged(some, named, how, left_on=["id"], right_on=["who"]))
    groups = merged(some, long, how).groupby("id", dropna=False, as_index=False)
    expected = groups.agg(n=("born", "size"), d=("days", lambda days: days.sum(min_count=1)))
    same_rows(got["grouped"], expected)


def test_columns_of_one_name_stand_as_in_a_left_join() -> None:
    @tacit.function
    def computed(a: Any, b: Any) -> Any:
        return {how: tacit.reveal(a.join(b, on="id", how=how, suffix="_b")) for how in ("right", "outer")}

    kinds = {"id": tables.integer(0, 9), "x": tables.integer(0, 9), "w": tables.text()}
    left = tacit.table("alice", kinds, rows=4, unique="id", name="a")
    right = tacit.table("bob", kinds, rows=4, unique="id", name="b")
    a = pd.DataFrame({"id": [1, 2, 3], "x": [4, 5, 6], "w": ["p", "q", "r"]})
    b = pd.DataFrame({"id": [3, 4], "x": [7, 8], "w": ["s", "p"]})
    with tacit.local() as run:
        got = run(computed.trace(left, right), alice=a, bob=b)
    hashed = [one.assign(w=one["w"].map(tables.hash_of)).astype("Int64") for one in (a, b)]
    for how in ("right", "outer"):
        expected = hashed[0].merge(hashed[1], on="id", how=how, suffixes=("", "_b"))
        same_rows(got[how].astype("Int64"), expected)


@pytest.mark.parametrize("few", [0, lookups.FEW])
def test_two_columns_are_joined_with_one(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    # By order, and by comparing all with all.
    monkeypatch.setattr(lookups, "FEW", few)
    random = np.random.default_rng(4)
    first = pd.DataFrame({"a": random.integers(0, 6, 30), "b": random.integers(0, 6, 30)})
    second = pd.DataFrame({"x": [1, 2, 3, 5], "y": [5, 6, 7, 8]})
    small = tables.integer(0, 9)
    left = tacit.table("alice", {"a": small, "b": small}, rows=33, name="t")
    right = tacit.table("bob", {"x": small, "y": small}, rows=5, unique="x", name="u")
    query = "select t.a, t.b, u.x, u.y from t {} join u on t.a = u.x and t.b = u.x"
    for how in ("inner", "left", "right", "outer", "semi", "anti"):

        def both(t: Any, u: Any, how: str = how) -> Any:
            return tacit.reveal(t.join(u, on={"a": "x", "b": "x"}, how=how))

        kind = "full" if how == "outer" else how
        shown = (
            query.format(kind)
            if how not in ("semi", "anti")
            else query.format(kind).replace(", u.x, u.y", "")
        )
        with duckdb.connect() as base, tacit.local() as run:
            base.register("t", first)
            base.register("u", second)
            expected = base.execute(shown).df().astype("Int64")
            got = run(tacit.function(both).trace(left, right), alice=first, bob=second)
            same_rows(got.astype("Int64"), expected)
            got = run(tacit.sql(shown, t=left, u=right), alice=first, bob=second)
            same_rows(got.astype("Int64"), expected)


@pytest.mark.parametrize("how", ["right", "outer"])
def test_joins_of_several_with_several_keep_rows_of_both(how: str) -> None:
    random = np.random.default_rng(5)
    first, second = people(random, 9), stays(random, 14)
    first["id"] = random.integers(0, 8, 9)
    second["id"] = second["id"] % 10
    many = first if how == "right" else second
    most = int(many["id"].value_counts().max())
    got = asked(lambda p, s: p.join(s, on="id", how=how, matches=most), first, second, unique=())
    same_rows(got, merged(first, second, how))
    with pytest.raises(tacit.RunError, match="more than matches=1 rows have the same"):
        asked(lambda p, s: p.join(s, on="id", how=how, matches=1), first, second, unique=())


@pytest.mark.parametrize("keys", [["ward"], ["id"], []])
def test_quantiles_of_groups(keys: list[str]) -> None:
    parts = [0, 0.1, 0.25, 0.5, 0.999, 1]
    random = np.random.default_rng(len(keys))
    first, second = people(random, 3), stays(random, 40)
    second["id"] = second["id"] % 6

    def quantiles(_: Any, s: Any) -> Any:
        some = s.filter(s["days"] > 5)
        return some.group_by(*keys).agg(
            **{f"days {part}": ("days", "quantile", part) for part in parts},
            **{f"dose {part}": ("dose", "quantile", part) for part in parts},
            rows="count",
            spread=("cost", "std"),
            middle=("cost", "median"),
        )

    got = asked(quantiles, first, second, debug=True)
    some = second[second["days"] > 5].assign(all=0)
    groups = some.groupby(keys or "all", dropna=False)
    expected = pd.DataFrame(
        {
            **{f"days {part}": groups["days"].quantile(part) for part in parts},
            **{f"dose {part}": groups["dose"].quantile(part) for part in parts},
            "rows": groups.size(),
            "spread": groups["cost"].std(),
            "middle": groups["cost"].median(),
        }
    ).reset_index()
    same_rows(got, expected[[*keys, *expected.columns[max(len(keys), 1) :]]])


def test_deviations_of_large_numbers_have_room() -> None:
    random = np.random.default_rng(6)
    kinds = {
        "k": tables.integer(0, 99),
        "pay": tables.decimal(2, 0, 300_000),
        "near": tables.decimal(6, 0, 1),
        "fine": tables.number(-20_000, 20_000, bits=8),
    }
    rows = 60
    data = pd.DataFrame(
        {
            "k": np.sort(random.integers(0, 12, rows)),
            "pay": random.integers(0, 30_000_001, rows) / 100,
            "near": (500_000 + random.integers(0, 40, rows)) / 1e6,
            "fine": random.integers(-20_000 << 8, 20_000 << 8, rows) / 256,
        }
    )
    data.loc[data["k"] == 3, "pay"] = [0, *[300_000] * (int((data["k"] == 3).sum()) - 1)]
    plan = tacit.function(
        lambda t: {
            "groups": tacit.reveal(
                t.group_by("k").agg(a=("pay", "std"), b=("near", "std"), c=("fine", "std"))
            ),
            "query": tacit.reveal(
                tacit.sql(
                    "select stddev(pay) as a, stddev_pop(near) as b, stddev(fine) as c, "
                    "stddev(pay) filter (where k > 99) as d from t",
                    t=t,
                )
            ),
        }
    ).trace(tacit.table("bank", kinds, rows=rows))
    with tacit.local(debug=True) as run:
        got = run(plan, bank=data)
    expected = data.groupby("k").std()
    assert expected["pay"].max() > 46_341
    for name, column, most in [("a", "pay", 2**-8), ("b", "near", 2**-16), ("c", "fine", 2**-8)]:
        found, wanted = got["groups"][name].to_numpy(float), expected[column].to_numpy(float)
        assert (np.isnan(found) == np.isnan(wanted)).all()
        assert np.nanmax(abs(found - wanted)) <= most, name
    whole = [data["pay"].std(), data["near"].std(ddof=0), data["fine"].std()]
    np.testing.assert_allclose(got["query"][["a", "b", "c"]].to_numpy(float)[0], whole, rtol=0, atol=2**-8)
    assert got["query"]["d"].isna().all()


def test_parts_of_ranges_and_columns_are_those_of_pandas() -> None:
    random = np.random.default_rng(7)
    first, second = people(random, 3), stays(random, 30)
    edges = [5, 12.5, 30]

    def computed(_: Any, s: Any) -> Any:
        made = {f"b{how}": s["days"].between(10, 30, how) for how in ("both", "left", "right", "neither")}
        made |= {"d": np.digitize(s["days"], edges), "e": np.digitize(s["cost"], [100.25, 9000], right=True)}
        return s.drop("ward", "dose").drop(columns=["id"]).assign(**made)

    got = asked(computed, first, second)
    expected = second.drop(columns=["ward", "dose", "id"])
    for how in ("both", "left", "right", "neither"):
        expected[f"b{how}"] = second["days"].between(10, 30, inclusive=how)
    expected["d"] = np.digitize(second["days"], edges)
    expected["e"] = np.digitize(second["cost"], [100.25, 9000], right=True)
    same_rows(got, expected)


def test_days_and_names_are_those_of_pandas() -> None:
    random = np.random.default_rng(9)
    first, second = people(random, 12), stays(random, 3)
    forms = ["%Y-%m", "%d.%m.", "%A", "%y%m%d"]

    def computed(p: Any, _: Any) -> Any:
        later = {"later": p["born"] + pd.Timedelta(days=40), "since": p["born"] - pd.Timestamp("1960-02-01")}
        # All days of fifty years are too many to write.
        near = p.assign(near=np.clip(p["born"], "1970-01-01", "1985-12-31"))
        written = {form: near["near"].strftime(form) for form in forms}
        later |= {"year": p["born"].add_months(12), "end": p["born"].month_end()}
        return near.assign(**later, **written).drop("age", "smokes", "near").rename(columns={"born": "b"})

    got = asked(computed, first, second)
    near = first["born"].clip(pd.Timestamp("1970-01-01"), pd.Timestamp("1985-12-31"))
    expected = first.drop(columns=["age", "smokes"]).rename(columns={"born": "b"})
    expected["later"] = first["born"] + pd.Timedelta(days=40)
    expected["since"] = (first["born"] - pd.Timestamp("1960-02-01")).dt.days
    expected["year"] = first["born"] + pd.DateOffset(months=12)
    expected["end"] = first["born"] + pd.offsets.MonthEnd(0)
    for form in forms:
        expected[form] = near.dt.strftime(form)
    same_rows(got, expected)


@pytest.mark.parametrize(("rows", "offset"), [(0, 0), (0, 3), (5, 23), (3, 99)])
def test_limits_that_leave_none(rows: int, offset: int) -> None:
    random = np.random.default_rng(8)
    first, second = people(random, 3), stays(random, 20)
    got = asked(lambda _, s: s.order_by("days").limit(rows, offset=offset), first, second)
    assert list(got.columns) == list(second.columns)
    assert got.empty
    count = asked(lambda _, s: s.limit(rows, offset=offset).group_by().agg(n="count"), first, second)
    assert count["n"].tolist() == [0]


NUMBERS = {
    "id": tables.integer(0, 9),
    "x": tables.number(0, 9),
    "k": tables.category(["a", "b"]),
    "day": tables.date("2020-01-01", "2020-12-31"),
}


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda t: t.merge(t, on="id", how="left"), r"join\(other, on=.*how="),
        (lambda t: t.sort_values(["id", "x"], ascending=[True, False]), r"descending=\[False, True\]"),
        (lambda t: t.groupby("k").x.cumsum(), "group_by"),
        (lambda t: t.group_by("k").cumsum(), "partition_by"),
        (lambda t: t.group_by("k").head(2), "where n is 1"),
        (lambda t: t.group_by("k").quantile(0.5), r"agg\(p90="),
        (lambda t: t.group_by("k").apply(len), "use agg"),
        (lambda t: t.set_index("id"), "keys are columns"),
        (lambda t: t.tail(3), r"order_by\("),
        (lambda t: t.melt(id_vars="id"), "union"),
        (lambda t: t.pivot(index="id", columns="k", values="x"), "after the run"),
        (lambda t: t.describe(), "group_by"),
        (lambda t: t.astype({"x": int}), r'assign\(x=t\["x"\].astype'),
        (lambda t: t.isna().sum(), r"is_null\(\)"),
        (lambda t: t.to_numpy(), "reveal the table"),
        (lambda t: t.iterrows(), "whole columns"),
        (lambda t: t.x.median(), '"median"'),
        (lambda t: t.x.quantile(0.9), '"quantile", 0.9'),
        (lambda t: t.x.any(), "bools count"),
        (lambda t: t.x.idxmax(), "whole row"),
        (lambda t: t.x.fillna(0), "fill_null"),
        (lambda t: t.x.ffill(), "lag"),
        (lambda t: t.x.cummax(), r'window\("name", "column", "max"'),
        (lambda t: t.x.sub(1), "use x - y"),
        (lambda t: t.k.cat.codes, "each word"),
        (lambda t: t.x.values, "reveal the table"),
        (lambda t: t.x.head(), "limit"),
    ],
)
def test_what_pandas_has_otherwise_is_said(use: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(AttributeError, match=says):
        tacit.function(lambda t: tacit.reveal(use(t))).trace(tacit.table("bank", NUMBERS, rows=5))


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda t: t.group_by("k").agg(x=("x", "first")), 'say \\("column", "min"\\)'),
        (lambda t: t.group_by("k").agg(x=("x", "quantile")), "quantile of no place\n.*0.9"),
        (lambda t: t.group_by("k").agg(x=("x", "quantile", [0.1, 0.9])), "one number from 0 to 1"),
        (lambda t: t.group_by("k").agg(x=("x", "quantile", 0.12345)), "four decimal places"),
        (lambda t: t.group_by("k").agg(x=("x", "sum", 0.5)), "x is a sum of 0.5"),
        (lambda t: t.group_by("k").agg(x=("k", "quantile", 0.5)), "no quantile of category"),
        (lambda t: t.assign(y=np.median(t.x)), r"no `median` of columns\n.*group_by\(\).agg"),
        (lambda t: t.assign(y=np.diff(t.x)), "lag"),
        (lambda t: t.assign(y=np.digitize(t.x, [3, 1])), "ascending order"),
        (lambda t: t.assign(y=t.x.between(0, 1, "none")), '"neither"'),
        (lambda t: t.drop("y"), "no column 'y'"),
        (lambda t: t.drop("x", axis=1), "drop takes no axis\n.*leaves columns out"),
        (lambda t: t.group_by("k", as_index=False), "takes no as_index\n.*keys are columns"),
        (lambda t: t.group_by(t.day.year()), r"asked for by its name\n.*assign\(year="),
        (lambda t: t.group_by("k").agg(x=("x", np.sum)), "aren't given the rows of a group"),
        (lambda t: t.group_by("k").agg(x=("x", ["min", "max"])), r'one for each: low=\("column", "min"\)'),
        (lambda t: t.order_by("x", ascending=False), r"no ascending\n.*descending=\[False, True\]"),
        (lambda t: t.order_by(lambda t: t.x), "asked for by its name"),
        (lambda t: t.distinct("k"), r"whole rows\n.*select\('k'\).distinct\(\)"),
        (lambda t: t.join(t, on="id", suffixes=("_a", "_b")), 'no suffixes\n.*suffix="_b"'),
        (lambda t: t.rename(str.upper), "takes a dict"),
        (lambda t: t[:3], r"no numbers.*\n.*limit\(3\)"),
        (lambda t: t.x[t.x > 3], "no rows by itself\n.*has rows of a table"),
        (lambda t: 3 in t.x, "can't be used for in"),
        (lambda t: t[t.x in t], "can't be used for in"),
        (lambda t: t[t.id.is_in(t.x)], 'public values\n.*how="semi"'),
        (lambda t: pd.cut(t.x, [0, 3]), "pandas takes no columns: .*np.digitize"),
        (lambda t: t.window("y", "x", "cumsum", order_by="day"), 'say "sum"'),
        (lambda t: t.window("y", "x", "std", order_by="day"), "stddev\\(x\\) over"),
        (lambda t: t.window("y", "x", "rank", order_by="day"), 'window\\("name", None, "rank"'),
        (lambda t: t.window("y", t.x * 2, "mean", order_by="day"), "by its name\n.*assign"),
        (
            lambda t: t.window("y", "x", "mean", rows="7D", order_by="day"),
            "rows=.7D..*\n.*no windows are of days",
        ),
        (lambda t: t.order_by("x", "k", descending=[True]), "1 directions for 2.*\n.*one for each"),
        (lambda t: t.limit(2.5), "write limit"),
        (lambda t: t.union([t]), r"union with a list\n.*union\(b\).union\(c\)"),
        (lambda t: t.assign({"y": t.x}), "assign takes names"),
        (lambda t: t.join(t, on=t.id == t.x), 'by a condition\n.*on="id"'),
        (lambda t: t.assign(y=t.day.strftime("%H")), "has no %H here"),
        (lambda t: t.assign(y=t.x.strftime("%Y")), "has no year"),
        (lambda t: t.join(t, on="id", how="full"), "use one of inner, left, right, outer"),
    ],
)
def test_what_has_no_meaning_is_refused(use: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(tacit.ProgramError, match=says):
        tacit.function(lambda t: tacit.reveal(use(t))).trace(
            tacit.table("bank", NUMBERS, rows=5, unique="id")
        )
