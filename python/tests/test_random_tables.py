"""Random chains of steps on secret tables against pandas, and random queries against DuckDB."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables
from tests.support import examples, is_dear
from tests.test_sql import by_duckdb, planned
from tests.test_tables import WARDS, merged, people, same_rows, stays

LEFT = {"id": tables.integer(0, 12), "age": tables.integer(0, 120, null=True)}
RIGHT = {
    "id": tables.integer(0, 12, null=True),
    "days": tables.integer(0, 9),
    "ward": tables.category(WARDS, null=True),
}

NUMBER = st.integers(0, 9)
CONDITION = st.tuples(st.sampled_from(["above", "at most", "ward", "id", "no ward", "either"]), NUMBER)
KEYS = st.sampled_from([["ward"], ["id"], ["ward", "id"], ["days"]])
STEP = st.one_of(
    st.tuples(st.just("filter"), CONDITION),
    st.tuples(st.just("assign"), NUMBER),
    st.tuples(st.just("join"), st.sampled_from(["inner", "left", "semi", "anti"])),
    st.tuples(st.just("group"), KEYS),
    st.tuples(st.just("top"), st.tuples(st.integers(1, 5), st.booleans())),
    st.tuples(st.just("distinct"), st.none()),
    st.tuples(st.just("union"), CONDITION),
)
"""Steps, each on the columns that are left: `days` always is."""


def is_possible(columns: list[str], kind: str, what: Any) -> bool:
    """Whether a step has the columns that it needs, and leads to no two of one name."""
    if kind in ("filter", "union"):
        needed = {"ward": "ward", "no ward": "ward", "id": "id", "either": "ward"}.get(what[0], "days")
        return needed in columns
    if kind == "join":
        return "id" in columns and ("age" not in columns or what in ("semi", "anti"))
    return kind != "group" or set(what) <= set(columns)


def condition_on(columns: Any, what: tuple[str, int], of: Any) -> Any:
    """A condition of a table's columns, or of a frame's."""
    kind, number = what
    word = WARDS[number % 3]
    if kind == "above":
        return columns["days"] > number
    if kind == "at most":
        return columns["days"] <= number
    if kind == "id":
        return columns["id"] != number
    if kind == "no ward":
        return of(columns["ward"])
    if kind == "ward":
        return columns["ward"] == word
    return (columns["ward"] == word) | (columns["days"] > number)


def on_tables(table: Any, others: Any, kind: str, what: Any) -> Any:
    if kind == "filter":
        return table.filter(condition_on(table, what, lambda column: column.is_null()))
    if kind == "assign":
        return table.assign(days=table["days"] * 2 - what)
    if kind == "join":
        return table.join(others, on="id", how=what)
    if kind == "group":
        made = table.group_by(*what).agg(total=("days", "sum"), rows="count", most=("days", "max"))
        made = made.assign(total=made["total"] * 3 + made["rows"] - made["most"])
        kept = [name for name in what if name != "days"]
        return made.select(*kept, "total").rename({"total": "days"})
    if kind == "top":
        rows, descending = what
        names = sorted(table.columns)
        return table.order_by(*names, descending=[descending] * len(names)).limit(rows)
    if kind == "distinct":
        return table.distinct()
    return table.union(table.filter(condition_on(table, what, lambda column: column.is_null())))


def on_frames(frame: pd.DataFrame, others: pd.DataFrame, kind: str, what: Any) -> pd.DataFrame:
    if kind in ("filter", "union"):
        holds = condition_on(frame, what, lambda column: column.isna()).fillna(False).astype(bool)
        return frame[holds] if kind == "filter" else pd.concat([frame, frame[holds]])
    if kind == "assign":
        return frame.assign(days=frame["days"] * 2 - what)
    if kind == "join":
        return merged(frame, others, what)
    if kind == "group":
        made = frame.groupby(what, dropna=False, as_index=False).agg(
            total=("days", "sum"), rows=("days", "size"), most=("days", "max")
        )
        kept = [name for name in what if name != "days"]
        made["total"] = made["total"] * 3 + made["rows"] - made["most"]
        return made[[*kept, "total"]].rename(columns={"total": "days"})
    if kind == "top":
        rows, descending = what
        names = sorted(frame.columns)
        return frame.sort_values(names, ascending=not descending, na_position="last").head(rows)
    return frame.drop_duplicates()


def frames(seed: int, rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    random = np.random.default_rng(seed)
    first, second = people(random, 12)[["id", "age"]], stays(random, rows)[["id", "days", "ward"]]
    first["id"] = random.permutation(13)[:12]
    second["id"], second["days"] = second["id"] % 13, second["days"] % 10
    return first.iloc[: 4 + seed % 9], second


CHAINS = (st.integers(0, 999), st.integers(0, 9), st.lists(STEP, min_size=2, max_size=6))


def is_as_by_pandas(seed: int, rows: int, steps: list[tuple[str, Any]], protocol: str) -> None:
    first, second = frames(seed, rows)
    taken: list[tuple[str, Any]] = []
    expected, unions = second, 0
    for kind, what in steps:
        unions += kind == "union"
        if unions <= 1 and is_possible([*expected.columns], kind, what):
            taken.append((kind, what))
            expected = on_frames(expected, first, kind, what)

    @tacit.function
    def chain(others: Any, table: Any) -> Any:
        for kind, what in taken:
            table = on_tables(table, others, kind, what)
        return tacit.reveal(table.select(*expected.columns))

    plan = chain.trace(
        tacit.table("registry", LEFT, rows=14, unique="id"), tacit.table("clinic", RIGHT, rows=10)
    )
    if is_dear(plan, protocol):
        return
    with tacit.local(protocol) as run:
        got = run(plan, registry=first, clinic=second)
    same_rows(got, expected, ordered=bool(taken) and taken[-1][0] == "top")


@settings(deadline=None)
@given(*CHAINS)
def test_chains_of_steps_are_those_of_pandas(seed: int, rows: int, steps: list[tuple[str, Any]]) -> None:
    is_as_by_pandas(seed, rows, steps, "replicated")


STAY = st.sampled_from(["s.days > {0}", "s.days <= {0}", "s.id <> {1}", "s.ward = 'west'", "s.ward is null"])
PERSON = st.sampled_from(["p.age > {0}", "p.smokes", "p.age is null", "p.id < {1}"])
SUMS = "count(*) as n, sum(s.days) as d, max(s.cost) as c, count(s.dose) as doses, min(s.id) as low"


@st.composite
def queries(draw: st.DrawFn) -> str:
    joins = draw(st.sampled_from(["", "join", "left join"]))
    source = f"people p {joins} stays s on s.id = p.id" if joins else "stays s"
    one = st.one_of(STAY, PERSON) if joins else STAY
    parts = [draw(one).format(draw(st.integers(0, 50)), draw(st.integers(0, 40))) for _ in range(3)]
    signs = [draw(st.sampled_from(["and", "or", "and not", "or not"])) for _ in range(2)]
    where = f"where ({parts[0]} {signs[0]} {parts[1]}) {signs[1]} {parts[2]}"
    if draw(st.booleans()):
        keys = ["s.ward as k", "s.days > 25 as k", *(["p.age as k"] if joins else ["s.id as k"])]
        having = draw(st.sampled_from(["", "having count(*) > 1", "having sum(s.days) > 30"]))
        return f"select {draw(st.sampled_from(keys))}, {SUMS} from {source} {where} group by 1 {having}"
    columns = "s.id as id, s.days as days, s.ward as ward" + (", p.age as age" if joins else "")
    distinct = draw(st.sampled_from(["", "distinct "]))
    names = ["days", "id", "ward", *(["age"] if joins else [])]
    ways = ", ".join(f"{name} {draw(st.sampled_from(['asc', 'desc']))} nulls last" for name in names)
    order = draw(st.sampled_from(["", f"order by {ways} limit {draw(st.integers(1, 5))}"]))
    return f"select {distinct}{columns} from {source} {where} {order}"


def is_as_by_duckdb(seed: int, query: str, protocol: str) -> None:
    random = np.random.default_rng(seed)
    first, second = people(random, 14), stays(random, 23)
    plan = planned(query)
    given_ = {"registry": {"people": first}, "clinic": {"stays": second}}
    if is_dear(plan, protocol):
        return
    with tacit.local(protocol) as run:
        got = run(plan, **{owner: given_[owner] for owner in {schema.owner for schema in plan.tables}})
    same_rows(got, by_duckdb(query, first, second), ordered="order by" in query)


@settings(deadline=None)
@given(st.integers(0, 999), queries())
def test_random_queries_are_answered_as_by_duckdb(seed: int, query: str) -> None:
    is_as_by_duckdb(seed, query, "replicated")


@pytest.mark.parametrize("protocol", ["replicated-malicious", "astra", "astra-malicious", "gmw", "mascot"])
def test_other_protocols_answer_alike(protocol: str, pytestconfig: pytest.Config) -> None:
    if protocol == "mascot" and not pytestconfig.getoption("--long"):
        pytest.skip("--long asks under mascot")

    @examples(50, 2)
    @given(*CHAINS)
    def chains(seed: int, rows: int, steps: list[tuple[str, Any]]) -> None:
        is_as_by_pandas(seed, rows, steps, protocol)

    @examples(50, 2)
    @given(st.integers(0, 999), queries())
    def asked(seed: int, query: str) -> None:
        is_as_by_duckdb(seed, query, protocol)

    chains()
    asked()
