"""TPC-H: its tables as secrets of several owners, its 22 queries, and DuckDB's answers."""

from __future__ import annotations

import functools
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow.parquet as parquet

import tacit
from tacit._tpch.answers import differs
from tacit._tpch.schemas import declarations
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

__all__ = ["OWNERS", "Data", "differs", "query"]

OWNERS = {
    "customer": "shop",
    "orders": "shop",
    "lineitem": "carrier",
    "part": "maker",
    "partsupp": "maker",
    "supplier": "maker",
    "nation": "authority",
    "region": "authority",
}
"""Who has which table."""


def query(number: int) -> str:
    """A query's text."""
    return (Path(__file__).parent / f"q{number:02}.sql").read_text()


@dataclass
class Data:
    """TPC-H's tables in a folder, as Parquet.

    Attributes:
        folder: Where they are.
        owners: Who has which.
        orders: How many of the orders are taken, with what belongs to them; all, if `None`.
    """

    folder: Path
    owners: dict[str, str] = field(default_factory=lambda: OWNERS)
    orders: int | None = None

    def generate(self, scale: float, orders: int | None = None) -> None:
        """Writes all tables, of so many gigabytes, by PyPI's tpchgen-cli.

        Raises:
            InputError: It isn't there, or has failed.
        """
        command = Path(sys.executable).parent / "tpchgen-cli"
        options = ["parquet", "-s", str(scale), f"--output-dir={self.folder}"]
        try:
            made = subprocess.run([command, *options], capture_output=True, check=False, text=True)
        except FileNotFoundError:
            raise InputError(
                'TPC-H\'s tables are made by tpchgen-cli: pip install "tacit-mpc[bench]"'
            ) from None
        if made.returncode:
            raise InputError(f"tpchgen-cli has made no tables: {made.stderr.strip()}")
        self.orders = orders

    @functools.cached_property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables as DataFrames. At scales below 0.01 the generator gives some rows of partsupp twice."""
        known = {name: parquet.read_table(self.folder / f"{name}.parquet").to_pandas() for name in OWNERS}
        known["partsupp"] = known["partsupp"].drop_duplicates(["ps_partkey", "ps_suppkey"])
        if self.orders is not None:
            known["orders"] = known["orders"].head(self.orders)
            kept = known["lineitem"]["l_orderkey"].isin(known["orders"]["o_orderkey"])
            known["lineitem"] = known["lineitem"][kept]
        return known

    @functools.cached_property
    def declared(self) -> dict[str, tacit.SecretTable]:
        """Declarations of all tables."""
        return declarations(self.frames, self.owners)

    def answer(self, number: int) -> pd.DataFrame:
        """What DuckDB says."""
        with duckdb.connect() as base:
            for name, frame in self.frames.items():
                base.register(name, frame)
            return base.execute(query(number)).df()

    def planned(self, number: int, to: str | Sequence[str] = "all") -> tacit.Plan:
        """A query as a plan, of the tables that it is about."""
        words = query(number).replace(",", " ").split()
        used: dict[str, Any] = {name: table for name, table in self.declared.items() if name in words}
        plan: tacit.Plan = tacit.sql(query(number), to=to, **used)
        return plan

    def given(self, plan: tacit.Plan) -> dict[str, Any]:
        """What owners give to a plan."""
        result: dict[str, dict[str, Any]] = {}
        for schema in plan.tables:
            result.setdefault(schema.owner, {})[schema.name] = self.frames[schema.name]
        return result
