"""What tables have no room for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import tables


def test_what_can_overflow_is_refused_when_it_is_traced() -> None:
    big = tacit.table("a", {"x": tables.integer(0, 1 << 50), "k": tables.integer(0, 999)}, rows=1 << 14)

    @tacit.function
    def total(big: Any) -> Any:
        return tacit.reveal(big.group_by("k").agg(total=("x", "sum")))

    with pytest.raises(tacit.ProgramError, match="holds at most 9223372036854775807"):
        total.trace(big)


@pytest.mark.parametrize("last", [9, 999])
def test_nothing_is_shown_beyond_a_bound(last: int) -> None:
    # Of ten groups, each is compared with all rows; of a thousand, rows are sorted.
    kinds = {"id": tables.integer(0, last), "pay": tables.integer(0, 999)}

    @tacit.function
    def totals(table: Any) -> Any:
        result = table.group_by("id", groups=2).agg(total=("pay", "sum"))
        return dict(tacit.reveal(result).parts)

    plan = totals.trace(tacit.table("a", kinds, rows=4))
    with tacit.local() as run:
        for ids, rows in (([1, 2, 2], 2), ([1, 2, 3], 0)):
            got = run(plan, a={"id": ids, "pay": [10, 20, 30]})
            assert got["rows"].sum() == rows
            assert (got["total#0"] > 0).sum() == rows


@pytest.mark.parametrize(
    ("query", "column", "of"),
    [
        ("exp(x)", "x", np.exp),
        ("exp(n)", "n", np.exp),
        ("cosh(x)", "x", np.cosh),
        ("sinh(x)", "x", np.sinh),
        ("power(big, 1.5)", "big", lambda big: big**1.5),
        ("power(small, 3.7)", "small", lambda small: small**3.7),
        ("power(small, -2.5)", "small", lambda small: small**-2.5),
        ("power(x, -3)", "x", lambda x: x**-3),
        ("power(small, -1)", "small", lambda small: 1 / small),
        ("power(small, -2)", "small", lambda small: small**-2),
        ("power(n, -1)", "n", lambda n: 1 / n),
        ("power(n, -2)", "n", lambda n: n**-2),
    ],
)
def test_what_is_beyond_the_last_number_is_null(query: str, column: str, of: Any) -> None:
    kinds = {
        "x": tables.number(-30, 30),
        "n": tables.integer(-30, 30),
        "big": tables.integer(0, 10**7),
        "small": tables.decimal(3, 0, 1000),
    }
    data = pd.DataFrame(
        {
            "x": [-30, -22.25, -22.125, -1 / 1024, 0, 1 / 4096, 21.25, 21.5, 30],
            "n": [-30, -22, -21, -1, 0, 1, 21, 22, 30],
            "big": [0, 1, 2, 1000, 10**6, 1_664_000, 1_665_000, 10**7, 3],
            "small": [0, 0.001, 0.004, 0.5, 1, 7.5, 330.0, 340.0, 1000],
        }
    )
    places = data.assign(place=range(len(data)))
    with tacit.local(debug=True) as run:
        declared = tacit.table("bank", {**kinds, "place": tables.integer(0, 20)}, rows=len(data), name="t")
        plan = tacit.sql(f"select {query} as y from t order by place", t=declared)
        got = run(plan, bank=places)["y"].to_numpy(float)
    with np.errstate(all="ignore"):
        want = of(data[column].to_numpy(float))
    there = abs(want) < 2.0**31
    assert (np.isnan(got) == ~there).all()
    # Decimals are rounded to a step of fixed(16) before other powers.
    relative = 2.0**-18 if column != "small" or query.endswith(("-1)", "-2)")) else 0.03
    assert np.allclose(got[there], want[there], rtol=relative, atol=2.0**-15)
