"""Variances and deviations of groups, against pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import tables

KINDS = {
    "k": tables.integer(0, 4),
    "place": tables.integer(0, 1000),
    "x": tables.decimal(2, 0, 1000, null=True),
    "n": tables.integer(-50, 50),
    "f": tables.number(-100, 100),
}


def rows() -> pd.DataFrame:
    """Numbers that lie close together, groups of one and of none, and a null."""
    random = np.random.default_rng(5)
    keys = np.append(random.integers(0, 3, 49), 3)
    return pd.DataFrame(
        {
            "k": keys,
            "place": 200 * keys,
            "x": [None, *(900 + random.integers(-300, 300, 49) / 100)],
            "n": random.integers(-50, 51, 50),
            "f": random.integers(-3 << 16, 3 << 16, 50) / 2**16,
        }
    )


@pytest.mark.parametrize("keys", [["k"], ["place"], []])
def test_spreads_of_groups(keys: list[str]) -> None:
    def spreads(t: Any) -> Any:
        return tacit.reveal(
            t.group_by(*keys).agg(
                s=("x", "std"),
                v=("x", "var"),
                m=("x", "median"),
                rows="count",
                i=("n", "var"),
                f=("f", "std"),
            )
        )

    data = rows()
    with tacit.local(debug=True) as run:
        got = run(tacit.function(spreads).trace(tacit.table("bank", KINDS, rows=50)), bank=data)
    assert [*got.columns] == [*keys, "s", "v", "m", "rows", "i", "f"]
    groups = data.assign(all=0).groupby(keys or "all")
    want = groups.agg(s=("x", "std"), v=("x", "var"), m=("x", "median"), rows=("k", "size"), i=("n", "var"))
    want["f"] = groups["f"].std()
    off = got[[*want.columns]].to_numpy(float) - want.to_numpy(float)
    assert (np.isnan(off) == np.isnan(want.to_numpy(float))).all()
    # The last are numbers, whose squares are rounded.
    assert (np.nan_to_num(abs(off)) <= np.array([2**-15, 2**-16, 2**-16, 0, 2**-16, 2**-13])).all()


def test_a_variance_beyond_the_last_number_is_null_and_its_root_is_not() -> None:
    declared = tacit.table("bank", {"x": tables.integer(0, 10**6)}, rows=4)
    plan = tacit.function(lambda t: tacit.reveal(t.group_by().agg(v=("x", "var"), s=("x", "std")))).trace(
        declared
    )
    with tacit.local() as run:
        got = run(plan, bank={"x": [0, 10**6]})
        assert got["v"].isna().all()
        assert abs(got["s"][0] - 10**6 / 2**0.5) <= 2**-10
        got = run(plan, bank={"x": [0, 10**4]})
    assert got["v"][0] == 5e7
    assert abs(got["s"][0] - 5e7**0.5) <= 2**-15
