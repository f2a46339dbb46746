"""TPC-H: its tables as secrets of several owners, its 22 queries, and DuckDB's answers."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tacit
from tacit import tables

if TYPE_CHECKING:
    import pandas as pd

HERE = Path(__file__).parent

COLORS = ("ECONOMY", "LARGE", "MEDIUM", "PROMO", "SMALL", "STANDARD")
FINISHES = ("ANODIZED", "BRUSHED", "BURNISHED", "PLATED", "POLISHED")
METALS = ("BRASS", "COPPER", "NICKEL", "STEEL", "TIN")
SIZES = ("JUMBO", "LG", "MED", "SM", "WRAP")
BOXES = ("BAG", "BOX", "CAN", "CASE", "DRUM", "JAR", "PACK", "PKG")

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

MATCHES: dict[int, dict[str, int]] = {}


def query(number: int) -> str:
    """A query's text."""
    return (HERE / f"q{number:02}.sql").read_text()


def generate(folder: Path, scale: float, orders: int | None = None) -> None:
    """Writes all tables as Parquet, by PyPI's tpchgen-cli; `orders` is how many of them tests take."""
    command = Path(sys.executable).parent / "tpchgen-cli"
    made = subprocess.run(
        [command, "parquet", "-s", str(scale), f"--output-dir={folder}"], capture_output=True, check=False
    )
    assert made.returncode == 0, made.stderr.decode()
    if orders is not None:
        (folder / "orders").write_text(str(orders))


def answer(folder: Path, number: int) -> pd.DataFrame:
    """What DuckDB says."""
    import duckdb

    with duckdb.connect() as base:
        for name in OWNERS:
            base.register(name, frames(folder)[name])
        return base.execute(query(number)).df()


@functools.cache
def frames(folder: Path) -> dict[str, pd.DataFrame]:
    """The tables as DataFrames. At scales below 0.01 the generator gives some rows of partsupp twice."""
    import pyarrow.parquet as parquet

    known = {name: parquet.read_table(folder / f"{name}.parquet").to_pandas() for name in OWNERS}
    known["partsupp"] = known["partsupp"].drop_duplicates(["ps_partkey", "ps_suppkey"])
    if (folder / "orders").exists():
        # Some of the orders, with what belongs to them.
        known["orders"] = known["orders"].head(int((folder / "orders").read_text()))
        kept = known["lineitem"]["l_orderkey"].isin(known["orders"]["o_orderkey"])
        known["lineitem"] = known["lineitem"][kept]
    return known


@functools.cache
def declared(folder: Path) -> dict[str, tacit.SecretTable]:
    """Declarations of all tables, as wide as the scale of the data needs."""
    known = frames(folder)

    def words(table: str, column: str) -> Any:
        return tables.category(known[table][column].unique())

    def most(table: str, column: str) -> Any:
        return tables.integer(0, int(known[table][column].max()))

    order, customer = most("orders", "o_orderkey"), most("customer", "c_custkey")
    part, supplier = most("part", "p_partkey"), most("supplier", "s_suppkey")
    nation, region, day = tables.integer(0, 24), tables.integer(0, 4), tables.date("1992-01-01", "1998-12-31")
    types = [f"{a} {b} {c}" for a in COLORS for b in FINISHES for c in METALS]
    schemas: dict[str, dict[str, tables.ColumnType]] = {
        "customer": {
            "c_custkey": customer,
            "c_name": tables.text(),
            "c_address": tables.text(),
            "c_nationkey": nation,
            "c_phone": words("customer", "c_phone"),
            "c_acctbal": tables.decimal(2, -1000, 10_000),
            "c_mktsegment": tables.category(
                ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"]
            ),
            "c_comment": tables.text(),
        },
        "orders": {
            "o_orderkey": order,
            "o_custkey": customer,
            "o_orderstatus": tables.category("FOP"[place] for place in range(3)),
            "o_totalprice": tables.decimal(2, 0, 600_000),
            "o_orderdate": day,
            "o_orderpriority": tables.category(
                ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
            ),
            "o_shippriority": tables.integer(0, 0),
            "special": tables.like("o_comment", "%special%requests%"),
        },
        "lineitem": {
            "l_orderkey": order,
            "l_partkey": part,
            "l_suppkey": supplier,
            "l_linenumber": tables.integer(1, 7),
            "l_quantity": tables.decimal(2, 0, 50),
            "l_extendedprice": tables.decimal(2, 0, 105_000),
            "l_discount": tables.decimal(2, 0, 0.1),
            "l_tax": tables.decimal(2, 0, 0.08),
            "l_returnflag": tables.category(["A", "N", "R"]),
            "l_linestatus": tables.category(["F", "O"]),
            "l_shipdate": day,
            "l_commitdate": day,
            "l_receiptdate": day,
            "l_shipinstruct": tables.category(
                ["COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"]
            ),
            "l_shipmode": tables.category(["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"]),
        },
        "part": {
            "p_partkey": part,
            "green": tables.like("p_name", "%green%"),
            "forest": tables.like("p_name", "forest%"),
            "p_mfgr": tables.category(f"Manufacturer#{one}" for one in range(1, 6)),
            "p_brand": tables.category(f"Brand#{a}{b}" for a in range(1, 6) for b in range(1, 6)),
            "p_type": tables.category(types),
            "p_size": tables.integer(1, 50),
            "p_container": tables.category(f"{a} {b}" for a in SIZES for b in BOXES),
        },
        "partsupp": {
            "ps_partkey": part,
            "ps_suppkey": supplier,
            "ps_availqty": tables.integer(0, 9999),
            "ps_supplycost": tables.decimal(2, 0, 1000),
        },
        "supplier": {
            "s_suppkey": supplier,
            "s_name": words("supplier", "s_name"),
            "s_address": tables.text(),
            "s_nationkey": nation,
            "s_phone": tables.text(),
            "s_acctbal": tables.decimal(2, -1000, 10_000),
            "s_comment": tables.text(),
            "complaints": tables.like("s_comment", "%Customer%Complaints%"),
        },
        "nation": {"n_nationkey": nation, "n_name": words("nation", "n_name"), "n_regionkey": region},
        "region": {"r_regionkey": region, "r_name": words("region", "r_name")},
    }
    keys: dict[str, Any] = {
        "lineitem": ("l_orderkey", "l_linenumber"),
        "partsupp": ("ps_partkey", "ps_suppkey"),
    }
    return {
        name: tacit.table(
            OWNERS[name], schema, rows=len(known[name]), name=name, unique=keys.get(name, next(iter(schema)))
        )
        for name, schema in schemas.items()
    }


def planned(folder: Path, number: int) -> tacit.Plan:
    """A query as a plan, of the tables that it is about."""
    text = query(number)
    used: dict[str, Any] = {
        name: table for name, table in declared(folder).items() if name in text.replace(",", " ").split()
    }
    plan: tacit.Plan = tacit.sql(text, matches=MATCHES.get(number), **used)
    return plan


def given(folder: Path, plan: tacit.Plan) -> dict[str, Any]:
    """What owners give to a plan."""
    result: dict[str, dict[str, Any]] = {}
    for schema in plan.tables:
        result.setdefault(schema.owner, {})[schema.name] = frames(folder)[schema.name]
    return result
