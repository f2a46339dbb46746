"""Tables from pandas, Arrow, Parquet and CSV: what fits is shared as it is, what doesn't is named by column and row."""

from __future__ import annotations

import datetime
import decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as arrow
import pytest
from pyarrow import feather, parquet

import tacit
from tacit import tables
from tests.test_command import tacit as command

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = {
    "id": tables.integer(0, 99),
    "cost": tables.decimal(2, 0, 1000),
    "dose": tables.number(-5, 5, null=True),
    "well": tables.boolean(null=True),
    "born": tables.date("1950-01-01", "2000-12-31", null=True),
    "ward": tables.category(["east", "west"]),
    "name": tables.text(null=True),
    "urgent": tables.like("note", "%urgent%"),
}
BANK = tacit.table("bank", SCHEMA, rows=6, unique="id")
ROWS: dict[str, Any] = {
    "id": [7, 3, 12],
    "cost": [10.25, 0.1, 999.99],
    "dose": [1.5, None, -2.25],
    "well": [True, None, False],
    "born": [datetime.date(1960, 2, 29), datetime.date(2000, 12, 31), None],
    "ward": ["west", "east", "west"],
    "name": ["ann", None, "bob"],
    "note": ["very urgent", "calm", "not urgent at all"],
    "other": ["left", "a", "lone"],
}


@tacit.function
def everything(bank: Any) -> Any:
    return tacit.reveal(bank)


PLAN = everything.trace(BANK)


def shared(bank: Any) -> list[tuple[Any, ...]]:
    with tacit.local() as run:
        got = run(PLAN, bank=bank)
    names = {tables.hash_of(name): name for name in ("ann", "bob")}
    rows = []
    for row in got.itertuples(index=False):
        values = [None if pd.isna(value) else value for value in row]
        values[4] = None if values[4] is None else str(values[4].date())
        values[6] = None if values[6] is None else names[values[6]]
        rows.append(tuple(values))
    return rows


EXPECTED = [
    (3, 0.1, None, None, "2000-12-31", "east", None, False),
    (7, 10.25, 1.5, True, "1960-02-29", "west", "ann", True),
    (12, 999.99, -2.25, False, None, "west", "bob", True),
]


def test_a_table_comes_from_pandas_arrow_and_files(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS)
    assert shared(frame) == EXPECTED
    typed = frame.astype({"id": "Int16", "dose": "Float64", "well": "boolean", "ward": "category"})
    assert shared(typed.assign(born=pd.to_datetime(frame["born"]))) == EXPECTED
    assert shared({name: np.array(values, dtype=object) for name, values in ROWS.items()}) == EXPECTED
    exact = [decimal.Decimal(str(cost)) for cost in ROWS["cost"]]
    table = arrow.table({**ROWS, "cost": arrow.array(exact, arrow.decimal128(15, 2))})
    assert shared(table) == EXPECTED
    assert shared(table.to_batches()[0]) == EXPECTED
    parquet.write_table(table, tmp_path / "bank.parquet")
    feather.write_feather(table, tmp_path / "bank.arrow")
    frame.to_csv(tmp_path / "bank.csv", index=False)
    for name in ("bank.parquet", "bank.arrow", "bank.csv"):
        assert shared(tmp_path / name) == EXPECTED


@pytest.mark.parametrize(
    ("column", "row", "value", "says"),
    [
        ("id", 1, 100, r"column 'id', row 1: 100 is beyond what is declared, integer\(0, 99\)"),
        ("id", 2, None, r"column 'id', row 2: the value is missing \(NA\), as are 1 in all"),
        ("id", 0, 2.5, "column 'id', row 0: 2.5 is no integer"),
        ("id", 1, "x", "column 'id', row 1: 'x' is no integer"),
        ("id", 2, 7, "rows 0 and 2 have the same id, which is declared unique"),
        ("cost", 1, 0.125, "column 'cost', row 1: 0.125 has more than 2 decimal places"),
        ("cost", 0, -0.01, "column 'cost', row 0: -0.01 is beyond what is declared"),
        ("cost", 0, float("inf"), "column 'cost', row 0: inf"),
        ("dose", 2, 5.5, "column 'dose', row 2: 5.5 is beyond what is declared"),
        ("well", 1, "maybe", "column 'well', row 1: 'maybe' is neither true nor false"),
        ("born", 0, "1960-02-30", "column 'born', row 0: '1960-02-30' is no day"),
        ("born", 0, datetime.datetime(1960, 1, 1, 12), "column 'born', row 0: .* is no day"),
        ("born", 0, datetime.date(1949, 12, 31), "column 'born', row 0: .* is beyond what is declared"),
        (
            "ward",
            2,
            "north",
            "column 'ward', row 2: 'north' is none of the words of the category: 'east', 'west'",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_named(column: str, row: int, value: Any, says: str) -> None:
    rows = {name: list(values) for name, values in ROWS.items()}
    rows[column][row] = value
    with tacit.local() as run, pytest.raises(tacit.InputError, match=f"table bank of bank.*{says}"):
        run(PLAN, bank={name: np.array(values, dtype=object) for name, values in rows.items()})


def test_a_timestamp_with_a_time_of_day_is_no_day() -> None:
    frame = pd.DataFrame(ROWS).assign(
        born=pd.to_datetime(["1960-01-01 00:00", "1970-01-01 07:30", "1980-01-01 00:00"])
    )
    with pytest.raises(tacit.InputError, match="column 'born', row 1: .* has a time of day"):
        shared(frame)


def test_a_table_of_another_form_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS)
    for bank, says in [
        (frame.drop(columns="ward"), "has no column 'ward'; its columns are id, cost"),
        (frame.drop(columns="note"), "has no column 'note'"),
        (pd.concat([frame] * 3), "has 9 rows, and the plan has room for rows=6"),
        (3, "a int is no table"),
        (tmp_path / "none.csv", "there is no file"),
        ({**ROWS, "id": [1]}, "different lengths"),
    ]:
        with pytest.raises(tacit.InputError, match=says):
            shared(bank)
    (tmp_path / "bad.csv").write_text("id,cost\n1\n")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    for name, says in [("bad.csv", "line 2 of .* has 1 fields"), ("bad.parquet", "can't be read")]:
        with pytest.raises(tacit.InputError, match=says):
            shared(tmp_path / name)


def test_owners_give_several_tables_and_other_inputs() -> None:
    one = tacit.table("bank", {"x": tables.integer(0, 9)}, rows=2, name="one")
    two = tacit.table("bank", {"x": tables.integer(0, 9)}, rows=2, name="two")
    factor = tacit.secret("bank", dtype=tacit.int32, range=(0, 9))

    @tacit.function
    def total(one: Any, factor: Any, two: Any) -> Any:
        sums = [table.group_by().agg(x=("x", "sum"))["x"].value for table in (one, two)]
        return tacit.reveal(sums[0] * factor + sums[1])

    plan = total.trace(one, factor, two)
    first, second = {"x": [1, 2]}, {"x": [5]}
    with tacit.local() as run:
        assert run(plan, bank=[first, 3, second]) == [14]
        assert run(plan, bank={"one": first, "two": second, "factor": 3}) == [14]
        assert run(plan, one=first, two=second, factor=3) == [14]
        for wrong, says in [
            ({"bank": [first, second]}, "bank gives one, factor, two, and the list has 2"),
            ({"bank": first}, "bank gives several"),
            ({"one": first, "bank": [first, 3, second]}, "one of bank is given twice"),
            ({"one": first, "factor": 3}, "no value is given for two"),
        ]:
            with pytest.raises(tacit.InputError, match=says):
                run(plan, **wrong)


def test_declarations_that_make_no_sense_are_refused() -> None:
    column = tables.integer(0, 9)
    for options, says in [
        ({"schema": {}}, "has no columns"),
        ({"schema": {"x": tacit.int32}}, "is no type of a column"),
        ({"rows": 0}, "rows=0"),
        ({"unique": "y"}, "has no column 'y'"),
        ({"schema": {"x": tables.integer(0, 9, null=True)}, "unique": "x"}, "may be null"),
        ({"owner": "all"}, "can't be an owner"),
    ]:
        known: dict[str, Any] = {"owner": "a", "schema": {"x": column}, "rows": 3, **options}
        with pytest.raises(tacit.ProgramError, match=says):
            tacit.table(known.pop("owner"), known.pop("schema"), **known)
    with pytest.raises(tacit.ProgramError, match="holds nothing"):
        tables.integer(3, 2)
    with pytest.raises(tacit.SecretError, match="only declares an input"):
        BANK + 1


def test_the_command_reads_tables(tmp_path: Path) -> None:
    plan = tacit.sql("select ward, sum(cost) as cost from bank group by ward", bank=BANK)
    plan.save(tmp_path / "wards.plan")
    pd.DataFrame(ROWS).to_csv(tmp_path / "bank.csv", index=False)
    run = ("run", tmp_path / "wards.plan", "--simulate", "--input")
    done = command(*run, f"bank={tmp_path}/bank.csv")
    assert done.returncode == 0, done.stderr
    assert "cost#0, to all:\n[10 101024]" in done.stdout
    pd.DataFrame({**ROWS, "id": [1, 2, 300]}).to_csv(tmp_path / "wrong.csv", index=False)
    done = command(*run, f"bank.bank={tmp_path}/wrong.csv")
    assert done.returncode == 2
    assert "column 'id', row 2: '300' is beyond what is declared" in done.stderr
    done = command(*run, f"shop={tmp_path}/bank.csv")
    assert "no table called 'shop'; its tables are: bank.bank" in done.stderr


def test_a_plan_with_another_schema_is_no_plan(tmp_path: Path) -> None:
    PLAN.save(tmp_path / "all.plan")
    data = (tmp_path / "all.plan").read_bytes()
    (tmp_path / "other.plan").write_bytes(data.replace(b'"east"', b'"EAST"', 1))
    assert tacit.Plan.load(tmp_path / "all.plan") == PLAN
    # The first words are those of the result, the others those of the table that comes in.
    (tmp_path / "other.plan").write_bytes(data.replace(b'"east"', b'"EAST"'))
    with pytest.raises(tacit.PlanError, match="isn't the one that the program was made for"):
        tacit.Plan.load(tmp_path / "other.plan")
