"""TPC-H's 22 queries on shares against DuckDB in the clear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import tables
from tests import tpch

if TYPE_CHECKING:
    from pathlib import Path

TIES = {2, 3, 10, 18, 21}
"""Queries with a LIMIT, which cuts where rows may be equal."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some thousandth of a gigabyte."""
    folder = tmp_path_factory.mktemp("tpch")
    tpch.generate(folder, 0.001, orders=64)
    return folder


@pytest.fixture(scope="module")
def hundredth(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """A hundredth of a gigabyte."""
    if not pytestconfig.getoption("--long"):
        pytest.skip("some minutes")
    folder = tmp_path_factory.mktemp("tpch")
    tpch.generate(folder, 0.01)
    return folder


def asked(folder: Path, number: int, protocol: str = "replicated") -> pd.DataFrame:
    plan = tpch.planned(folder, number)
    with tacit.local(protocol) as run:
        got = run(plan, **tpch.given(folder, plan))
    assert isinstance(got, pd.DataFrame)
    return got


def comparable(frame: pd.DataFrame, like: pd.DataFrame) -> pd.DataFrame:
    """Rows in the order of their texts, with those as hashes that are so in another result."""
    frame = frame.copy()
    for name in frame.columns:
        column = frame[name]
        hashed = column.dtype == object and pd.api.types.is_integer_dtype(like[name])
        if isinstance(column.dtype, pd.StringDtype) and pd.api.types.is_integer_dtype(like[name]):
            hashed = True
        if hashed:
            frame[name] = [tables.hash_of(str(word)) for word in column]
        elif pd.api.types.is_numeric_dtype(column):
            frame[name] = pd.to_numeric(column, errors="coerce").astype(float)
        elif pd.api.types.is_datetime64_any_dtype(column):
            frame[name] = column.astype("datetime64[s]")
        else:
            frame[name] = column.astype(object)
    return frame


def same(got: pd.DataFrame, expected: pd.DataFrame, number: int) -> None:
    """The same rows in the same order, where the query says one; sums exact, quotients to a step."""
    assert list(got.columns) == list(expected.columns)
    assert len(got) == len(expected)
    first, second = comparable(got, got), comparable(expected, got)
    for name in got.columns:
        a, b = first[name].to_numpy(), second[name].to_numpy()
        if first[name].dtype.kind == "f":
            b = b.astype(float)
            if number == 10 or (number in TIES and name != first.columns[0]):
                np.testing.assert_allclose(np.sort(a), np.sort(b), rtol=1e-9, atol=2e-4)
            else:
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=2e-4)
        else:
            assert sorted(map(str, a)) == sorted(map(str, b))


@pytest.mark.parametrize("number", range(1, 23))
def test_a_query_is_answered_as_by_duckdb(number: int, small: Path) -> None:
    same(asked(small, number), tpch.answer(small, number), number)


def test_queries_run_against_one_who_deviates(small: Path) -> None:
    same(asked(small, 6, "replicated-malicious"), tpch.answer(small, 6), 6)


@pytest.mark.parametrize("number", range(1, 23))
def test_a_query_is_answered_at_a_hundredth(number: int, hundredth: Path) -> None:
    same(asked(hundredth, number), tpch.answer(hundredth, number), number)


def test_schemas_are_part_of_the_program(small: Path, tmp_path: Path) -> None:
    plan = tpch.planned(small, 6)
    plan.save(tmp_path / "q6.plan")
    loaded = tacit.Plan.load(tmp_path / "q6.plan")
    assert [schema.name for schema in loaded.tables] == ["lineitem"]
    assert loaded == plan
    other: Any = tacit.table(
        "carrier",
        {**tpch.declared(small)["lineitem"].schema.columns, "l_returnflag": tables.category(["A", "N", "X"])},
        rows=tpch.declared(small)["lineitem"].schema.rows,
        name="lineitem",
        unique=("l_orderkey", "l_linenumber"),
    )
    assert tacit.sql(tpch.query(6), lineitem=other).hash != plan.hash
