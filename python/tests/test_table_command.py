"""Tables on the command line: what goes in, what comes out, and bounds that are broken."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import tables
from tacit.errors import PlanError, RunError
from tacit.tables import told
from tacit.tables.decode import described
from tests.test_command import answer
from tests.test_command import tacit as command
from tests.test_table_inputs import PLAN

if TYPE_CHECKING:
    from pathlib import Path

SALES = tacit.table(
    "shop",
    {
        "ward": tables.category(["east", "north", "west"]),
        "day": tables.date("2026-01-01", "2026-12-31", null=True),
        "price": tables.decimal(2, 0, 1000),
    },
    rows=6,
    name="sales",
)
SOLD = {"ward": ["west", "east", "west"], "day": ["2026-03-01", None, "2026-02-28"], "price": [0.25, 3, 10.5]}


@pytest.fixture
def sold(tmp_path: Path) -> Path:
    file = tmp_path / "sales.parquet"
    pd.DataFrame(SOLD).to_parquet(file)
    return file


@tacit.function
def by_ward(sales: Any) -> Any:
    groups = sales.group_by("ward").agg(last=("day", "max"), total=("price", "sum"))
    return tacit.reveal(groups.order_by("total"), to="shop")


@tacit.function
def in_few_groups(sales: Any) -> Any:
    groups = sales.group_by("price", groups=1).agg(rows=("ward", "count"))
    return {"count": tacit.reveal(sales.valid.sum()), "by": {"price": tacit.reveal(groups)}}


def arguments(plan: tacit.Plan, sold: Path) -> list[str | Path]:
    file = sold.with_suffix(".plan")
    plan.save(file)
    return ["run", file, "--simulate", "--input", f"sales={sold}"]


def test_a_revealed_table_has_names_words_and_dates(sold: Path) -> None:
    run = arguments(by_ward.trace(SALES), sold)
    lines = ["table, to shop:", "ward  last        total", "----  ----------  -----"]
    lines += ["east  null         3.00", "west  2026-03-01  10.75", "2 rows"]
    assert command(*run).stdout.splitlines() == lines
    given = answer(*run)
    rows = [["east", None, 3.0], ["west", "2026-03-01", 10.75]]
    table = {"columns": ["ward", "last", "total"], "rows": rows}
    assert given["tables"] == [{"name": "table", "to": "shop", "table": table}]
    assert given["outputs"] == []


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_a_revealed_table_is_written(suffix: str, sold: Path) -> None:
    file = sold.with_name(f"result.{suffix}")
    done = command(*arguments(by_ward.trace(SALES), sold), "--output", file)
    assert done.returncode == 0, done.stderr
    read: Any = {"csv": pd.read_csv, "parquet": pd.read_parquet, "arrow": pd.read_feather}[suffix]
    frame = read(file)
    assert frame["ward"].tolist() == ["east", "west"]
    assert pd.to_datetime(frame["last"]).isna().tolist() == [True, False]
    assert str(pd.to_datetime(frame["last"])[1].date()) == "2026-03-01"
    assert frame["total"].tolist() == [3.0, 10.75]


def test_a_folder_takes_raw_arrays(sold: Path) -> None:
    folder = sold.parent / "out"
    assert command(*arguments(by_ward.trace(SALES), sold), "--output", folder).returncode == 0
    assert np.load(folder / "output-0.npy").sum() == 2


def test_a_file_takes_one_table_in_a_folder_that_is_there(sold: Path) -> None:
    both = tacit.function(lambda sales: [tacit.reveal(sales), tacit.reveal(sales)]).trace(SALES)
    done = command(*arguments(both, sold), "--output", sold.with_name("result.csv"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "takes one table, and the program reveals 2; name a folder" in done.stderr
    done = command(*arguments(by_ward.trace(SALES), sold), "--output", sold.parent / "none" / "result.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"there is no folder {sold.parent / 'none'}" in done.stderr


def test_a_broken_bound_is_an_error_of_the_command_as_of_a_run(sold: Path) -> None:
    plan = in_few_groups.trace(SALES)
    run = [*arguments(plan, sold), "--output", sold.with_name("result.csv")]
    why = "because there are more than groups=1 groups of price: raise the bound and run again; no row"
    done = command(*run)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == f"the table by.price has no result, {why} was shown"
    done = command(*run, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["kind"] == "wrong"
    assert "rows" not in json.loads(done.stdout)
    assert not sold.with_name("result.csv").exists()
    with tacit.local() as runner, pytest.raises(RunError, match=why):
        runner(plan, shop=sold)
    pd.DataFrame(SOLD).head(1).to_parquet(sold)
    done = command(*run)
    assert (
        done.stdout == "count, to all:\n1\nby.price, to all:\nprice  rows\n-----  ----\n 0.25     1\n1 row\n"
    )
    assert sold.with_name("result.csv").read_text() == "price,rows\n0.25,1\n"


def test_a_plan_says_what_is_declared_of_its_tables(tmp_path: Path) -> None:
    lines = [
        "table bank of bank: up to 6 rows; id different in all rows; in ascending order of id",
        "  id: integer(0, 99)",
        "  cost: decimal(0, 1000, places=2)",
        "  dose: number(-5, 5, bits=16) or null",
        "  well: boolean() or null",
        "  born: date(1950-01-01, 2000-12-31) or null",
        "  ward: category('east', 'west')",
        "  name: text() or null",
        "  urgent: boolean(note like '%urgent%')",
    ]
    assert "\n".join(f"  {line}" for line in lines) in PLAN._in_words(None)
    file = tmp_path / "bank.plan"
    PLAN.save(file)
    assert "\n".join(lines) in command("plan", file).stdout
    assert answer("plan", file)["tables"] == [schema.to_json() for schema in PLAN.tables]
    file.write_bytes(file.read_bytes().replace(b'"east"', b'"EAST"'))
    done = command("plan", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the schema of bank isn't the one that the program was made for" in done.stderr
    many = tables.category([f"word {place}\x1b" for place in range(10, 60)])
    plan = tacit.function(lambda t: tacit.reveal(t)).trace(tacit.table("a", {"x": many}, rows=2))
    assert r"'word 59\x1b')" in plan._in_words(None)
    assert r"'word 21\x1b', and 38 more)" in str(plan)


def test_a_long_table_is_printed_at_its_ends() -> None:
    kinds = {"x": tables.integer(0, 999), "y\x1b": tables.category(["a\n"])}
    pairs = [["rows", {"outputs": [0]}], ["x#0", {"outputs": [1]}], ["y\x1b#0", {"outputs": [2]}]]
    structure = json.dumps({"table": described(kinds, []), "dict": pairs})
    outputs: list[Any] = [np.ones(200, dtype=bool), np.arange(200), np.zeros(200, dtype=int)]
    known = told.revealed(structure, outputs, None)
    assert known is not None
    lines = known[0].splitlines()
    assert lines[:3] == [r"  x  y\x1b", "---  -----", r"  0  a\n"]
    assert lines[11:14] == [r"  9  a\n", "...  ...", r"190  a\n"]
    assert lines[-1] == "200 rows"
    assert len(json.loads(known[1])["rows"]) == 200


def test_a_table_that_is_not_learnt_is_not_told() -> None:
    structure = json.dumps(PLAN._structure)
    assert told.revealed(structure, [None] * len(PLAN.outputs), None) is None
    with pytest.raises(PlanError, match="damaged"):
        told.revealed(structure, [], None)
