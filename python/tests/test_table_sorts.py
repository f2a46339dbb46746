"""What tables move rows by: sorts by several keys, and sums up to each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.tables import sorting


@pytest.mark.parametrize(("low", "high"), [(1, 9), (-7, 3), (-9, -2)])
def test_sums_up_to_each_row_are_exact_and_in_their_range(low: int, high: int) -> None:
    values = np.random.default_rng(4).integers(low, high + 1, 391)

    def up_to(x: Any) -> Any:
        return tacit.reveal(sorting.summed(x))

    plan = tacit.function(up_to).trace(
        tacit.secret("alice", shape=(391,), dtype=tacit.int64, range=(low, high))
    )
    with tacit.local(debug=True) as run:
        assert (run(plan, alice=values) == values.cumsum()).all()


@pytest.mark.parametrize("protocol", ["replicated", "replicated-malicious", "gmw"])
def test_keys_of_several_words_and_wide_ones_are_sorted(protocol: str) -> None:
    random = np.random.default_rng(5)
    first, second = random.integers(0, 3, 20), random.integers(0, 1 << 60, 20)

    def ordered(a: Any, b: Any) -> Any:
        keys = sorting.packed([(a, 3), (b, 1 << 60)])
        return tacit.reveal(sorting.sort_rows(keys, [a, b])[1])

    plan = tacit.function(ordered).trace(
        tacit.secret("P0", shape=(20,), dtype=tacit.int64, range=(0, 2)),
        tacit.secret("P1", shape=(20,), dtype=tacit.int64, range=(0, (1 << 60) - 1)),
    )
    with tacit.local(protocol) as run:
        got = run(plan, P0=first, P1=second)
    order = np.lexsort([second, first])
    assert (got[0] == first[order]).all()
    assert (got[1] == second[order]).all()
