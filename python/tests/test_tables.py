"""Tables of secrets against pandas, on random tables with nulls and filtered rows."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import tables
from tacit.tables import groups, lookups
from tacit.tables.column import column_of

if TYPE_CHECKING:
    from collections.abc import Callable

WARDS = ["east", "north", "west"]
PEOPLE = {
    "id": tables.integer(0, 40),
    "age": tables.integer(0, 120, null=True),
    "born": tables.date("1950-01-01", "1999-12-31"),
    "smokes": tables.boolean(null=True),
}
STAYS = {
    "id": tables.integer(-3, 60, null=True),
    "days": tables.integer(0, 50),
    "cost": tables.decimal(2, 0, 10_000),
    "ward": tables.category(WARDS, null=True),
    "dose": tables.number(-10, 10, null=True),
}


def nullable(values: Any, random: np.random.Generator, dtype: str) -> Any:
    """A column of which some values are missing."""
    column = pd.Series(pd.array(values, dtype=dtype))
    column[random.random(len(column)) < 0.15] = pd.NA
    return column


def people(random: np.random.Generator, rows: int) -> pd.DataFrame:
    days = random.integers(0, 18_000, rows)
    return pd.DataFrame(
        {
            "id": random.permutation(40)[:rows],
            "age": nullable(random.integers(0, 121, rows), random, "Int64"),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(days, unit="D"),
            "smokes": nullable(random.random(rows) < 0.5, random, "boolean"),
        }
    )


def stays(random: np.random.Generator, rows: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": nullable(random.integers(0, 40, rows), random, "Int64"),
            "days": random.integers(0, 51, rows),
            "cost": random.integers(0, 1_000_001, rows) / 100,
            "ward": nullable(random.choice(WARDS, rows), random, "string"),
            "dose": nullable(random.integers(-10 << 16, (10 << 16) + 1, rows) / 65536, random, "Float64"),
        }
    )


def asked(
    query: Callable[[Any, Any], Any],
    first: pd.DataFrame,
    second: pd.DataFrame,
    *,
    protocol: str = "replicated",
    debug: bool = False,
    **options: Any,
) -> Any:
    """What a query of both tables gives, each with some room to spare."""
    left = tacit.table("registry", PEOPLE, rows=len(first) + 3, **{"unique": "id", **options})
    right = tacit.table("clinic", STAYS, rows=len(second) + 2)
    plan = tacit.function(lambda people, stays: tacit.reveal(query(people, stays))).trace(left, right)
    with tacit.local(protocol, debug=debug) as run:
        return run(plan, registry=first, clinic=second)


def rows_of(frame: pd.DataFrame, *, ordered: bool = False) -> list[tuple[Any, ...]]:
    """Rows that can be compared, missing values as `None`, in an order that steps of a float don't change."""

    def plain(value: Any) -> Any:
        if value is None or value is pd.NA or value is pd.NaT or value != value:
            return None
        if isinstance(value, (pd.Timestamp, np.datetime64)):
            return str(pd.Timestamp(value).date())
        if isinstance(value, (float, np.floating)):
            return float(value)
        return value.item() if hasattr(value, "item") else value

    rows = [tuple(map(plain, row)) for row in frame.itertuples(index=False)]

    def place(value: Any) -> tuple[bool, str]:
        return value is None, f"{value:.1f}" if isinstance(value, float) else str(value)

    return rows if ordered else sorted(rows, key=lambda row: list(map(place, row)))


def same_rows(got: pd.DataFrame, expected: pd.DataFrame, *, ordered: bool = False) -> None:
    assert list(got.columns) == list(expected.columns)
    rows = [rows_of(one, ordered=ordered) for one in (got, expected)]
    assert rows[0] == [tuple(near(value) for value in row) for row in rows[1]]


def near(value: Any) -> Any:
    """A value, or all floats within some steps of it."""
    return pytest.approx(value, rel=0, abs=2e-4) if isinstance(value, float) else value


def merged(left: pd.DataFrame, right: pd.DataFrame, how: str) -> pd.DataFrame:
    """What pandas makes of both, where nulls are equal to nothing."""
    known = right.dropna(subset=["id"])
    if how == "inner":
        return left.dropna(subset=["id"]).merge(known, on="id")
    if how == "left":
        return left.merge(known, on="id", how="left")
    found = left["id"].isin(known["id"].tolist()).fillna(False)
    return left[found] if how == "semi" else left[~found]


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
@pytest.mark.parametrize("few", [0, lookups.FEW])
def test_joins_are_pandas_merges(how: str, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # By order, and by comparing all with all.
    monkeypatch.setattr(lookups, "FEW", few)
    seed = int(few > 0)
    random = np.random.default_rng(seed)
    first, second = people(random, 13 + 7 * seed), stays(random, 21 + 11 * seed)
    old = pd.Timestamp("1960-01-01")

    def both_ways(p: Any, s: Any) -> Any:
        some = p.filter(p["born"] >= "1960-01-01")
        return {
            "forth": s.join(some, on="id", how=how),
            "back": some.join(s.filter(s["days"] > 10), on="id", how=how),
        }

    got = asked(both_ways, first, second, debug=seed == 0)
    some = first[first["born"] >= old]
    same_rows(got["forth"], merged(second, some, how))
    same_rows(got["back"], merged(some, second[second["days"] > 10], how))


@pytest.mark.parametrize("how", ["inner", "left"])
def test_joins_of_several_with_several_take_a_bound(how: str) -> None:
    random = np.random.default_rng(3)
    first, second = people(random, 9), stays(random, 14)
    first["id"] = random.integers(0, 8, 9)
    second["id"] = second["id"] % 8
    most = int(second["id"].value_counts().max())
    got = asked(lambda p, s: p.join(s, on="id", how=how, matches=most), first, second, unique=())
    same_rows(got, merged(first, second, how))
    with pytest.raises(tacit.RunError, match="more than matches=1 rows have the same id"):
        asked(lambda p, s: p.join(s, on="id", how=how, matches=1), first, second, unique=())
    with pytest.raises(tacit.ProgramError, match="neither table is known to have a row alone for each id"):
        asked(lambda p, s: p.join(s, on="id", how=how), first, second, unique=())


AGGREGATES: dict[str, Any] = {
    "rows": "count",
    "days": ("days", "sum"),
    "cost": ("cost", "sum"),
    "doses": ("dose", "count"),
    "dose": ("dose", "sum"),
    "mean": ("cost", "mean"),
    "high": ("cost", "max"),
    "low": ("dose", "min"),
}


def grouped(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    groups = frame.groupby(keys, dropna=False, as_index=False)
    result = groups.agg(
        rows=("days", "size"),
        days=("days", "sum"),
        cost=("cost", "sum"),
        doses=("dose", "count"),
        dose=("dose", "sum"),
        mean=("cost", "mean"),
        high=("cost", "max"),
        low=("dose", "min"),
    )
    # A sum of nulls is null in SQL.
    result.loc[result["doses"] == 0, "dose"] = pd.NA
    return result


@pytest.mark.parametrize("keys", [["ward"], ["id"], ["ward", "id"]])
def test_groups_are_those_of_pandas(keys: list[str]) -> None:
    second = stays(np.random.default_rng(5), 37)

    def query(_: Any, s: Any) -> Any:
        return s[s["days"] < 40].group_by(*keys).agg(**AGGREGATES)

    got = asked(query, people(np.random.default_rng(0), 2), second, debug=len(keys) == 2)
    same_rows(got, grouped(second[second["days"] < 40], keys))


@pytest.mark.parametrize("how", ["inner", "left"])
def test_a_group_by_the_key_of_a_join_needs_no_sort(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "FEW", 0)
    random = np.random.default_rng(8)
    first, second = people(random, 12), stays(random, 50)

    def query(p: Any, s: Any) -> Any:
        joined = p.filter(p["age"] != 50).join(s.filter(s["cost"] > 2000), on="id", how=how)
        assert joined.blocks is not None
        return joined.group_by("id", "age").agg(**AGGREGATES)

    got = asked(query, first, second, debug=True)
    some = first[(first["age"] != 50).fillna(False)]
    expected = grouped(merged(some, second[second["cost"] > 2000], how), ["id", "age"])
    if how == "left":
        days = expected["high"].isna()
        expected.loc[days, ["days", "cost", "mean"]] = pd.NA
    same_rows(got, expected)


@pytest.mark.parametrize("how", ["inner", "left", "anti"])
def test_groups_are_joined_again(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "FEW", 0)
    random = np.random.default_rng(14)
    first, second = people(random, 10), stays(random, 23)

    def query(p: Any, s: Any) -> Any:
        groups = s[s["dose"] < -4].group_by("id").agg(low=("dose", "min"), days=("days", "sum"))
        return {"forth": p.join(groups, on="id", how=how), "back": groups.join(p, on="id", how=how)}

    got = asked(query, first, second, debug=True)
    some = second[(second["dose"] < -4).fillna(False)]
    groups = some.groupby("id", dropna=False, as_index=False).agg(low=("dose", "min"), days=("days", "sum"))
    same_rows(got["forth"], merged(first, groups, how))
    same_rows(got["back"], merged(groups, first, how))


@pytest.mark.parametrize("nulls", list(itertools.product([False, True], repeat=2)))
def test_few_groups_are_all_there_with_nulls_in_any_key(nulls: tuple[bool, bool]) -> None:
    kinds = {
        "whole": tables.integer(-1, 2, null=nulls[0]),
        "word": tables.category(WARDS, null=nulls[1]),
        "truth": tables.boolean(null=nulls[1]),
    }
    values: list[list[Any]] = [[-1, 0, 1, 2], WARDS, [False, True]]
    several = [one + [None] * kind.null for one, kind in zip(values, kinds.values(), strict=True)]
    rows = list(itertools.product(*several))
    assert len(rows) <= groups.FEW
    frame = pd.DataFrame(rows, columns=list(kinds), dtype=object)

    @tacit.function
    def counted(table: Any) -> Any:
        return tacit.reveal(table.group_by(*kinds).agg(rows="count"))

    plan = counted.trace(tacit.table("a", kinds, rows=2 * len(rows) + 1))
    with tacit.local() as run:
        got = run(plan, a=pd.concat([frame, frame]))
    same_rows(got, frame.assign(rows=2))


def keyed(name: str, column: str, rows: int) -> Any:
    kinds = {"id": tables.integer(0, 20), column: tables.integer(0, 99)}
    return tacit.table(name, kinds, rows=rows, unique="id")


@pytest.mark.parametrize("rows", [3, 4, 7, 8, 9])
def test_joins_of_joins_are_those_of_pandas(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "FEW", 0)
    frames = [pd.DataFrame({"id": [7, 8, 9], column: [7, 8, 9]}) for column in "xyz"]

    @tacit.function
    def joined(x: Any, y: Any, z: Any) -> Any:
        both = x.join(y, on="id")
        return tacit.reveal(
            {"whole": z.join(both, on="id"), "groups": both.group_by("id", "y").agg(x=("x", "sum"))}
        )

    with tacit.local() as run:
        for others in range(3, 10):
            shapes = keyed("a", "x", rows), keyed("b", "y", others), keyed("c", "z", 5)
            got = run(joined.trace(*shapes), a=frames[0], b=frames[1], c=frames[2])
            both = frames[0].merge(frames[1], on="id")
            same_rows(got["whole"], frames[2].merge(both, on="id"))
            same_rows(got["groups"], both[["id", "y", "x"]])


def test_a_key_that_another_stands_for_is_joined_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "FEW", 0)
    frames = [pd.DataFrame({"id": [7, 8, 9], column: [7, 8, 9]}) for column in "xyz"]

    @tacit.function
    def joined(x: Any, y: Any, z: Any) -> Any:
        both = x.join(y.rename({"id": "other"}), on={"id": "other"})
        known = both.join(z, on={"other": "id"}).select("other", "z")
        return tacit.reveal(x.join(known, on={"id": "other"}).select("x", "z"))

    with tacit.local() as run:
        for rows in range(3, 10):
            shapes = keyed("a", "x", rows), keyed("b", "y", 4), keyed("c", "z", 5)
            got = run(joined.trace(*shapes), a=frames[0], b=frames[1], c=frames[2])
            assert rows_of(got) == [(7, 7), (8, 8), (9, 9)]


def test_groups_have_the_keys_of_rows_that_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "FEW", 0)
    kinds = {"id": tables.integer(0, 199), "x": tables.integer(0, 9)}
    ids = {"id": tables.integer(0, 199)}

    @tacit.function
    def again(table: Any, ids: Any) -> Any:
        totals = table.group_by("id").agg(total=("x", "sum"))
        return tacit.reveal(totals.join(ids, on="id").group_by("id", "total").agg(rows="count"))

    with tacit.local() as run:
        for rows in range(3, 9):
            plan = again.trace(tacit.table("a", kinds, rows=rows), tacit.table("b", ids, rows=3, unique="id"))
            got = run(plan, a={"id": [0, 0, 5], "x": [3, 4, 1]}, b={"id": [0, 5]})
            assert rows_of(got) == [(0, 7, 1), (5, 1, 1)]


def test_all_rows_together() -> None:
    second = stays(np.random.default_rng(6), 19)
    got = asked(
        lambda _, s: {
            "all": s.group_by().agg(
                rows="count", most=("days", "max"), doses=("dose", "mean"), ids=("id", "distinct")
            ),
            "none": s[s["days"] > 50]
            .group_by()
            .agg(rows="count", most=("days", "max"), cost=("cost", "sum")),
        },
        people(np.random.default_rng(0), 2),
        second,
    )
    every = (19, second["days"].max(), second["dose"].mean(), second["id"].nunique())
    assert rows_of(got["all"]) == [tuple(map(near, every))]
    assert rows_of(got["none"]) == [(0, None, None)]


def test_different_values_are_counted_by_group() -> None:
    second = stays(np.random.default_rng(7), 33)
    got = asked(
        lambda _, s: s.group_by("ward").agg(ids=("id", "distinct"), rows="count"),
        people(np.random.default_rng(0), 2),
        second,
    )
    groups = second.groupby("ward", dropna=False, as_index=False)
    same_rows(got, groups.agg(ids=("id", "nunique"), rows=("days", "size")))


def test_order_limit_distinct_and_union() -> None:
    random = np.random.default_rng(9)
    first, second = people(random, 5), stays(random, 24)
    second["cost"] = random.permutation(24) * 7.25

    def query(p: Any, s: Any) -> Any:
        return {
            "top": s.order_by("cost", descending=True).limit(4),
            "next": s.order_by("cost", descending=True).limit(30, offset=4),
            "sorted": s.order_by("ward", "cost", descending=[False, True]).select("ward", "cost"),
            "wards": s.select("ward").distinct(),
            "ids": s.select("id").union(p.select("id")).distinct(),
            "twice": s.select("days", "ward").union(s.select("days", "ward")),
        }

    got = asked(query, first, second)
    same_rows(got["top"], second.sort_values("cost", ascending=False).head(4), ordered=True)
    same_rows(got["next"], second.sort_values("cost", ascending=False)[4:], ordered=True)
    ordered = second.sort_values(["ward", "cost"], ascending=[True, False], na_position="last")
    same_rows(got["sorted"], ordered[["ward", "cost"]], ordered=True)
    same_rows(got["wards"], second[["ward"]].drop_duplicates())
    same_rows(got["ids"], pd.concat([second[["id"]], first[["id"]]]).drop_duplicates())
    same_rows(got["twice"], pd.concat([second[["days", "ward"]]] * 2))


def orders(query: Callable[[Any], Any], kinds: dict[str, Any], rows: list[Any]) -> list[Any]:
    """What a query reveals of the rows that aren't hidden, however they and hidden ones stand."""
    kinds = {**kinds, "hidden": tables.integer(0, 9)}
    table = tacit.table("a", kinds, rows=len(rows) + 5)
    plan = tacit.function(lambda t: tacit.reveal(query(t.filter(t["hidden"] == 0)))).trace(table)
    got = []
    with tacit.local() as run:
        for seed in range(4):
            random = np.random.default_rng(seed)
            shown = [(*row, 0) for row in rows]
            hidden = [(*rows[random.integers(len(rows))], random.integers(1, 10)) for _ in range(seed)]
            several = [*shown, *hidden]
            mixed = [several[place] for place in random.permutation(len(several))]
            got.append(rows_of(run(plan, a=pd.DataFrame(mixed, columns=list(kinds))), ordered=True))
    return got


PAY: tuple[dict[str, Any], list[Any]] = (
    {"dept": tables.integer(0, 3, null=True), "name": tables.integer(0, 99), "pay": tables.integer(0, 999)},
    [(1, 12, 500), (1, 10, 7), (2, 13, 300), (0, 11, 42), (None, 15, 8), (1, 14, 500), (3, 16, 7)],
)


@pytest.mark.parametrize(
    "query",
    [
        lambda t: t.select("dept", "name").order_by("dept"),
        lambda t: t.select("dept", "name").order_by("dept").limit(2),
        lambda t: t.select("dept", "name").order_by("dept").limit(2, offset=3),
        lambda t: t.select("pay", "name").limit(3),
        lambda t: t.select("pay", "name").limit(9, offset=5),
        lambda t: t.window("part", None, "ntile", order_by="dept", rows=3).select("name", "part"),
        lambda t: t.window("end", "name", "last", partition_by="dept", order_by="pay").select("name", "end"),
        lambda t: t.window("place", None, "count", partition_by="dept").select("name", "place"),
        lambda t: t.select("name").window("place", None, "count"),
    ],
)
def test_what_is_revealed_says_nothing_of_where_rows_stood(query: Any) -> None:
    got = orders(query, *PAY)
    assert got == got[:1] * len(got)


@pytest.mark.parametrize(
    "query",
    [
        lambda t: t.group_by("dept").agg(total=("pay", "sum")).select("total"),
        lambda t: t.group_by("name").agg(total=("pay", "sum")).limit(7).select("total"),
        lambda t: t.group_by("dept", "name").agg(total=("pay", "sum")).drop_nulls("dept").select("total"),
        lambda t: t.group_by("name").agg(total=("pay", "sum")).window("n", None, "count").select("total"),
        lambda t: t.group_by("name").agg(total=("pay", "sum")).limit(6).limit(5).select("total"),
        lambda t: t.assign(pay=t["pay"] + 0).limit(9).select("pay"),
    ],
)
def test_rows_arent_in_the_order_of_a_column_that_is_gone(query: Any) -> None:
    for got in orders(query, *PAY):
        assert got == sorted(got)


def test_a_window_without_an_order_skips_hidden_rows() -> None:
    for got in orders(lambda t: t.select("name").window("place", None, "count"), *PAY):
        assert got == [(10 + place, place + 1) for place in range(7)]


def test_windows_look_back() -> None:
    second = stays(np.random.default_rng(10), 26)
    second["cost"] = np.random.default_rng(1).permutation(26) * 3.5

    def query(_: Any, s: Any) -> Any:
        known = s.window("total", "days", "sum", partition_by="ward", order_by="cost")
        known = known.window("place", None, "count", partition_by="ward", order_by="cost")
        known = known.window("last three", "days", "sum", order_by="cost", rows=3)
        known = known.window("most", "days", "max", order_by="cost")
        return known.select("cost", "ward", "total", "place", "last three", "most")

    ordered = second.sort_values("cost")
    groups = ordered.groupby("ward", dropna=False)["days"]
    expected = ordered[["cost", "ward"]].assign(
        total=groups.cumsum(),
        place=groups.cumcount() + 1,
        **{"last three": ordered["days"].rolling(3, min_periods=1).sum().astype(int)},
        most=ordered["days"].cummax(),
    )
    same_rows(asked(query, people(np.random.default_rng(0), 2), second), expected)


def test_columns_compute_as_in_sql() -> None:
    random = np.random.default_rng(11)
    first, second = people(random, 20), stays(random, 22)

    def query(p: Any, s: Any) -> Any:
        return {
            "people": p.assign(
                year=lambda t: t["born"].year(),
                month=lambda t: t["born"].month(),
                days=lambda t: t["born"] - "1950-01-01",
                old=lambda t: (t["age"] >= 65) | t["smokes"],
                both=lambda t: (t["age"] >= 65) & t["smokes"],
                age=lambda t: t["age"].fill_null(-1),
            ),
            "stays": s.assign(
                part=lambda t: t["cost"] / t["days"],
                taxed=lambda t: t["cost"] * 1.25 - t["days"],
                dear=lambda t: tables.when(t["cost"] > 5000, t["days"], 0),
                compass=lambda t: t["ward"].like("%st"),
                first=lambda t: t["ward"].map(lambda word: word[0].upper()),
                twice=lambda t: t["dose"] * t["days"],
            ).select("part", "taxed", "dear", "compass", "first", "twice"),
        }

    got = asked(query, first, second)
    old = first["age"] >= 65
    same_rows(
        got["people"],
        first.assign(
            year=first["born"].dt.year,
            month=first["born"].dt.month,
            days=(first["born"] - pd.Timestamp("1950-01-01")).dt.days,
            old=old | first["smokes"],
            both=old & first["smokes"],
            age=first["age"].fillna(-1),
        )[list(got["people"].columns)],
    )
    words = second["ward"]
    same_rows(
        got["stays"],
        pd.DataFrame(
            {
                "part": (second["cost"] / second["days"].replace(0, np.nan)),
                "taxed": second["cost"] * 1.25 - second["days"],
                "dear": second["days"].where(second["cost"] > 5000, 0),
                "compass": words.isin(["east", "west"]).astype("boolean").where(words.notna()),
                "first": words.str[0].str.upper(),
                "twice": second["dose"] * second["days"],
            }
        ),
    )


def test_quotients_have_the_steps_of_their_operands() -> None:
    kinds = {"x": tables.number(-10, 10, bits=20), "whole": tables.integer(0, 9)}
    half = column_of(1) / column_of(2)

    @tacit.function
    def computed(table: Any) -> Any:
        columns = {
            "fine": table["x"] / 2,
            "half": table["whole"] * half,
            "less": table["whole"] + (half - 2) * half,
            "same": -half,
        }
        parts = table.assign(**columns).select(*columns)
        return tacit.reveal({"parts": parts, "all": parts.group_by().agg(sum=("fine", "sum"))})

    plan = computed.trace(tacit.table("a", kinds, rows=4))
    with tacit.local() as run:
        got = run(plan, a={"x": [3.0, 5.0], "whole": [3, 4]})
    assert rows_of(got["parts"]) == [(1.5, 1.5, 2.25, -0.5), (2.5, 2.0, 3.25, -0.5)]
    assert rows_of(got["all"]) == [(4.0,)]


def test_texts_are_joined_by_hashes() -> None:
    names = tacit.table("a", {"name": tables.text(), "x": tables.integer(0, 9)}, rows=5, unique="name")
    others = tacit.table("b", {"name": tables.text(null=True), "y": tables.integer(0, 9)}, rows=6)

    @tacit.function
    def both(names: Any, others: Any) -> Any:
        known = others.filter(others["name"] != "dan").join(names, on="name")
        return tacit.reveal(known, to="a")

    a: dict[str, Any] = {"name": ["ann", "bob", "cy", "dan"], "x": [1, 2, 3, 4]}
    b = {"name": ["cy", None, "ann", "eve", "cy", "dan"], "y": [1, 2, 3, 4, 5, 6]}
    with tacit.local() as run:
        got = run(both.trace(names, others), a=a, b=b)
    known = {tables.hash_of(name): name for name in a["name"]}
    rows = {(known[row.name], row.y, row.x) for row in got.itertuples(index=False)}
    assert rows == {("cy", 1, 3), ("ann", 3, 1), ("cy", 5, 3)}


def test_empty_and_full_tables() -> None:
    first, second = people(np.random.default_rng(13), 0), stays(np.random.default_rng(13), 6)
    got = asked(lambda p, s: {"none": s.join(p, on="id"), "all": s}, first, second)
    assert not len(got["none"])
    same_rows(got["all"], second)


def test_groups_beyond_a_bound_are_an_error() -> None:
    second = stays(np.random.default_rng(5), 20)
    with pytest.raises(tacit.RunError, match="more than groups=3 groups of id"):
        asked(
            lambda _, s: s.group_by("id", groups=3).agg(rows="count"),
            people(np.random.default_rng(0), 2),
            second,
        )
