"""Tables from pandas, Arrow, Parquet and CSV; what doesn't fit is named by column and row."""

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
    with pytest.raises(tacit.InputError, match=r"column 'born', row 1: .* has a time of day"):
        shared(frame)


def test_decimals_of_floats_are_not_rounded() -> None:
    kinds = {"cost": tables.decimal(2, 0, 1e9), "count": tables.integer(0, 1 << 40)}
    plan = everything.trace(tacit.table("bank", kinds, rows=2))
    with tacit.local() as run:
        got = run(plan, bank=pd.DataFrame({"cost": [0.1 + 0.2, 50_000_000.29], "count": [1.0, 2.0**39]}))
        assert got.to_numpy().tolist() == [[0.3, 1], [50_000_000.29, 2**39]]
        for column, value in (("cost", 50_000_000.004), ("count", 123_456_789_012.4), ("cost", np.inf)):
            rows = {"cost": [1.0, 2.0], "count": [1.0, 2.0], column: [1.0, value]}
            with pytest.raises(tacit.InputError, match=f"column '{column}', row 1: {value}"):
                run(plan, bank=pd.DataFrame(rows))


@pytest.mark.parametrize("column", ["a?", "a#", "#"])
def test_a_column_is_not_called_as_a_part_of_another(column: str) -> None:
    with pytest.raises(tacit.ProgramError, match="which mark parts of columns"):
        tacit.table("bank", {"a": tables.text(null=True), column: tables.boolean()}, rows=2)


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
        cases: list[tuple[dict[str, Any], str]] = [
            ({"bank": [first, second]}, "bank gives one, factor, two, and the list has 2"),
            ({"bank": first}, "bank gives several"),
            ({"one": first, "bank": [first, 3, second]}, "one of bank is given twice"),
            ({"one": first, "factor": 3}, "no value is given for table two of bank$"),
            (
                {"bonk": first},
                "called 'bonk'; its inputs are table one of bank, factor of bank, table two of bank$",
            ),
        ]
        for wrong, says in cases:
            with pytest.raises(tacit.InputError, match=says):
                run(plan, **wrong)


def test_a_parameters_name_wins_over_an_owners() -> None:
    schema = {"x": tables.integer(0, 9)}
    first = tacit.table("bank", schema, rows=2, name="shop")
    second = tacit.table("shop", schema, rows=2, name="own")
    bank = tacit.secret("shop", dtype=tacit.int32, range=(0, 9))

    @tacit.function
    def sums(shop: Any, own: Any, bank: Any) -> Any:
        return [tacit.reveal(one.group_by().agg(x=("x", "sum"))["x"].value + bank) for one in (shop, own)]

    with tacit.local() as run:
        got = run(sums.trace(first, second, bank), shop={"x": [1, 2]}, own={"x": [3, 4]}, bank=5)
    assert [one.tolist() for one in got] == [[8], [12]]


def test_declarations_that_make_no_sense_are_refused() -> None:
    column = tables.integer(0, 9)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"schema": {}}, "has no columns"),
        ({"schema": {"x": tacit.int32}}, "is no type of a column"),
        ({"rows": 0}, "rows=0"),
        ({"unique": "y"}, "has no column 'y'"),
        (
            {"schema": {"x": tables.integer(0, 9, null=True)}, "unique": "x"},
            "may be null(.|\n)*leave null=True out",
        ),
        ({"owner": "all"}, "can't be an owner"),
    ]
    for options, says in cases:
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
    assert (
        done.stdout == "table, to all:\nward     cost\n----  -------\neast     0.10\nwest  1010.24\n2 rows\n"
    )
    pd.DataFrame({**ROWS, "id": [1, 2, 300]}).to_csv(tmp_path / "wrong.csv", index=False)
    done = command(*run, f"bank.bank={tmp_path}/wrong.csv")
    assert done.returncode == 2
    assert "column 'id', row 2: '300' is beyond what is declared" in done.stderr
    done = command(*run, f"shop={tmp_path}/bank.csv")
    assert (
        "no table called 'shop'; its tables are: bank.bank; an array is read from a NumPy file (.npy"
        in done.stderr
    )


def test_a_plan_with_another_schema_is_no_plan(tmp_path: Path) -> None:
    PLAN.save(tmp_path / "all.plan")
    data = (tmp_path / "all.plan").read_bytes()
    (tmp_path / "other.plan").write_bytes(data.replace(b'"east"', b'"EAST"', 1))
    assert tacit.Plan.load(tmp_path / "all.plan") == PLAN
    # The first words are those of the result, the others those of the table that comes in.
    (tmp_path / "other.plan").write_bytes(data.replace(b'"east"', b'"EAST"'))
    with pytest.raises(tacit.PlanError, match="isn't the one that the program was made for"):
        tacit.Plan.load(tmp_path / "other.plan")
    for before, after in [
        (b'"kind": "text"', b'"kind": "fail"'),
        (b'"rows": 6', b'"rows": 7'),
        (b'"rows": 6', b'"rows": 1000000000000'),
        (b'"high": 99,', b'"high": [],'),
        (b'"null": false', b'"null": 3'),
    ]:
        assert before in data
        (tmp_path / "other.plan").write_bytes(data.replace(before, after))
        with pytest.raises(tacit.PlanError):
            tacit.Plan.load(tmp_path / "other.plan")


def test_arrays_in_the_place_of_a_table_are_as_its_owner_declared_it(tmp_path: Path) -> None:
    bank = tacit.table("bank", {"id": tables.integer(0, 99), "x": tables.integer(0, 9)}, rows=3, unique="id")
    plan = everything.trace(bank)
    plan.save(tmp_path / "bank.plan")
    rows = plan.tables[0].name + "#" + plan.tables[0].digest

    def given(there: list[bool], ids: list[int], x: list[int]) -> tuple[int, str]:
        options = []
        for name, values in {rows: there, "bank.id": ids, "bank.x": x}.items():
            np.save(tmp_path / f"{name}.npy", np.array(values))
            options += ["--input", f"{name}={tmp_path / name}.npy"]
        done = command("run", str(tmp_path / "bank.plan"), "--simulate", *options)
        return done.returncode, done.stderr

    title = "table bank of bank"
    assert given([False, True, True], [4, 4, 7], [1, 1, 2])[0] == 0
    for wrong, words in [
        (([True, True, True], [4, 7, 5], [1, 1, 2]), f"{title}, row 2: id is less than in the row before"),
        (([True, True, True], [4, 5, 5], [1, 1, 2]), f"{title}: rows 1 and 2 have the same id"),
        (([True, False, True], [4, 5, 7], [1, 1, 2]), f"{title}, row 1: it doesn't count"),
        (([False, True, True], [4, 4, 7], [3, 1, 2]), f'{title}, column "x", row 0: it fills'),
    ]:
        code, told = given(*wrong)
        assert code == 2
        assert words in told
    with (
        tacit.local() as run,
        pytest.raises(tacit.InputError, match=r"bank\.id is an array of the table bank"),
    ):
        run(plan, **{"bank.id": [1, 2, 3]})
