"""What tables have no room for."""

from __future__ import annotations

from typing import Any

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
