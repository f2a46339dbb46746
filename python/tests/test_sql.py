"""Queries on secret tables against DuckDB, and what is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import tables
from tests.test_tables import STAYS, people, rows_of, same_rows, stays

PEOPLE = {
    "id": tables.integer(0, 40),
    "age": tables.integer(0, 120, null=True),
    "born": tables.date("1950-01-01", "1999-12-31"),
    "smokes": tables.boolean(null=True),
}
DECLARED = {
    "people": tacit.table("registry", PEOPLE, rows=16, unique="id", name="people"),
    "stays": tacit.table("clinic", STAYS, rows=26, name="stays"),
}

QUERIES = [
    "select id, days, cost from stays where days > 20 and ward = 'west' or dose < 0",
    "select id, days from stays where not (dose > 1 or ward like 'e%')",
    "select ward, count(*) as n, sum(days) as days, avg(cost) as mean, max(days) as high from stays "
    "group by ward",
    "select id, sum(dose) as dose, count(dose) as n from stays group by id having count(*) > 1",
    "select s.ward, count(*) as n, sum(s.cost) as cost from people p join stays s on s.id = p.id "
    "where p.age > 30 group by s.ward",
    "select p.id, count(s.days) as n, sum(s.days) as days from people p left join stays s "
    "on s.id = p.id and s.days > 10 group by p.id",
    "select p.id, p.age from people p where exists (select * from stays s where s.id = p.id and s.days > 25)",
    "select p.id from people p where not exists (select * from stays s where s.id = p.id)",
    "select p.id, p.born from people p where p.id in (select id from stays where ward = 'north')",
    "select id from people where id not in (select id from stays where id is not null)",
    "select ward, days from stays order by days desc, ward limit 3",
    "select distinct ward, days > 25 as long from stays",
    "select id, days from stays where days > (select avg(days) from stays)",
    "select s.days, s.id from stays s where s.days = (select max(t.days) from stays t where t.id = s.id)",
    "select case when days < 10 then 'short' when days < 30 then 'some' else 'long' end as kind, "
    "count(*) as n from stays group by 1",
    "select extract(year from born) as year, count(*) as n from people group by 1 having count(*) >= 1",
    "select id from people union select id from stays where id is not null",
    "select id, days from stays where ward = 'east' "
    "union all select id, age from people where age is not null",
    "with long as (select id, days from stays where days > 20) "
    "select p.id, l.days from people p join long l on l.id = p.id",
    "select coalesce(ward, 'none') as place, cost * 2 - days as rest, -days as down from stays",
    "select count(distinct id) as ids, count(*) as n, min(cost) as low from stays",
    "select a.id from (select id, sum(days) as total from stays group by id) a "
    "where a.total between 20 and 60",
    "select p.id from people p where p.smokes is null or p.smokes",
    "select id from people p where age not in (select days from stays where days > 50)",
    "select p.id, s.ward from people p left join (select ward from stays where days > 50 limit 1) s on true",
    "select p.id, s.days from people p left join (select max(days) as days from stays) s on s.days > 3",
    "select p.id from people p where age > 60 or age > (select days from stays where days > 50 limit 1)",
    "select p.id from people p where (select days from stays where days > 50 limit 1) is null",
    "select p.id from people p where (select days from stays order by days limit 1) is null",
    "select p.id from people p left join (select distinct id, true as known from stays) s on s.id = p.id "
    "where (p.age > 30 or s.known) = (p.age > 20)",
    "select p.id from people p left join stays s on s.id = case when p.age > 30 then p.id end "
    "where s.id is null",
    "select ward from stays group by ward having count(*) > 3 or "
    "sum(days) > (select days from stays where days > 50 limit 1)",
    "select substring(ward, 0, 3) as a, substring(ward, 0) as b, substring(ward, 2, 1) as c from stays",
    "select id, cast(days as bigint) as days, days::double as x, cost::decimal(18, 3) as cost, "
    "try_cast(dose as double) as dose from stays",
    'select id as "order 0", days as "order by" from stays order by days, cost',
    "select ward, count(*) filter (where days > 20) as long, sum(days) filter (where dose > 0) as days, "
    "count(dose) filter (where id < 20 or cost > 500) as doses, count(distinct id) "
    "filter (where days > 9) as ids from stays group by ward",
    "select count_if(days > 20) as n, avg(cost) filter (where ward = 'west') as mean, "
    "max(days) filter (where days < 0) as none from stays",
    "select ward, stddev(days) as a, var_samp(cost) as b, var_pop(days) as c, stddev_pop(dose) as d, "
    "stddev(days) filter (where dose > 0) as e from stays group by ward",
    "select id, stddev(days) as a, var_pop(days) as b from stays group by id",
    "select ward, bool_or(days > 20) as a, bool_and(dose > 0) as b, "
    "bool_or(dose > 3) filter (where days < 9) as c from stays group by ward",
    "select ward, median(days) as a, count(*) as n, sum(dose) as s, median(dose) as b, median(days + 1) "
    "filter (where dose > 0) as c from stays group by ward having median(days) > 5",
    "select id, median(days) as a, max(cost) as b from stays where days > 5 group by id",
    "select median(days) as a, median(dose) as b, avg(cost) as c, count(distinct id) as d from stays",
    # Groups of rows that a window or an order has put in line.
    "select ward, id, max(r) as m, count(*) as n from (select ward, id, rank() over (partition by ward, id "
    "order by days desc) as r from stays where days > 3) t group by ward, id",
    "select id, days, max(c) as m, count(*) as n from (select id, days, count(*) over (partition by id "
    "order by days desc) as c from stays) t group by id, days",
    "select upper(ward) as a, lower(ward || '_X') as b, 'no ' || ward as c from stays",
    "select s.id, s.days from stays s "
    "where exists (select * from stays t where t.id = s.id and t.days <> s.days)",
    "select corr(days, cost) as a, covar_pop(days, cost) as b, covar_samp(days, dose) as c, "
    "regr_slope(days, cost) as d, regr_r2(days, dose) as e, regr_count(days, dose) as f from stays",
    "select ward, corr(days, dose) as a, covar_samp(id, dose) as b, regr_slope(days, id) as c, "
    "corr(days, cost) filter (where days > 20) as d from stays group by ward",
    "select id, corr(days, dose) as a, covar_samp(days, cost) as b, covar_pop(dose, days) as c from stays "
    "group by id",
    # Of no differences there is none; of one pair neither.
    "select corr(days, -days) as a, corr(cost, cost * 2) as b, corr(days, 5) as c, covar_samp(days, 3) as d "
    "from stays where days > 4",
    "select corr(days, id) as a, covar_samp(days, id) as b, regr_slope(days, id) as c, regr_count(days, id) "
    "as d from stays where days > 90",
    "select days, cost, id from stays order by days, cost, id limit 3 offset 2",
    "select days, cost, id from stays order by days, cost, id offset 20",
    "select count(*) as n from (select id from stays order by cost, id limit 5 offset 3) t where id > 3",
    "select id, dose, days from stays order by dose desc nulls first, days desc, id limit 9 offset 1",
    "select ward, cost, id from stays order by ward desc nulls first, cost, id",
    "select distinct ward from stays order by ward nulls first",
    "select id from people union select id from stays order by id desc nulls first offset 1",
    "select ward, sum(days) as d from stays group by ward order by sum(dose) nulls first, ward",
    "select s.id, p.age from stays s join people p using (id)",
    "select id, date_trunc('month', born) as m, date_trunc('year', born) as y, date_trunc('quarter', "
    "born) as q, "
    "date_trunc('week', born) as w, extract(doy from born) as d from people",
    "select date_trunc('month', born) as m, count(*) as n from people group by all order by all",
    "select id, born + interval 3 day as a from people where born + interval 3000 day < date '1985-01-01' "
    "and born - interval '2 weeks' > date '1960-01-01' and born > date_trunc('year', date '1961-05-05')",
    "select ward ilike 'E%' as a, ward not ilike '%TH' as b, length(ward) as c, trim(ward) as d, "
    "left(ward, 2) as e, right(ward, 3) as f, starts_with(ward, 'no') as g, contains(ward, 'es') as h, "
    "ends_with(ward, 't') as i from stays",
    "select ward, days > 20 as long, stddev(days) as s, count(*) filter (where days > 3) as n from stays "
    "group by all order by all desc nulls first",
    "select id from stays except select id from people",
    "select ward, days > 25 as x from stays where id > 9 except select ward, false from stays order by ward",
    "select id, dose > 0 as d from stays intersect select id, smokes from people",
    "select ward from stays intersect select ward from stays where days > 40 order by 1 nulls first limit 2",
    "select id, any_value(age) as a, count(*) as n from people group by id",
    # What is of no column is no key, nor the place of one.
    "select 3 as three, ward, sum(days) as d, 'x' as w from stays group by all",
    "select 'x' as w, sum(days) as d from stays where days > 90 group by all",
    "select if(days > 20, null, days) as a, if(dose > 0, ward, null) as b, trim(ward, 'et') as c from stays",
    # Groups of nulls: of rows without a match, and of a key that is unique as it was grouped by.
    "with w as (select ward, max(days) as d from stays group by ward) select ward, d, count(*) as n from w "
    "group by ward, d",
    "select p.id, p.born, count(*) as n from stays s left join people p on p.id = s.id group by p.id, p.born",
    # Where null is as good as false, and where there is none.
    "select id from people where age > 60 or smokes and age in (select days from stays)",
    "select case when age in (select days from stays) then 1 else 2 end as x, id from people",
    "select id, days from stays where not (days > 30 or days in (select id from people where smokes))",
    "select days, days in (select days + 3 from stays) as x from stays",
    "select id, not exists (select age from people p where p.age = s.id) as x from stays s",
    "select stddev(days) filter (where not exists (select age from people p where p.age = s.id)) as x "
    "from stays s",
    "select case ward when 'east' then 1 when 'west' then 2 end as a, days not between 3 and 20 as b "
    "from stays",
    "select id, s.days, p.age from stays s left join people p using (id)",
    "select case ward when 'east' then 1 when 'west' then 2 else 3 end as g, count(*) as n, "
    "sum(case id when 3 then days when 4 then 1 end) as d from stays group by 1",
    # One row beside all others, also if it has no value.
    "select id, (select max(days) from stays) as x, age - (select min(id) from stays where days > 90) as y "
    "from people",
    "select ward, sum(days) * (select count(*) from people) as x, "
    "sum(id + (select max(id) from people)) as y from stays group by ward",
    "select ward, count(*) as n, (select max(id) from people) as x from stays group by ward",
    "select id, (select count(*) from people p where p.id = s.id) as n from stays s",
    "select days from stays where id in (select id from people where smokes or age > 40)",
    # RIGHT JOIN is LEFT JOIN turned round; FULL JOIN has rows of both sides that match none.
    "select s.id, s.days, p.id as p, p.age from stays s right join people p on s.id = p.id",
    "select id, days, ward, age, smokes from stays s right join people p using (id)",
    "select * from stays s right outer join (select id as k, age from people where age > 20) p on s.id = p.k",
    "select p.id, count(s.days) as n from stays s right join people p on s.id = p.id and s.days > 10 "
    "group by p.id",
    "select p.id, s.days, q.age from stays s right join people p on s.id = p.id "
    "join people q on q.id = p.id where q.age > 30",
    "select p.id, s.id as s, s.days, s.ward, p.age, p.born from people p full join stays s on s.id = p.id",
    "select id, days, age from people full outer join stays using (id) where days > 10 or age > 60",
    "select coalesce(p.id, s.id) as k, count(*) as n, sum(s.days) as d from people p full join stays s "
    "on p.id = s.id group by 1",
    "select p.id, p.born, count(*) as n from stays s full join people p on p.id = s.id "
    "where s.days is null or s.days < 30 group by p.id, p.born",
    "select p.id, t.age, s.days from people p full join stays s on p.id = s.id and s.days = p.age "
    "join people t on t.id = p.id and t.age > 20",
    "select p.id, s.days from people p full join (select id, max(days) as days from stays where id > 4 "
    "group by id) s on s.id + 1 = p.id where p.age is null or p.age > 10",
    # EXISTS about no row outside.
    "select id from people where exists (select 1 from stays where days > 20) and age > 20",
    "select id from people where exists (select * from stays where days > 400)",
    "select id from people where age > 60 or not exists (select id from stays where days > 400)",
    "select id, exists (select 1 from stays where days > 30) as x from people",
    "select ward, count(*) as n from stays group by ward "
    "having count(*) > 3 and exists (select id, count(*) from people group by id having count(*) > 0)",
    # A subquery of one row that a condition leaves out.
    "select id from people where (select count(*) from stays where days > 400) > 0",
    "select id from people where (select max(days) from stays) > 400",
    "select id from people where (select max(days) from stays) > 20 and age > 20",
    "select id from people where (select max(days) from stays where days > 400) is null",
    "select id from people where not ((select max(days) from stays) > 3)",
    "select id from people where (select max(days) from stays) < 20 or age > 50",
    "select ward, count(*) as n from stays group by ward having (select max(id) from people) > 100",
    "select id from people where coalesce((select max(days) from stays where days > 400), 3) = 3",
    "select id from people where age > (select min(days) from stays) and (select count(*) from stays) = 0",
    "select p.id, s.days from people p join stays s on s.id = p.id where (select sum(days) from stays) > 3",
    # No rows at all, and more left out than there are.
    "select id, days, ward from stays limit 0",
    "select count(*) as n from (select id from stays limit 0) t",
    "select days from stays order by days limit 3 offset 26",
    "select sum(days) as d from (select days from stays order by days, cost, id offset 100) t",
    "select id, date_trunc('day', born) as d from people",
    "select days, id from stays order by days, id, cost offset 2 rows fetch next 3 rows only",
    "select id, born - interval 50 year as d from people where born + interval 18 year > date '1990-02-28'",
    # Different values of several columns.
    "select ward, count(distinct id) as a, count(distinct days) as b, count(distinct dose) as c, "
    "count(*) as n, median(days) as m, count(distinct id) filter (where days > 20) as d "
    "from stays group by ward",
    "select id, count(distinct ward) as a, count(distinct days % 3) as b, max(cost) as c, stddev(days) as d "
    "from stays group by id",
    "select count(distinct ward) as a, count(distinct id) as b, quantile_cont(cost, 0.5) as c from stays",
    # Quantiles of groups: between two values, and one of them.
    "select ward, quantile_cont(days, 0.9) as a, quantile_cont(dose, 0.25) as b, median(days) as c, "
    "percentile_cont(0.35) within group (order by days desc) as d, quantile_disc(cost, 0.75) as e, "
    "percentile_disc(0.2) within group (order by dose) as f, count(*) as n from stays group by ward",
    "select id, quantile_cont(days, 0.1) filter (where dose > 0) as a, quantile(days, 0.5) as b, "
    "stddev(days) as c from stays group by id",
    "select smokes, quantile_disc(born, 0.4) as a, quantile_cont(age, 0) as b, quantile_cont(age, 1.0) as c, "
    "quantile_disc(age, 0) as d, quantile_disc(age, 1) as e from people group by smokes",
    "select quantile_cont(days, 0.333) as a, quantile_disc(dose, 0.5) as b, quantile_disc(ward, 0.3) as c "
    "from stays where days > 3",
    "select quantile_cont(days, 0.5) as a, quantile_disc(ward, 0.5) as b from stays where days > 90",
]


def given(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    random = np.random.default_rng(seed)
    return people(random, 14), stays(random, 23)


def by_duckdb(query: str, first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    import duckdb

    with duckdb.connect() as base:
        base.register("people_frame", first)
        base.register("stays_frame", second)
        base.execute("create view people as select id, age, born::date as born, smokes from people_frame")
        # Costs are exact to two places here.
        base.execute("create view stays as select * replace (cost::decimal(18, 2) as cost) from stays_frame")
        return base.execute(query).df()


def planned(query: str, **options: Any) -> tacit.Plan:
    used: dict[str, Any] = {name: table for name, table in DECLARED.items() if name in query}
    plan: tacit.Plan = tacit.sql(query, **options, **used)
    return plan


@pytest.mark.parametrize("place", range(len(QUERIES)))
def test_a_query_is_answered_as_by_duckdb(place: int) -> None:
    query = QUERIES[place]
    first, second = given(place)
    plan = planned(query)
    frames = {"registry": {"people": first}, "clinic": {"stays": second}}
    owners = {schema.owner for schema in plan.tables}
    with tacit.local() as run:
        got = run(plan, **{owner: frames[owner] for owner in owners})
    same_rows(got, by_duckdb(query, first, second), ordered="order by days desc, ward" in query)


def test_columns_without_a_name_are_called_as_they_are_written() -> None:
    query = "select ward, sum(days), count(*), max(days) - 1 from stays group by ward order by sum(days)"
    first, second = given(3)
    with tacit.local() as run:
        got = run(planned(query), clinic=second)
    assert list(got.columns) == ["ward", "sum(days)", "count(*)", "max(days) - 1"]
    assert rows_of(got, ordered=True) == rows_of(by_duckdb(query, first, second), ordered=True)


def test_random_filters_and_groups() -> None:
    random = np.random.default_rng(21)
    comparisons = [
        "days > {}",
        "days <= {}",
        "dose < {} / 5.0",
        "id = {}",
        "ward = 'west'",
        "ward is null",
        "dose is not null",
    ]
    first, second = given(22)
    for _ in range(4):
        parts = [str(random.choice(comparisons)).format(random.integers(0, 40)) for _ in range(3)]
        signs = random.choice(["and", "or", "and not", "or not"], 2)
        condition = f"({parts[0]} {signs[0]} {parts[1]}) {signs[1]} {parts[2]}"
        key = random.choice(["ward", "id", "days > 25"])
        what = f"{key} as k, count(*) as n, sum(days) as d, max(dose) as m"
        query = f"select {what} from stays where {condition} group by 1"
        plan = planned(query)
        with tacit.local() as run:
            got = run(plan, clinic=second)
        expected = by_duckdb(query, first, second)
        assert rows_of(got[["k", "n", "d"]]) == rows_of(expected[["k", "n", "d"]]), query


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (
            "select p.id from people p join stays s on s.id = p.id right join stays t on t.id = p.id",
            "Join .* after another join\n.*write FROM t LEFT JOIN \\(SELECT",
        ),
        (
            "select p.id from people p join stays s on s.id = p.id full join stays t on t.id = p.id",
            "Join .* after another join\n.*write FROM t FULL JOIN \\(SELECT",
        ),
        ("select p.id from people p full join stays s on s.days < p.age", "isn't INNER JOIN\n.*make a key"),
        (
            "select p.id from people p full join stays s on s.id = p.id and s.days > 3",
            "isn't INNER JOIN\n.*make a key of it that is null elsewhere",
        ),
        ("select s.id from stays s right join stays t on s.id = t.id", "many rows of s may match"),
        ("select quantile_cont(days, id / 50) as a from stays", "no place that everybody knows"),
        ("select quantile_cont(days, [0.5, 0.9]) as a from stays", "once for each place"),
        ("select quantile_cont(days, 1.5) as a from stays", "quantile of 1.5\n.*from 0 to 1"),
        ("select quantile_cont(ward, 0.5) as a from stays", "no quantile of category"),
        ("select quantile_disc(smokes, 0.5) as a from people", "no quantile_disc of boolean"),
        (
            "select percentile_disc(0.5) within group (order by days desc) as a from stays",
            "from the largest value on\n.*leave DESC out",
        ),
        ("select quantile_cont(days, 0.5) over (partition by ward) as a from stays", "has no window here"),
        ("select days from stays limit 3 offset id", "no whole number that everybody knows"),
        ("select regr_intercept(days, cost) as x from stays", "AVG\\(y\\) - REGR_SLOPE"),
        ("select date_trunc('decade', born) as x from people", "start of 'decade'"),
        ("select born from people where days + interval 3 day > 5", "days"),
        ("select days + interval 3 day as x from stays", "Interval .*\n.*add days, weeks, months or years"),
        ("select dose ilike 'e%' as x from stays", "ILike .* no words that everybody"),
        ("select left(ward, 2.5) as x from stays", "by 2.5, which is no number of letters"),
        ("select starts_with(ward, 5) as x from stays", "by 5, which is no text"),
        ("select days from stays order by days limit 2.5", "no whole number"),
        ("select days from stays order by days limit 2 offset 0.5", "no whole number"),
        (
            "select ward, list(days) as x from stays group by ward",
            "test_sql.py(.|\\n)*ARRAY_AGG .* supported",
        ),
        ("select id, (select days from stays) as x from people", "no table here\\n.*CROSS JOIN"),
        (
            "select id from people where exists "
            "(select 1 from stays where stays.id = people.id and (days > 3 or dose > 3))",
            "EXISTS in .*\n.*write x IN",
        ),
        ("select id, age in (select days from stays) as x from people", "IN .* may be null"),
        ("select id from people where not (smokes or age in (select days from stays))", "IN .* may be null"),
        ("select days from stays where not (days > 9 or days in (select age from people))", "IN .* null"),
        ("select any_value(smokes) as x from people", "no min of boolean"),
        ("select * from stays order by all", "Var .*\n.*name the columns"),
        ("select *, count(*) as n from stays group by all", "ALL\n.*name the columns"),
        ("select corr(cost * cost, cost * cost) as x from stays", "int holds at most"),
        ("select upper(id) as w from stays", "UPPER .* no words that everybody"),
        ("select kurtosis(days) as m from stays", "SUM, COUNT, AVG"),
        ("select born + interval 1 hour as y from people", "add days"),
        ("select born + interval 9000 year as y from people", "beyond what dates there are"),
        ("select mode(days) as m from stays", "MODE .*\n.*ROW_NUMBER"),
        ("select arg_max(id, days) as m from stays", "QUALIFY ROW_NUMBER"),
        ("select sum(distinct days) as m from stays", "SELECT DISTINCT k, x"),
        ("select id from stays group by grouping sets ((id), (ward))", "UNION ALL"),
        ("select days & 7 as x from stays", "x % 8"),
        ("select days from stays order by days fetch first 3 rows with ties", "is of no number of rows"),
        ("select s.id from stays s join (values (1, 2)) v(a, b) on s.id = v.a", "table of an owner"),
        ("select s.id from stays s asof join people p on s.id >= p.id", "METHOD\n.*the last row before"),
        ("select stddev(distinct days) as s from stays", "STDDEV .* is not supported"),
        ("select s.id from stays s join people p on s.days < p.age", "joins each row with each"),
        ("select s.id from stays s join stays t on s.id = t.id", "many rows of t may match"),
        ("select id from nowhere, stays", "nowhere"),
        ("select wrong from stays", "wrong"),
        ("select id from stays where", "SQL: "),
        ("select days / 0 as x from stays", "divided by 0"),
        ("select ward + 1 as x from stays", "numbers have sums"),
        (
            "select id from people where id not in (select id from stays)",
            "never true if the subquery has a null",
        ),
        (
            "select p.id from people p left join stays s on s.id = p.id and p.age > 30 where s.id is null",
            "isn't INNER JOIN",
        ),
        (
            "select p.id from (select id from people limit 1) p left join stays s on s.days > 3",
            "joins each row with each",
        ),
        (
            "select p.id from people p semi join (select days from stays limit 1) s on true",
            "each row with each",
        ),
        ("select s.id, p.id from stays s join people p on s.id = p.id", "has the name of another"),
        ("select id, days from stays union by name select days, id from stays", "BY_NAME"),
        ("select id from stays except all select id from people", "Except .* how often rows"),
        ("select id, days from stays intersect select id from people", "column mismatch"),
        ("select id from stays group by rollup (id)", "Rollup"),
        ("select distinct ward from stays order by days", "DISTINCT leaves out"),
        ("select days, id as days from stays", "has the name of another"),
        ("select cast(cost as integer) as c from stays", "CAST .* keep every value"),
        ("select try_cast(dose as bigint) as c from stays", "TRY_CAST .* keep every value"),
        ("select cast(dose as decimal(18, 2)) as c from stays", "CAST .* keep every value"),
        ("select cast(cost as decimal(18, 1)) as c from stays", "CAST .* keep every value"),
        ("select cast(cost as decimal(5, 2)) as c from stays", "CAST .* keep every value"),
        ("select try_cast(days * 9 as tinyint) as c from stays", "every value"),
        ("select cast(ward as date) as c from stays", "CAST"),
        ("select distinct on (ward) ward, days from stays", "Distinct .* not supported, ON"),
        ("select days from stays limit 50%", "write LIMIT with a number of rows"),
        ("select days from (select days from stays limit 50%) s where days > 2", "LIMIT with a number"),
        ("with recursive s as (select days from stays) select * from s", "RECURSIVE"),
        ("select days from stays using sample 3", "SAMPLE"),
        ("select count(days, id) as n from stays", "more than one argument"),
        ("delete from stays", "not supported"),
        ("select n from stays", "stays has id, days"),
        ("select id from stays s join staff p on s.id = p.id", "no table 'staff'"),
        ("select ward, sum(days) as d from stays", "columns have to be in GROUP BY"),
        ("select id from stays where sum(days) > 3", "write it in HAVING"),
        ("select id from stays where dose = null", "write x IS NULL"),
    ],
)
def test_what_is_not_supported_is_named(query: str, says: str) -> None:
    with pytest.raises(tacit.ProgramError, match=says):
        planned(query)


def test_a_bound_on_matches_makes_a_join_of_many_with_many() -> None:
    first, second = given(3)
    query = "select s.days, t.days as others from stays s join stays t on s.id = t.id where s.days < t.days"
    most = int(second["id"].value_counts().max())
    with tacit.local() as run:
        got = run(planned(query, matches={"t": most}), clinic=second)
    same_rows(got, by_duckdb(query, first, second))


def test_costs_and_errors_are_by_clause() -> None:
    plan = planned("select ward, sum(days) as d from stays group by ward order by d")
    assert "ORDER BY" in str(plan.cost(protocol="replicated"))


def test_a_query_within_a_program() -> None:
    @tacit.function
    def longest(stays: Any) -> Any:
        top = tacit.sql("select ward, max(days) as most from stays group by ward", stays=stays)
        return tacit.reveal(top[top["most"] > 10], to="clinic")

    _, second = given(5)
    with tacit.local() as run:
        got = run(longest.trace(DECLARED["stays"]), clinic=second)
    expected = second.groupby("ward", dropna=False, as_index=False).agg(most=("days", "max"))
    same_rows(got, expected[expected["most"] > 10])


def test_means_and_medians_that_quotients_have_no_room_for_are_refused() -> None:
    declared = {"fine": tables.number(0, 60e6, bits=24), "whole": tables.number(0, 2**30, bits=16)}
    table = tacit.table("bank", declared, rows=5)
    tacit.sql("select avg(whole) as a, median(whole) as m from t", t=table)
    for mean in ("avg(fine)", "median(fine)", "avg(fine) over ()"):
        with pytest.raises(tacit.ProgramError, match=r"may be 2\*\*23 or more"):
            tacit.sql(f"select {mean} as a from t", t=table)


def test_a_group_may_be_called_as_anything() -> None:
    table = tacit.table("bank", {"value 0": tables.integer(0, 9), "v": tables.integer(0, 9)}, rows=4)
    plan = tacit.function(lambda t: tacit.reveal(t.group_by("value 0").agg(m=("v", "median")))).trace(table)
    with tacit.local() as run:
        got = run(plan, bank=pd.DataFrame({"value 0": [7, 7, 8], "v": [1, 3, 9]}))
    assert got.sort_values("value 0").to_numpy().tolist() == [[7, 2], [8, 9]]


def test_correlations_and_slopes_are_within_what_is_stated() -> None:
    random = np.random.default_rng(5)
    rows, groups = 300, 70
    # Groups of few rows, of which many have the least differences that there are.
    frame = pd.DataFrame(
        {
            "k": random.integers(0, groups, rows),
            "x": random.integers(0, 4, rows),
            "y": random.integers(0, 400, rows) / 100,
            "z": random.integers(9_990, 10_000, rows) * 10,
        }
    )
    kinds = {
        "k": tables.integer(0, groups - 1),
        "x": tables.integer(0, 3),
        "y": tables.decimal(2, 0, 4),
        "z": tables.integer(0, 100_000),
    }
    query = (
        "select k, corr(x, y) as a, corr(y, z) as b, regr_slope(y, x) as c, covar_samp(y, z) as d, "
        "covar_pop(x, z) as e, regr_r2(z, x) as f from t group by k order by k"
    )
    plan = tacit.sql(query, t=tacit.table("bank", kinds, rows=rows))
    with tacit.local() as run:
        got = run(plan, bank=frame)
    import duckdb

    with duckdb.connect() as base:
        base.register("t", frame.assign(y=frame["y"].round(2)))
        expected = base.execute(query).df()
    for name, most in {"a": 2**-15, "b": 2**-15, "c": 2**-17, "d": 2**-17, "e": 2**-17, "f": 2**-13}.items():
        known = expected[name].notna()
        assert known.sum() > groups / 2
        assert got[name].notna().tolist() == known.tolist(), name
        np.testing.assert_allclose(got[name][known], expected[name][known], rtol=0, atol=most + 1e-9)
