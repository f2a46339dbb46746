"""TPC-H: what a shop and a carrier ask of orders and deliveries together, in SQL (needs tpchgen-cli)."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
import tacit
from picture import bars
from tacit import tables

BEFORE = "1995-03-15"
QUERY = f"""
    select o_orderpriority, count(*) as deliveries, sum(l_extendedprice * (1 - l_discount)) as revenue
    from customer, orders, lineitem
    where c_mktsegment = 'BUILDING' and c_custkey = o_custkey and l_orderkey = o_orderkey
      and o_orderdate < date '{BEFORE}' and l_shipdate > date '{BEFORE}'
    group by o_orderpriority
    order by o_orderpriority"""

with tempfile.TemporaryDirectory() as folder:
    command = Path(sys.executable).parent / "tpchgen-cli"
    options = ["-s", "0.001", "--tables=customer,orders,lineitem", f"--output-dir={folder}"]
    subprocess.run([command, "parquet", *options], check=True, capture_output=True)
    data = {name: pd.read_parquet(f"{folder}/{name}.parquet") for name in ("customer", "orders", "lineitem")}
# A few hundred orders are enough for a look.
data["orders"] = data["orders"].head(300)
data["lineitem"] = data["lineitem"][data["lineitem"]["l_orderkey"].isin(data["orders"]["o_orderkey"])]

order, customer = tables.integer(1, 6000), tables.integer(1, 150)
day = tables.date("1992-01-01", "1998-12-31")
segments = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"]
priorities = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
declared = {
    "customer": tacit.table(
        "shop",
        {"c_custkey": customer, "c_mktsegment": tables.category(segments)},
        rows=150,
        unique="c_custkey",
        name="customer",
    ),
    "orders": tacit.table(
        "shop",
        {
            "o_orderkey": order,
            "o_custkey": customer,
            "o_orderdate": day,
            "o_orderpriority": tables.category(priorities),
        },
        rows=300,
        unique="o_orderkey",
        name="orders",
    ),
    "lineitem": tacit.table(
        "carrier",
        {
            "l_orderkey": order,
            "l_extendedprice": tables.decimal(2, 0, 100_000),
            "l_discount": tables.decimal(2, 0, 0.1),
            "l_shipdate": day,
        },
        rows=1500,
        order="l_orderkey",
        name="lineitem",
    ),
}
plan = tacit.sql(QUERY, to=["shop", "carrier"], **declared)


def in_the_clear():
    some = data["customer"].query("c_mktsegment == 'BUILDING'")
    joined = some.merge(data["orders"], left_on="c_custkey", right_on="o_custkey")
    joined = joined.merge(data["lineitem"], left_on="o_orderkey", right_on="l_orderkey")
    split = pd.Timestamp(BEFORE)
    days = joined[["o_orderdate", "l_shipdate"]].apply(pd.to_datetime)
    joined = joined[(days["o_orderdate"] < split) & (days["l_shipdate"] > split)]
    revenue = joined["l_extendedprice"].astype(float) * (1 - joined["l_discount"].astype(float))
    groups = joined.assign(revenue=revenue).groupby("o_orderpriority")
    return groups.agg(deliveries=("revenue", "size"), revenue=("revenue", "sum")).reset_index()


def by_priority(frame):
    return {row.o_orderpriority: [row.deliveries, row.revenue] for row in frame.itertuples(index=False)}


if __name__ == "__main__":
    shop = {"customer": data["customer"], "orders": data["orders"]}
    with tacit.local() as run:
        found = by_priority(run(plan, shop=shop, carrier=data["lineitem"]))
    clear, tolerance = by_priority(in_the_clear()), 1e-3
    for priority, (deliveries, revenue) in found.items():
        print(f"{priority}: {deliveries} deliveries, {revenue:,.2f}")
    bars("revenue of what is still to be delivered", {name: revenue for name, (_, revenue) in found.items()})
