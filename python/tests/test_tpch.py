"""TPC-H's 22 queries on shares against DuckDB in the clear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import tacit
from tacit import tables
from tacit._tpch import Data, differs, query

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """Some thousandth of a gigabyte."""
    data = Data(tmp_path_factory.mktemp("tpch"))
    data.generate(0.001, orders=64)
    return data


@pytest.fixture(scope="module")
def hundredth(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Data:
    """A hundredth of a gigabyte."""
    if not pytestconfig.getoption("--long"):
        pytest.skip("some minutes")
    data = Data(tmp_path_factory.mktemp("tpch"))
    data.generate(0.01)
    return data


def asked(data: Data, number: int, protocol: str = "replicated") -> pd.DataFrame:
    plan = data.planned(number)
    with tacit.local(protocol) as run:
        got = run(plan, **data.given(plan))
    assert isinstance(got, pd.DataFrame)
    return got


def is_as_by_duckdb(data: Data, number: int, protocol: str = "replicated") -> None:
    assert differs(asked(data, number, protocol), data.answer(number), number) is None


@pytest.mark.parametrize("number", range(1, 23))
def test_a_query_is_answered_as_by_duckdb(number: int, small: Data) -> None:
    is_as_by_duckdb(small, number)


def test_queries_run_against_one_who_deviates(small: Data) -> None:
    is_as_by_duckdb(small, 6, "replicated-malicious")


@pytest.mark.parametrize("number", range(1, 23))
def test_a_query_is_answered_at_a_hundredth(number: int, hundredth: Data) -> None:
    is_as_by_duckdb(hundredth, number)


def test_schemas_are_part_of_the_program(small: Data, tmp_path: Path) -> None:
    plan = small.planned(6)
    plan.save(tmp_path / "q6.plan")
    loaded = tacit.Plan.load(tmp_path / "q6.plan")
    assert [schema.name for schema in loaded.tables] == ["lineitem"]
    assert loaded == plan
    other: Any = tacit.table(
        "carrier",
        {**small.declared["lineitem"].schema.columns, "l_returnflag": tables.category(["A", "N", "X"])},
        rows=small.declared["lineitem"].schema.rows,
        name="lineitem",
        unique=("l_orderkey", "l_linenumber"),
    )
    assert tacit.sql(query(6), lineitem=other).hash != plan.hash


def test_a_wrong_answer_is_seen(small: Data) -> None:
    right = small.answer(1)
    assert differs(right, right, 1) is None
    wrong = right.copy()
    wrong["sum_qty"] += 1
    assert differs(wrong, right, 1) == "column sum_qty has other values"
    assert "3 rows of" in str(differs(right.head(3), right, 1))
