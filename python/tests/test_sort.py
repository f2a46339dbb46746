"""Rows in the order of a key, with what belongs to them, by both ways that protocols have."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tacit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RNG = np.random.default_rng(5)
KEYS = RNG.integers(-3, 4, size=200)
MORE = RNG.integers(0, 3, size=200)
FLAGS = RNG.integers(0, 2, size=200).astype(bool)
PAIRS = RNG.integers(-999, 1000, size=(200, 2))
SMALL: Any = {"range": (-4, 4), "dtype": tacit.int8}


@pytest.fixture(params=["replicated", "replicated zero-sharing=information-theoretic"])
def run(request: pytest.FixtureRequest) -> Iterator[tacit.Runner]:
    with tacit.local(request.param) as run:
        yield run


def test_rows_go_with_their_keys(run: tacit.Runner) -> None:
    @tacit.function
    def f(keys: Any, pairs: Any, flags: Any) -> Any:
        by_one = tacit.sort_by(keys, pairs, flags, np.arange(200))
        by_flag = tacit.sort_by(flags, pairs, descending=True)
        return tacit.reveal([by_one, by_flag])

    plan = f.trace(
        tacit.secret("P0", shape=200, **SMALL),
        tacit.secret("P1", shape=(200, 2), dtype=tacit.int32, range=(-999, 999)),
        tacit.secret("P2", shape=200, dtype=tacit.bool_),
    )
    (keys, pairs, flags, places), (flagged, others) = run(plan, keys=KEYS, pairs=PAIRS, flags=FLAGS)
    order = np.argsort(KEYS, kind="stable")
    np.testing.assert_array_equal(keys, KEYS[order])
    np.testing.assert_array_equal(pairs, PAIRS[order])
    np.testing.assert_array_equal(flags, FLAGS[order])
    np.testing.assert_array_equal(places, order)
    order = np.argsort(~FLAGS, kind="stable")
    np.testing.assert_array_equal(flagged, FLAGS[order])
    np.testing.assert_array_equal(others, PAIRS[order])


def test_several_keys_count_one_after_another(run: tacit.Runner) -> None:
    @tacit.function
    def f(keys: Any, more: Any) -> Any:
        places = np.arange(40)
        return tacit.reveal([tacit.sort_by((more, keys), places), tacit.top_k((more, keys), 7, places)])

    plan = f.trace(
        tacit.secret("P0", shape=40, **SMALL), tacit.secret("P1", shape=40, dtype=tacit.int8, range=(0, 2))
    )
    ((more, keys), places), (_, top) = run(plan, keys=KEYS[:40], more=MORE[:40])
    order = np.lexsort((KEYS[:40], MORE[:40]))
    np.testing.assert_array_equal(more, MORE[:40][order])
    np.testing.assert_array_equal(keys, KEYS[:40][order])
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(top, np.lexsort((-KEYS[:40], -MORE[:40]))[:7])


def test_arms_and_bodies_sort(run: tacit.Runner) -> None:
    @tacit.function
    def f(keys: Any, condition: Any) -> Any:
        ordered = tacit.cond(condition, np.sort, lambda x: x, keys)
        again = tacit.repeat(2, lambda x: -np.sort(x), keys)
        return tacit.reveal([ordered, again])

    plan = f.trace(tacit.secret("P0", shape=9, **SMALL), tacit.secret("P1", dtype=tacit.bool_))
    ordered, again = run(plan, keys=KEYS[:9], condition=True)
    np.testing.assert_array_equal(ordered, np.sort(KEYS[:9]))
    np.testing.assert_array_equal(again, np.sort(KEYS[:9])[::-1])


def test_a_sort_costs_columns_once() -> None:
    """Under replicated a column takes a shuffle, and no comparison more."""

    def bytes_of(columns: int) -> int:
        @tacit.function
        def f(keys: Any, others: Any) -> Any:
            return tacit.reveal(tacit.sort_by(keys, *(others[:, at] for at in range(columns))), to="P0")

        others = tacit.secret("P1", shape=(1000, 4), dtype=tacit.int32, range=(-9, 9))
        plan = f.trace(tacit.secret("P0", shape=1000, **SMALL), others)
        return plan.cost(protocol="replicated").bytes["P2"]

    one, two, three = map(bytes_of, (1, 2, 3))
    # Two elements of a byte for the shuffle, and one to P0 for the result.
    assert two - one == three - two == 3 * 1000


def test_what_cannot_be_sorted_is_refused() -> None:
    def refused(body: Callable[[Any, Any], Any], words: str) -> None:
        @tacit.function
        def f(keys: Any, matrix: Any) -> Any:
            return tacit.reveal(body(keys, matrix))

        with pytest.raises(tacit.ProgramError, match=words):
            f.trace(tacit.secret("P0", shape=5, **SMALL), tacit.secret("P1", shape=(3, 5)))

    refused(lambda keys, matrix: tacit.sort_by(keys, matrix)[1], "rows are sorted by a key of shape")
    refused(lambda keys, matrix: tacit.sort_by(matrix, keys)[1], "keys are vectors")
    refused(lambda keys, _: tacit.sort_by((), keys), "one key at least")
    refused(lambda keys, _: tacit.top_k(keys, 6)[0], "no top 6 of 5 rows")


def test_the_bench_has_the_table_of_exp() -> None:
    """`tacit bench exp` computes what `tacit.exp` of fixed(16) without a declared range does."""
    from pathlib import Path

    from tacit import _elementary, _pieces

    top = (_elementary.LARGEST - 16) * np.log(2)
    low, high = (int(np.floor(end * 2**16)) for end in (-18 * np.log(2), top))
    ends = (0, (1 << _elementary.LARGEST) - 1)
    table = _pieces.even(_elementary._exponential, 16, 16, low, high, ends, 2.0**-20)
    made = Path(__file__).parents[2] / "crates" / "cli" / "src" / "bench" / "exp.txt"
    assert tuple(map(int, made.read_text().split())) == table.coefficients
    assert (table.bits, table.low, table.high, table.places, table.terms) == (13, -820015, 1408208, 13, 4)


def test_tables_are_the_same_on_all_processors() -> None:
    """A program's hash is that of all who trace it, whichever instructions their libraries choose."""
    program = (
        "import numpy as np, tacit;"
        "x = tacit.secret('P0', shape=3, range=(-99, 99));"
        "y = tacit.secret('P0', shape=3, range=(0, 99));"
        "f = lambda x, y: tacit.reveal(np.exp(x) + np.log(y) + np.tanh(x) + tacit.normal_cdf(x) + x / y);"
        "print(tacit.function(f).trace(x, y).hash)"
    )
    ways = [{}, {"OPENBLAS_CORETYPE": "NEHALEM", "NPY_DISABLE_CPU_FEATURES": "AVX2,FMA3"}]
    hashes = {subprocess.check_output([sys.executable, "-c", program], env=os.environ | way) for way in ways}
    assert len(hashes) == 1
