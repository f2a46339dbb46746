"""Functions of columns against pandas and DuckDB, on values at the ends of ranges, ties, zeros and nulls."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = ["a", "b", "c"]
KINDS = {
    "id": tables.integer(0, 99),
    "i": tables.integer(-20, 20, null=True),
    "n": tables.integer(0, 9, null=True),
    "d": tables.decimal(2, -50, 50, null=True),
    "p": tables.decimal(1, 0, 100),
    "x": tables.number(-6, 6, null=True),
    "b": tables.boolean(null=True),
    "k": tables.category(WORDS, null=True),
    "day": tables.date("1998-11-05", "2004-02-29", null=True),
    "end": tables.date("1999-01-01", "2001-12-31"),
}
DECLARED = tacit.table("bank", KINDS, rows=40, unique="id", name="t")


def frame(seed: int = 0) -> pd.DataFrame:
    """Ends, zeros and ties, and then random rows; a sixth of the values is missing."""
    random = np.random.default_rng(seed)
    rows = 30

    def edged(edges: list[Any], others: Any) -> list[Any]:
        made = [*edges, *list(others)][:rows]
        return [None if random.random() < 1 / 6 else one for one in made]

    first, last = pd.Timestamp("1998-11-05"), pd.Timestamp("2004-02-29")
    days = first + pd.to_timedelta(random.integers(0, (last - first).days + 1, rows), unit="D")
    starts = [first, last, *(pd.Timestamp(one) for one in ("2000-02-29", "2000-03-01", "1999-12-31"))]
    steps = random.integers(-6 << 16, (6 << 16) + 1, rows) / 65536
    ends = pd.Timestamp("1999-01-01") + pd.to_timedelta(random.integers(0, 1096, rows), unit="D")
    return pd.DataFrame(
        {
            "id": random.permutation(rows),
            "i": pd.array(edged([-20, 20, 0, -7, 7, 5, -5, 15], random.integers(-20, 21, rows)), "Int64"),
            "n": pd.array(edged([0, 9, 0, 2, 3, 0], random.integers(0, 10, rows)), "Int64"),
            "d": pd.array(
                edged(
                    [-50, 50, 0, 0.5, -0.5, 0.05, -0.05, 2.5, -2.5, 0.01],
                    random.integers(-5000, 5001, rows) / 100,
                ),
                "Float64",
            ),
            "p": np.array([0, 100, 0.5, 1, 0.1, *random.integers(0, 1001, rows) / 10][:rows]),
            "x": pd.array(edged([-6, 6, 0, 0.5, -0.5, 1.5, -2.5, 0.125, -0.125, 2**-16], steps), "Float64"),
            "b": pd.array(edged([], random.random(rows) < 0.5), "boolean"),
            "k": pd.array(edged([], random.choice(WORDS, rows)), "string"),
            "day": pd.Series(edged(starts, days)),
            "end": ends,
        }
    )


def plain(value: Any) -> Any:
    """A value that can be compared; what is missing, or no finite number, is `None`."""
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return None
    if isinstance(value, (pd.Timestamp, datetime.date)):
        return str(value)[:10]
    if isinstance(value, (bool, np.bool_, str)):
        return value if isinstance(value, str) else bool(value)
    number = float(value)
    return number if math.isfinite(number) else None


def same_columns(got: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Column by column, in order of `id`; numbers within some steps, or parts, of one another."""
    assert list(got.columns) == list(expected.columns)
    got, expected = (one.sort_values("id") for one in (got, expected))
    for name in got.columns:
        pairs = zip(map(plain, got[name]), map(plain, expected[name]), strict=True)
        for place, (one, other) in enumerate(pairs):
            near = pytest.approx(other, rel=1e-5, abs=5e-5) if isinstance(other, float) else other
            assert one == near, f"{name} in row {place}: {one}, not {other}"


def run(plan: tacit.Plan, data: pd.DataFrame) -> Any:
    with tacit.local() as session:
        return session(plan, bank=data)


# Whatever an expression is, it is of a table as of a frame.
EXPRESSIONS: dict[str, list[Callable[[Any], Any]]] = {
    "arithmetic": [
        lambda t: t.d / (t.p * t.p + 1),
        lambda t: t["i"] * 2 + t.n - 3,
        lambda t: np.float64(0.1) * t.p,
        lambda t: t.p * math.pi + t.d * math.e,
        lambda t: t.x * math.pi / 3,
        lambda t: 100 / (t.p + 1),
        lambda t: 1 - t.x,
        lambda t: t.p - np.int64(3),
        lambda t: np.add(t.i, t.d) * np.subtract(1, t.x),
        lambda t: t.i.astype(float) * t.b,
        lambda t: t.p.astype("int64") + (t.p.astype("float64") > 3),
    ],
    "roots and logarithms": [
        lambda t: np.sqrt(t.p),
        lambda t: np.sqrt(abs(t.d)),
        lambda t: np.sqrt(t.n) + np.sqrt(np.abs(t.x)),
        lambda t: np.log(t.p),
        lambda t: np.log(t.d * t.d + 0.01),
        lambda t: np.log2(t.n + 1),
        lambda t: np.log10(t.p + 0.1),
        lambda t: np.log1p(t.p),
        lambda t: np.exp(t.x),
        lambda t: np.exp(-t.n),
        lambda t: np.expm1(t.x / 2) + np.exp2(t.x),
        lambda t: np.tanh(t.x) + np.cbrt(t.p + 1),
        lambda t: np.hypot(t.d, t.p),
        lambda t: np.reciprocal(t.p + 0.5),
        lambda t: 1 / (1 + np.exp(-t.x)),
    ],
    "powers": [
        lambda t: t.i**2 + t.n**3,
        lambda t: t.d**2,
        lambda t: t.p**0.5,
        lambda t: t.x**3,
        lambda t: np.power(t.p + 1, -1),
        lambda t: (t.p + 1) ** -2.0,
        lambda t: (t.p + 0.5) ** 1.5,
        lambda t: np.square(t.x) + t.p**0,
    ],
    "whole numbers": [
        lambda t: abs(t.i) + np.abs(t.d) + t.x.abs(),
        lambda t: np.sign(t.d) + np.sign(t.x) + np.sign(t.i),
        lambda t: np.floor(t.d),
        lambda t: np.ceil(t.d) + np.trunc(t.d),
        lambda t: np.floor(t.x) + np.ceil(t.p),
        lambda t: np.trunc(t.x) + np.ceil(t.x),
        lambda t: t.i // 3 + t.i % 3,
        lambda t: t.i // -4 + t.i % -4,
        lambda t: t.p // 0.5,
        lambda t: np.fmod(t.i, 7),
        lambda t: t.n // (t.p + 1),
        lambda t: t.i % (t.n + 1),
        lambda t: np.round(t.p / 1 * 0 + t.n * 1.25, 1) * 0 + np.rint(t.n * 2),
    ],
    "choices": [
        lambda t: np.where(t.p > 3, t.p, 0),
        lambda t: np.where(t.n > 3, "many", "few"),
        lambda t: np.select([t.p > 50, t.p > 10], [2, 1.5], default=-1),
        lambda t: t.d.clip(-1, 2.5),
        lambda t: t.i.clip(lower=0) + t.x.clip(upper=0.5),
        lambda t: np.clip(t.p, 10, 20),
        lambda t: np.maximum(t.d, t.p) + np.minimum(t.i, 3),
        lambda t: np.maximum(t.end, pd.Timestamp("2000-06-01")),
        lambda t: np.isnan(t.x) if isinstance(t, tables.Table) else t.x.isna(),
        lambda t: (t.p > 5) ^ (t.p > 50),
        lambda t: np.logical_and(t.p > 5, np.logical_not(t.p > 50)),
        lambda t: t.n * (t.p > 20),
    ],
    "what is mapped": [
        lambda t: t.k.map({"a": 4, "c": 2.5}),
        lambda t: t.k.map({"a": True, "b": False, "c": True}),
        lambda t: t.p.map(lambda p: "tall" if p > 60.5 else "small"),
        lambda t: t.n.map({0: "none", 1: "one"}),
        lambda t: t.n.map(lambda n: None if n != n or n == 4 else n * n - 1.5),
        lambda t: t.i.map(lambda i: None if i != i else "low" if i < -3 else "high" if i > 12 else "some"),
        lambda t: t.k.map(lambda k: None if k is pd.NA else 1 / (ord(k) - 90)),
    ],
}


def by_pandas(data: pd.DataFrame, apply: Callable[[Any], Any]) -> Any:
    # NumPy's functions of floats have NaN, where those of nullable types would have to be told.
    numbers = {name: data[name].astype(float) for name in ("i", "n", "d", "x", "b")}
    with np.errstate(all="ignore"):
        return apply(data.assign(**numbers))


@pytest.mark.parametrize("group", EXPRESSIONS)
def test_columns_are_computed_as_by_pandas(group: str) -> None:
    data = frame(len(group))

    @tacit.function
    def computed(t: Any) -> Any:
        made = {f"c{place}": one(t) for place, one in enumerate(EXPRESSIONS[group])}
        return tacit.reveal(t.assign(**made).select("id", *made))

    expected = {f"c{place}": by_pandas(data, one) for place, one in enumerate(EXPRESSIONS[group])}
    same_columns(run(computed.trace(DECLARED), data), pd.DataFrame({"id": data["id"], **expected}))


QUERIES = {
    "arithmetic": "i / 4, d * 2 - p, -x, p * pi(), d / nullif(n, 0), i % 7, mod(i, -4), i // 3, i // -4, "
    "d % 1.5, -7 // 2 + i, -7.5 % 2 + i, round(-2.5) + i, round(cast(p is null as integer), -1) + i, "
    "abs(i) % nullif(n, 0), i // nullif(n, 0), x % 0.5",
    "functions": "abs(i), abs(d) + abs(x), sqrt(p), sqrt(abs(d)), ln(p + 0.1), log(p + 0.1), log2(n + 1), "
    "log(3, p + 1), exp(x), sign(d) + sign(i) + sign(x), cbrt(p + 1), tanh(x), sqrt(2) * p, "
    "power(d, 2), pow(i, 3), x ** 2, power(p + 1, 0.5), power(p + 0.5, -1)",
    "rounded": "round(d), round(d, 1), round(x), round(x, 2), round(i, -1), round(p, 3), round(x * 10, -1), "
    "floor(d), ceil(d), trunc(d), floor(x), ceil(x), trunc(x), floor(i), round(p * 1.5, 0), ceil(p)",
    "choices": "greatest(i, n), least(d, p, x), greatest(n, null, 3), case when i > 3 then d else 0 end, "
    "case k when 'a' then 1 when 'b' then 2 end, case when b then p end, coalesce(i, n, -1), "
    "coalesce(d, x), nullif(n, 0), if(p > 3, 'x', 'y'), i is distinct from n, i is not distinct from n, "
    "coalesce(k, 'none'), cast(b as int) + 1, (i > 3)::int, greatest(day, date '2000-01-01'), "
    "greatest(k, 'b'), least(k, 'b')",
    "dates": 'extract(year from day), extract(quarter from day), extract(month from day), month("end"), '
    "extract(day from day), dayofweek(day), extract(isodow from day), date_part('day', \"end\"), "
    "date_diff('day', day, \"end\"), date_diff('month', day, \"end\"), date_diff('year', day, \"end\"), "
    "datediff('quarter', day, date '2001-01-01'), \"end\" - day, day + 30, year(day) * 100 + month(day), "
    "quarter(day), day(day), date_trunc('month', day), date_trunc('week', day), "
    "date_trunc('quarter', \"end\"), date_trunc('year', day), extract(doy from day), "
    "dayofyear(day), day - interval 2 week",
}


def by_duckdb(query: str, data: pd.DataFrame) -> pd.DataFrame:
    import duckdb

    with duckdb.connect() as base:
        base.register("frame", data)
        base.execute(
            "create view t as select * replace (d::decimal(6, 2) as d, p::decimal(6, 1) as p, "
            'day::date as day, "end"::date as "end") from frame'
        )
        return base.execute(query).df()


@pytest.mark.parametrize("group", QUERIES)
def test_expressions_are_those_of_duckdb(group: str) -> None:
    data = frame(len(group) + 10)
    columns = tables_of(QUERIES[group])
    query = f"select id, {', '.join(f'{one} as c{place}' for place, one in enumerate(columns))} from t"
    same_columns(run(tacit.sql(query, t=DECLARED), data), by_duckdb(query, data))


def tables_of(listed: str) -> list[str]:
    """The expressions of a list, between whose brackets commas are theirs."""
    found, depth = [""], 0
    for letter in listed:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [one.strip() for one in found]


WHOLE = st.sampled_from(["i", "n", "year(day) - 2000", 'month("end")', "cast(b as integer)"])
EXACT = st.sampled_from(["d", "p"])
LITERAL = st.sampled_from(["-3", "0", "2", "7"])


def expressions(depth: int, *, whole: bool) -> st.SearchStrategy[str]:
    """Expressions of integers and decimals, whose values are exact in both."""
    if not depth:
        return WHOLE if whole else EXACT
    one = expressions(depth - 1, whole=whole)
    other = st.one_of(one, LITERAL)
    holds = conditions(depth - 1)
    forms = [
        "({0} + {1})",
        "({0} - {1})",
        "({0} * {1})",
        "-({0})",
        "abs({0})",
        "({0} % nullif({5}, 0))",
        "greatest({0}, {1})",
        "least({0}, {1})",
        "coalesce({0}, {1})",
        "nullif({0}, {1})",
        "case when {2} then {0} else {1} end",
        "case when {2} then {0} end",
    ]
    if whole:
        exact = expressions(depth - 1, whole=False)
        forms += [
            "({0} // nullif({5}, 0))",
            "sign({3})",
            "cast(round({0}, -1) as bigint)",
            "cast(({2}) as integer)",
        ]
        forms += [f"cast({how}({{3}}) as bigint)" for how in ("floor", "ceil", "round", "trunc")]
    else:
        exact = one
        forms += ["round({0}, 1)", "({0} + {4})", "({0} * {4})"]
    parts = st.tuples(one, other, holds, exact, expressions(depth - 1, whole=True), one)
    return st.builds(lambda form, parts: form.format(*parts), st.sampled_from(forms), parts)


def conditions(depth: int) -> st.SearchStrategy[str]:
    several = [expressions(depth, whole=whole) for whole in (True, False)]
    parts = st.tuples(*several, LITERAL, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]))
    forms = [
        "{0} {3} {1}",
        "{1} {3} {2}",
        "{0} {3} {2} and {1} > {2}",
        "{0} {3} {2} or b",
        "not ({1} {3} {0})",
        "{0} is distinct from {2}",
        "{1} is not null",
        "{0} between {2} and 9",
        "{0} in ({2}, 5)",
    ]
    return st.builds(lambda form, parts: form.format(*parts), st.sampled_from(forms), parts)


@settings(deadline=None)
@given(
    st.integers(0, 999),
    st.lists(st.one_of(*(expressions(2, whole=whole) for whole in (True, False))), min_size=3, max_size=3),
    conditions(1),
)
def test_random_expressions_are_those_of_duckdb(seed: int, several: list[str], condition: str) -> None:
    data = frame(seed).head(12)
    listed = ", ".join(f"{one} as c{place}" for place, one in enumerate([*several, condition]))
    query = f"select id, {listed} from t where ({condition}) is distinct from true or n > 1"
    table = tacit.table("bank", KINDS, rows=12, unique="id", name="t")
    same_columns(run(tacit.sql(query, t=table), data), by_duckdb(query, data))


def test_functions_of_tacit_take_columns() -> None:
    data = frame(3)

    @tacit.function
    def computed(t: Any) -> Any:
        made = {
            "sigmoid": tacit.sigmoid(t.x),
            "cdf": tacit.normal_cdf(t.d),
            "root": tacit.sqrt(t.p) - tacit.rsqrt(t.p),
            "most": tacit.maximum(t.i, 3) + tacit.minimum(t.n, t.i),
            "near": tacit.where(t.p > 3, tacit.clip(t.d, -1, 1), tacit.relu(t.x)),
            "parts": tacit.divide(t.d, t.n) + tacit.tanh(t.x) + tacit.exp(t.x) + tacit.log(t.p + 1),
        }
        return tacit.reveal(t.assign(**made).select("id", *made))

    x, d, n, i = (data[name].astype(float) for name in ("x", "d", "n", "i"))
    cdf = d.map(lambda one: 0.5 * math.erfc(-one / math.sqrt(2)))
    with np.errstate(all="ignore"):
        expected = {
            "sigmoid": 1 / (1 + np.exp(-x)),
            "cdf": cdf,
            "root": np.sqrt(data.p) - 1 / np.sqrt(data.p),
            "most": np.maximum(i, 3) + np.minimum(n, i),
            "near": np.where(data.p > 3, d.clip(-1, 1), np.maximum(x, 0)),
            "parts": d / n.where(n != 0) + np.tanh(x) + np.exp(x) + np.log(data.p + 1),
        }
    same_columns(run(computed.trace(DECLARED), data), pd.DataFrame({"id": data["id"], **expected}))


def test_ranges_and_types_follow() -> None:
    found: dict[str, Any] = {}

    @tacit.function
    def typed(t: Any) -> Any:
        made = {
            "abs": abs(t.i),
            "round": t.d.round(1),
            "whole": t.d.round(),
            "floor": np.floor(t.x),
            "clip": t.d.clip(-1, 2),
            "left": t.i % 7,
            "square": t.d**2,
            "root": np.sqrt(t.p),
            "bmi": t.d / t.p,
            "day": t.day.day(),
            "weekday": t.end.weekday(),
            "month": t.day.start_of("month"),
            "week": t.end.start_of("week"),
            "most": np.fmax(t.i, 3),
            "points": t.k.map({"a": 4, "b": 2.5, "c": 1}),
            "none": np.where(t.b, t.i, None),
        }
        found.update({name: str(column.type) for name, column in made.items()})
        return tacit.reveal(t.assign(**made))

    typed.trace(DECLARED)
    assert found == {
        "abs": "integer(0, 20) or null",
        "round": "decimal(-50, 50, places=1) or null",
        "whole": "integer(-50, 50) or null",
        "floor": "integer(-6, 6) or null",
        "clip": "decimal(-1, 2, places=2) or null",
        "left": "integer(0, 6) or null",
        "square": "decimal(0, 2500, places=4) or null",
        "root": "number(0, 10, bits=16)",
        "bmi": found["bmi"],
        "day": "integer(1, 31) or null",
        "weekday": "integer(0, 6)",
        "month": "date(1998-11-01, 2004-02-01) or null",
        "week": "date(1998-12-28, 2001-12-31)",
        "most": "integer(3, 20)",
        "points": "decimal(1, 4, places=1) or null",
        "none": "integer(-20, 20) or null",
    }
    assert found["bmi"].endswith("bits=16) or null")


def test_comparisons_with_numbers_between_those_of_a_column_are_exact() -> None:
    data = pd.DataFrame({"id": range(6), "p": [0, 0.1, 0.2, 0.3, 99.9, 100]})
    other = 0.2000000001

    @tacit.function
    def compared(t: Any) -> Any:
        made = {
            "less": t.p < other,
            "most": t.p <= other,
            "more": t.p > other,
            "least": t.p >= other,
            "same": t.p == other,
            "differs": other != t.p,
        }
        return tacit.reveal(t.assign(**made).select("id", *made))

    table = tacit.table("bank", {"id": KINDS["id"], "p": KINDS["p"]}, rows=6)
    p = data.p
    expected = {
        "less": p < other,
        "most": p <= other,
        "more": p > other,
        "least": p >= other,
        "same": p == other,
        "differs": p != other,
    }
    same_columns(run(compared.trace(table), data), pd.DataFrame({"id": data.id, **expected}))


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda t: np.sqrt(t.k), "`sqrt` of 'k', which is category\\(3 words\\) or null, .*\n.*x.map"),
        (lambda t: np.exp(t.day), "`exp` of 'day'.*\n.*year"),
        (lambda t: t.k + 1, "`\\+` of 'k', which is category"),
        (lambda t: t.k * 2, "`\\*` of 'k'"),
        (lambda t: np.sin(t.x), "no `sin` of columns"),
        (lambda t: np.sum(t.x), "no `sum` of columns\n.*group_by\\(\\).agg"),
        (lambda t: np.add.reduce(t.x), "np.add.reduce"),
        (lambda t: 2**t.n, "exponent .* not 'n', .*\n.*np.exp2"),
        (lambda t: t.p**t.n, "exponent .* public"),
        (lambda t: t.d**10, "20 decimal places"),
        (lambda t: t.n // t.i, "`//` by 'i', .* above 0 and below\n.*np.fmod"),
        (lambda t: t.n % 0, "`%` by 0"),
        (lambda t: t.n / 0, "divided by 0"),
        (lambda t: t.x.round(0.5), "round to 0.5 places"),
        (lambda t: t.x + np.arange(40), "can't stand beside a column"),
        (lambda t: t.x + None, "missing value beside a column\n.*is_null"),
        (lambda t: t.x == np.nan, "missing value"),
        (lambda t: np.where(t.b), "filter"),
        (lambda t: np.where(t.x, 1, 0), "a condition is needed, not 'x'"),
        (lambda t: np.maximum(t.b, t.b), "`maximum` of 'b'.*\n.*bools"),
        (lambda t: np.clip(t.k, "a", "b"), "`clip` of 'k'"),
        (lambda t: np.sqrt(t.x, where=t.b), "takes other arguments"),
        (lambda t: t.x.astype(str), "'x', .* as str\n.*map"),
        (lambda t: t.x.map(lambda one: one), "map of 'x'.*\n.*arithmetic"),
        (lambda t: t.k.map({"a": 1, "b": "two"}), "values of several kinds"),
        (lambda t: t.k.map({}), "map of .k.* makes nothing"),
        (lambda t: t.x.day(), "'x', .* has no year, month or day"),
        (lambda t: t.x.like("a%"), "'x', .* has no words"),
        (lambda t: t.x * 1e-25, "too small to stand beside a column"),
        (lambda t: t.x.astype("category"), "'x', .* as category"),
        (lambda t: t["x", "p"], r"is no column\n.*\['x', 'p'\]"),
        (lambda t: t[pd.isna(t.x)], "NumPy array\n.*is_null\\(\\) is pd.isna"),
        (lambda t: t[t.x is None], "is no condition on columns\n.*is_null"),
        (lambda t: np.where(t.x is None, 0, t.x), "has a condition that is no column\n.*is_null"),
        (lambda t: [one for one in t.x], "can't be used for a loop"),  # noqa: C416
        (lambda t: sorted(t), "a loop over its rows"),
        (
            lambda t: t.p - t.group_by().agg(m=("p", "mean")).m,
            "stand otherwise: 'p', .* the table t, and 'm', .* those of `t.group_by.*\n.*cross",
        ),
        (lambda t: np.where(t.group_by().agg(m=("p", "max")).m > 3, t.p, 0), "rows that stand otherwise"),
        (lambda t: t.x > 3 and t.p > 3, "can't steer if, and"),
        (lambda t: t.filter("x > 3"), "is a text and no condition\n.*tacit.sql"),
        (lambda t: t.group_by("k").agg({"x": "sum"}), "\n.*name the results"),
        (lambda t: t.group_by("k").agg(x=["sum", "mean"]), 'is no aggregate\n.*x=\\("column", "sum"\\)'),
        (lambda t: t.group_by("k").agg(x=("b", "std")), "there is no std of boolean.*\n.*astype"),
        (lambda t: t.group_by("k").agg(x=("day", "var")), "there is no var of date"),
        (lambda t: t.group_by("k")["x"], "name the results"),
        (lambda t: tacit.reveal(t.x), "a column of one\n.*t.select"),
        (lambda t: t.join(t, how="cross"), "cross join of up to 40 rows"),
        (lambda t: t.join(t.limit(1), on="id", how="cross"), "takes no columns"),
    ],
)
def test_what_columns_have_not_is_said_with_their_name(use: Callable[[Any], Any], says: str) -> None:
    def computed(t: Any) -> Any:
        return tacit.reveal(t.assign(y=use(t)))

    with pytest.raises(tacit.ProgramError, match=says):
        tacit.function(computed).trace(DECLARED)


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda t: t.nothing, "a table has no 'nothing'\n.*there are the columns id, i, n"),
        (lambda t: t.groupby("k"), "a table has no 'groupby'\n.*group_by"),
        (lambda t: t.x.isna(), "a column has no 'isna'\n.*is_null"),
        (lambda t: t.k.eq("a"), "use x == y"),
        (lambda t: t.day.dt, "dates have year"),
        (lambda t: t.x.mean(), "group_by\\(\\).agg"),
        (lambda t: t.group_by("k").mean(), "a group has no 'mean'\n.*name the results"),
    ],
)
def test_attributes_of_pandas_are_said_as_they_are_called_here(use: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(AttributeError, match=says):
        tacit.function(lambda t: tacit.reveal(use(t))).trace(DECLARED)


def test_a_table_is_not_changed() -> None:
    def computed(t: Any) -> Any:
        t["y"] = t.x * 2
        return tacit.reveal(t)

    with pytest.raises(tacit.ProgramTypeError, match=r"can't be changed\n.*t.assign\(y=...\)"):
        tacit.function(computed).trace(DECLARED)


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("b + 1", "takes numbers, and there is a bool\n.*CAST"),
        ("sqrt(b)", "takes numbers, and there is a bool"),
        ("sqrt(k)", "`sqrt` of 't.k'"),
        ("log(n, p)", "has no base that everybody knows"),
        ("round(p, n)", "places that nobody knows"),
        ("trunc(d, 1)", "TRUNC .* is not supported"),
        ("sqrt(-1) * p", "has no value"),
        ("sigmoid(x)", "there is no function SIGMOID"),
        ("sin(x)", "SIN .* is not supported"),
        ("extract(century from day)", "dates have year, quarter"),
        ("date_diff('week', day, \"end\")", "differences in days"),
        ("cast(d as integer)", "ROUND"),
        ("power(2, n)", "exponent of \\*\\*"),
        ("d // 2", "is of integers\n.*TRUNC"),
        ("floor(d) // 2", "is of integers"),
    ],
)
def test_what_sql_has_not_is_said(expression: str, says: str) -> None:
    with pytest.raises(tacit.ProgramError, match=says):
        tacit.sql(f"select {expression} as y from t", t=DECLARED)


@pytest.mark.parametrize("least", [0, 1000])
def test_one_row_goes_beside_all_others(least: int) -> None:
    data = frame(8)

    @tacit.function
    def computed(t: Any) -> Any:
        # Of no rows the mean is null, and the first of none puts no row beside another.
        mean = t[t.p >= least].group_by().agg(p=("p", "mean"))
        first = t[t.p >= least].order_by("p", "id").limit(1).select("p")
        less = t.join(mean, how="cross", suffix="_mean").assign(c=lambda t: t.p - t.p_mean)
        return {
            "mean": tacit.reveal(less.select("id", "c")),
            "first": tacit.reveal(t.join(first.rename({"p": "least"}), how="cross").select("id", "least")),
        }

    got = run(computed.trace(DECLARED), data)
    some = data.p[data.p >= least]
    same_columns(got["mean"], pd.DataFrame({"id": data.id, "c": data.p - some.mean()}))
    same_columns(got["first"], pd.DataFrame({"id": data.id, "least": some.min()})[: 30 * (len(some) > 0)])


def test_lists_of_names_are_names() -> None:
    found: list[Any] = []

    @tacit.function
    def computed(t: Any) -> Any:
        for one, other in [
            (t.select(["id", "k"]), t.select("id", "k")),
            (t.group_by(["k", "b"]).agg(n="count"), t.group_by("k", "b").agg(n="count")),
            (t.order_by(["k", "id"], descending=True), t.order_by("k", "id", descending=True)),
            (t.drop_nulls(["k", "b"]), t.drop_nulls("k", "b")),
        ]:
            found.append((one.schema, other.schema, one.facts, other.facts))
        return tacit.reveal(t)

    computed.trace(DECLARED)
    assert all(one[:1] == one[1:2] and one[2] == one[3] for one in found)


@pytest.mark.parametrize("protocol", ["replicated-malicious", "astra", "gmw"])
def test_functions_are_alike_under_other_protocols(protocol: str) -> None:
    data = frame(5).head(6)
    table = tacit.table("bank", KINDS, rows=6, unique="id", name="t")
    query = "select id, round(d, 1) as a, greatest(i, n) as b, i // nullif(n, 0) as c, day(day) as d"
    with tacit.local(protocol) as session:
        got = session(tacit.sql(f"{query} from t", t=table), bank=data)
    same_columns(got, by_duckdb(f"{query} from t", data))
