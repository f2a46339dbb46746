"""Declarations of TPC-H's tables, as wide as the data needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tacit
from tacit import tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

COLORS = ("ECONOMY", "LARGE", "MEDIUM", "PROMO", "SMALL", "STANDARD")
FINISHES = ("ANODIZED", "BRUSHED", "BURNISHED", "PLATED", "POLISHED")
METALS = ("BRASS", "COPPER", "NICKEL", "STEEL", "TIN")
SIZES = ("JUMBO", "LG", "MED", "SM", "WRAP")
BOXES = ("BAG", "BOX", "CAN", "CASE", "DRUM", "JAR", "PACK", "PKG")


def declarations(
    known: Mapping[str, pd.DataFrame], owners: Mapping[str, str]
) -> dict[str, tacit.SecretTable]:
    """All tables, of these owners."""

    def words(table: str, column: str) -> Any:
        return tables.category(known[table][column].unique())

    def key(name: str) -> Any:
        columns = [known[table][one] for table in known for one in known[table] if one.endswith(f"_{name}")]
        return tables.integer(0, max(int(column.max()) for column in columns))

    order, customer, part, supplier = key("orderkey"), key("custkey"), key("partkey"), key("suppkey")
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
            owners[name], schema, rows=len(known[name]), name=name, unique=keys.get(name, next(iter(schema)))
        )
        for name, schema in schemas.items()
    }
