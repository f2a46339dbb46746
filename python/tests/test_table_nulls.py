"""Columns that are null where there is no value: constants of some rows, quotients that have no room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import tables
from tests.test_table_functions import DECLARED, frame

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("value", "use"),
    [
        (4, lambda x: x / 2),
        (4, lambda x: x % 3),
        (4, abs),
        (4, np.sqrt),
        (4, lambda x: x == 4.5),
        (4, lambda x: x.is_in([])),
        (2.5, lambda x: x.round(0)),
        ("p", lambda x: x == "p"),
        ("p", lambda x: x > "a"),
        ("p", lambda x: x.map({"p": 3})),
        (True, lambda x: x & True),
        (True, lambda x: x | False),
        ("2020-02-01", lambda x: x.map(lambda word: word[:4])),
    ],
)
def test_a_constant_that_is_null_in_some_rows_stays_null_there(value: Any, use: Callable[[Any], Any]) -> None:
    def computed(t: Any) -> Any:
        some = tables.when(t.n > 4, value, None)
        return tacit.reveal(t.select("id", "n").assign(y=use(some)))

    whole = frame()
    with tacit.local() as run:
        got = run(tacit.function(computed).trace(DECLARED), bank=whole).set_index("id")["y"]
    there = whole.set_index("id")["n"].gt(4).fillna(False).astype(bool)
    assert got.notna().sort_index().tolist() == there.sort_index().tolist()
    assert got[there].nunique() == 1


@pytest.mark.parametrize(
    ("x", "g", "rows"),
    [
        (
            tables.integer(-(2**41), 2**41),
            tables.integer(0, 2000),
            [(2**40, 1), (-(2**40), 7), (2**33, 4), (7, 2), (3, 0), (2**31, 1), (2**31 - 1, 1)],
        ),
        (
            tables.decimal(2, 0, 1e9),
            tables.decimal(2, 0, 100),
            [(1e9, 0.01), (1e8, 0.02), (1e9, 0.5), (21474836.47, 0.01), (5.5, 2), (3, 0)],
        ),
        (
            tables.number(-(2**30), 2**30),
            tables.number(0, 1),
            [(2**30, 0.25), (-(2**30), 2**-16), (2**30, 0.75), (5, 0), (1, 2**-16)],
        ),
    ],
)
def test_quotients_that_have_no_room_are_null(x: Any, g: Any, rows: list[tuple[float, float]]) -> None:
    declared = tacit.table("bank", {"x": x, "g": g}, rows=len(rows) + 1)
    plan = tacit.function(lambda t: tacit.reveal(t.assign(y=t.x / t.g))).trace(declared)
    with tacit.local() as run:
        got = run(plan, bank=pd.DataFrame(rows, columns=["x", "g"])).astype(float)
    exact = got["x"] / got["g"].replace(0, np.nan)
    expected = exact.where(exact.abs() < 2**31)
    assert 1 < expected.isna().sum() < len(rows)
    np.testing.assert_allclose(got["y"], expected, rtol=0, atol=2**-17)


def test_quotients_by_public_numbers_and_powers_have_room_for_all_that_they_may_be() -> None:
    kinds = {"x": tables.integer(-(2**31), 2**31), "n": tables.number(-(2**31), 2**31 - 2**-16)}
    declared = tacit.table("bank", kinds, rows=3)
    plan = tacit.function(
        lambda t: tacit.reveal(t.assign(a=t.x / 1, b=t.x / 2.0, c=t.n**1, d=t.n / 1).order_by("x"))
    ).trace(declared)
    with tacit.local() as run:
        got = run(plan, bank=pd.DataFrame({"x": [-(2**31), 0, 2**31], "n": [-(2**31), 0, 2**31 - 2**-16]}))
    assert got["a"].tolist() == got["x"].tolist()
    assert got["b"].tolist() == (got["x"] / 2).tolist()
    assert got["c"].tolist() == got["d"].tolist() == got["n"].tolist()
