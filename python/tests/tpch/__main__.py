"""What TPC-H's queries take: `python -m tests.tpch --scale 0.01 1 3 6`, in the folder `python`.

Prints bytes and rounds of each query as the plan's price says them, and runs it against DuckDB's answer.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import tacit
from tests import test_tpch, tpch


def main() -> None:
    """Prices and runs the queries that the command line names."""
    read = argparse.ArgumentParser(prog="python -m tests.tpch", description=__doc__)
    read.add_argument("queries", type=int, nargs="*", default=range(1, 23), help="numbers of queries")
    read.add_argument("--scale", type=float, default=0.01, help="gigabytes of data")
    read.add_argument("--protocol", default="replicated")
    read.add_argument("--price", action="store_true", help="don't run them")
    asked = read.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tpch.generate(folder, asked.scale)
        print("query  rounds  MB from each server  MB in all  seconds, all in this process", flush=True)
        for number in asked.queries:
            plan = tpch.planned(folder, number)
            (price,) = plan.cost(protocol=asked.protocol).protocols.values()
            sent = [one for owner, one in price.bytes.items() if owner in ("P0", "P1", "P2")]
            total = sum(price.bytes.values())
            line = f"{number:5}  {price.rounds:6}  {max(sent) / 1e6:19.1f}  {total / 1e6:9.1f}"
            if asked.price:
                print(line, flush=True)
                continue
            start = time.perf_counter()
            with tacit.local(asked.protocol) as run:
                got = run(plan, **tpch.given(folder, plan))
            test_tpch.same(got, tpch.answer(folder, number), number)
            print(f"{line}  {time.perf_counter() - start:7.1f}", flush=True)


main()
