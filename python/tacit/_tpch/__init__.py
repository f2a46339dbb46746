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
from tacit._tpch.few import SCALE, few
from tacit._tpch.schemas import declarations
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

__all__ = ["OWNERS", "Data", "differs"]

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


@dataclass
class Data:
    """TPC-H's tables in a folder, as Parquet.

    Attributes:
        folder: Where they are.
        owners: Who has which.
        scale: How many gigabytes there are; `None` stands for few rows, of which every query has an answer.
    """

    folder: Path
    owners: dict[str, str] = field(default_factory=lambda: OWNERS)
    scale: float | None = None

    def generate(self) -> None:
        """Writes all tables by PyPI's tpchgen-cli.

        Raises:
            InputError: It isn't there, or has failed.
        """
        command = Path(sys.executable).parent / "tpchgen-cli"
        options = ["parquet", "-s", str(self.scale or SCALE), f"--output-dir={self.folder}"]
        try:
            made = subprocess.run([command, *options], capture_output=True, check=False, text=True)
        except FileNotFoundError:
            raise InputError("TPC-H's tables are made by tpchgen-cli: pip install tpchgen-cli") from None
        if made.returncode:
            raise InputError(f"tpchgen-cli has made no tables: {made.stderr.strip()}")

    @functools.cached_property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables as DataFrames. At scales below 0.01 the generator gives some rows of partsupp twice."""
        known = {name: parquet.read_table(self.folder / f"{name}.parquet").to_pandas() for name in OWNERS}
        known["partsupp"] = known["partsupp"].drop_duplicates(["ps_partkey", "ps_suppkey"])
        return known if self.scale else few(known)

    @functools.cached_property
    def declared(self) -> dict[str, tacit.SecretTable]:
        """Declarations of all tables."""
        return declarations(self.frames, self.owners)

    def query(self, number: int) -> str:
        """A query's text, with TPC-H's validation values, of which one depends on the scale."""
        text = (Path(__file__).parent / f"q{number:02}.sql").read_text()
        return text.replace(":fraction", f"{0.0001 / (self.scale or SCALE):.3g}")

    def answer(self, number: int) -> pd.DataFrame:
        """What DuckDB says."""
        with duckdb.connect() as base:
            for name, frame in self.frames.items():
                base.register(name, frame)
            return base.execute(self.query(number)).df()

    def planned(self, number: int, to: str | Sequence[str] = "all") -> tacit.Plan:
        """A query as a plan, of the tables that it is about."""
        text = self.query(number)
        words = text.replace(",", " ").split()
        used: dict[str, Any] = {name: table for name, table in self.declared.items() if name in words}
        plan: tacit.Plan = tacit.sql(text, to=to, **used)
        return plan

    def given(self, plan: tacit.Plan) -> dict[str, Any]:
        """What owners give to a plan."""
        result: dict[str, dict[str, Any]] = {}
        for schema in plan.tables:
            result.setdefault(schema.owner, {})[schema.name] = self.frames[schema.name]
        return result
