"""Functions of words and dates in SQL against DuckDB, on all words that there are, with nulls beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import tables

WORDS = ["", " a ", "Ab,c", "ba.na", "x,y,,z", "été", "xxaxx"]
KINDS = {
    "id": tables.integer(0, 99),
    "w": tables.category(WORDS, null=True),
    "v": tables.category(["", "a", "x", "AB"], null=True),
    "n": tables.integer(-3, 5, null=True),
    "p": tables.decimal(2, -1, 2),
    "b": tables.boolean(null=True),
    "day": tables.date("1998-11-05", "2004-02-29", null=True),
    "long": tables.date("1961-01-01", "2020-12-31"),
}
DECLARED = tacit.table("bank", KINDS, rows=44, unique="id", name="t")


def frame() -> pd.DataFrame:
    random = np.random.default_rng(4)
    rows = 42

    def some(values: Any) -> list[Any]:
        return [None if random.random() < 0.15 else one for one in random.choice(values, rows)]

    days = pd.date_range("1998-11-05", "2004-02-29")
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "w": pd.array([*WORDS, *some(WORDS)][:rows], "string"),
            "v": pd.array(some(["", "a", "x", "AB"]), "string"),
            "n": pd.array(some(np.arange(-3, 6)), "Int64"),
            "p": random.integers(-100, 201, rows) / 100,
            "b": pd.array(some([True, False]), "boolean"),
            "day": pd.Series(pd.to_datetime([days[0], days[-1], "2000-02-29", *some(days)][:rows])),
            "long": random.choice(pd.date_range("1961-01-01", "2020-12-31"), rows),
        }
    )


EXPRESSIONS = {
    "put together": [
        "w || '-' || v",
        "'<' || w || n",
        "concat(w, '/', v)",
        "concat(v, n, b)",
        "concat(v, null, 'x')",
        "concat_ws('-', v, w, 'e')",
        "concat_ws('-', v, n)",
        "p || 'm'",
    ],
    "changed": [
        "replace(w, 'a', 'oo')",
        "replace(w, '', 'oo')",
        "replace(w, v, '_')",
        "reverse(w)",
        "repeat(w, 2)",
        "repeat(v, n)",
        "translate(w, 'axé', 'u')",
        "lpad(w, 4, '*')",
        "rpad(w, 4, 'ab')",
        "upper(w) || lower(v)",
        "split_part(w, ',', 2)",
        "split_part(w, ',', -1)",
        "split_part(w, ',', n)",
    ],
    "cut": [
        "left(w, 2)",
        "left(w, -1)",
        "left(w, n)",
        "right(w, -1)",
        "right(w, 3)",
        "substring(w, -2)",
        "substring(w, -3, 2)",
        "substring(w, n, 2)",
        "substring(w, 2, n)",
        "substring(w, -2, n)",
        "trim(w)",
        "ltrim(w)",
        "rtrim(w, 'xa')",
        "trim(w, 'x')",
    ],
    "looked at": [
        "length(w) + n",
        "strpos(w, 'a')",
        "instr(w, v)",
        "position('a' in w)",
        "contains(w, v)",
        "starts_with(w, v)",
        "ends_with(w, 'x')",
        "w ilike 'AB%'",
        "w not ilike v",
        "regexp_matches(w, '[xy],')",
        "regexp_full_match(w, 'x+a?.*')",
        "w similar to 'x' or w ~ 'b'",
        "w in ('', 'été') or v = upper('ab')",
    ],
    "as text": [
        "cast(n as varchar)",
        "cast(p as varchar)",
        "b::varchar",
        "cast(day as text) || '!'",
        "left(cast(day as varchar), 4)",
    ],
    "months": [
        "day + interval 1 month",
        "day - interval '1 month'",
        "date_add(day, interval 14 month)",
        "day - interval 3 quarter",
        "last_day(day) - interval 1 month",
        "last_day(day) + interval 1 month",
        "day + interval 1 year",
        "long - interval 4 year",
        "date_trunc('year', day - interval 3 month)",
        "extract(day from last_day(day))",
        "day + interval 0 month",
    ],
    "dates": [
        "strftime(day, '%Y-%m')",
        "strftime(long, '%Y-%m')",
        "strftime(long, '%m/%y')",
        "strftime(day, '%d.%m.%Y')",
        "strftime(day, '%-d %B, week day %u')",
        "strftime(long, '%a')",
        "strftime(long, 'year %Y, 100%%')",
        "strftime(long, '%d')",
        "strftime(day, '%j')",
        "strftime(long, 'always')",
        "monthname(long)",
        "dayname(long)",
        "strftime(date_trunc('day', day), '%b')",
    ],
}


@pytest.mark.parametrize("group", EXPRESSIONS)
def test_words_are_those_of_duckdb(group: str) -> None:
    import duckdb

    names = {f"c{place}": one for place, one in enumerate(EXPRESSIONS[group])}
    query = f"select id, {', '.join(f'{one} as {name}' for name, one in names.items())} from t order by id"
    data = frame()
    with tacit.local(debug=True) as run:
        got = run(tacit.sql(query, t=DECLARED), bank=data)
    with duckdb.connect() as base:
        base.register("given", data)
        base.execute(
            "create view t as select * replace "
            "(p::decimal(18, 2) as p, day::date as day, long::date as long) from given"
        )
        expected = base.execute(query).df()
    for name, one in names.items():
        pairs = zip(got[name].tolist(), expected[name].tolist(), strict=True)
        for place, (value, other) in enumerate(pairs):
            assert (None if pd.isna(value) else value) == (None if pd.isna(other) else other), (
                f"{one}, {place}"
            )


def test_texts_group_and_order() -> None:
    import duckdb

    query = (
        "select strftime(day, '%Y-%m') as month, v || '/' || b as k, count(*) as n from t "
        "where strftime(day, '%Y') > '1999' group by all order by all"
    )
    data = frame()
    with tacit.local() as run:
        got = run(tacit.sql(query, t=DECLARED), bank=data)
    with duckdb.connect() as base:
        base.register("t", data)
        expected = base.execute(query).df()
    plain = [one.astype(object).where(one.notna(), None).to_numpy().tolist() for one in (got, expected)]
    assert plain[0] == plain[1]


def test_columns_of_words_are_put_together_in_programs() -> None:
    @tacit.function
    def computed(t: Any) -> Any:
        return tacit.reveal(t.assign(k="<" + t.w + "|" + t.v).select("id", "k").order_by("id"))

    data = frame()
    with tacit.local() as run:
        got = run(computed.trace(DECLARED), bank=data)["k"]
    expected = "<" + data.w + "|" + data.v
    assert [None if pd.isna(one) else one for one in got] == [
        None if pd.isna(one) else one for one in expected
    ]


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("replace(n, 'a', 'b')", "REPLACE .* no words that everybody knows\n.*category"),
        ("replace(w, n, 'b')", "by t.n, which is no text of words"),
        ("left(w, v)", "by t.v, which is no number of letters"),
        ("strftime(day, '%H')", "has no %H here\n.*%Y, %y"),
        ("strftime(day, w)", "no format that everybody knows"),
        ("strftime(n, '%Y')", "is no date\n.*declare it as date"),
        ("strftime(long, '%d %m')", "more than 10,000 values"),
        ("w || long", "more than 10,000 values"),
        ("regexp_matches(w, 'a', 'i')", "has a part that is not supported, FLAG"),
        ("regexp_matches(w, '(')", "is no regular expression"),
    ],
)
def test_what_words_have_not_is_said(expression: str, says: str) -> None:
    with pytest.raises(tacit.ProgramError, match=says):
        tacit.sql(f"select {expression} as y from t", t=DECLARED)
