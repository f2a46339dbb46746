"""Tables as the command tells of them: what is declared of those that come in, and rows of revealed ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tacit import _tree
from tacit._table import printable, table
from tacit.errors import InputError, PlanError
from tacit.tables.schema import Schema, columns_from_json, hold

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tacit._values import Public
    from tacit.tables.types import ColumnType

SHOWN = 100
"""Rows that are all printed."""

EDGE = 10
"""Rows at either end of a longer table that are."""


def described(structure: str, shapes: Mapping[tuple[str, str], tuple[int, ...]]) -> tuple[str, str] | None:
    """What is declared of the tables that come into a saved plan, in words and as JSON; `None` without any.

    Args:
        structure: What the plan's function returns, as JSON.
        shapes: Shapes of the plan's inputs, by owner and name.

    Raises:
        PlanError: The program was made for others.
    """
    try:
        known = json.loads(structure).get("tables", ())
        schemas = [Schema.from_json(one) for one in known]
        hold(schemas, shapes)
    except (ValueError, AttributeError) as error:
        raise PlanError(f"the plan's tables are damaged: {error}") from None
    if not schemas:
        return None
    lines = [printable(line) for schema in schemas for line in schema.in_words()]
    return "\n".join(lines), json.dumps(known)


def revealed(structure: str, outputs: list[Public | None], file: Path | None) -> tuple[str, str] | None:
    """A revealed table as people read it, and as JSON; `None` if it isn't learnt here.

    Args:
        structure: Where it stands in what the plan's function returns, as JSON.
        outputs: All that the plan reveals, or `None` for what is not learnt here.
        file: Where it is written to besides.

    Raises:
        PlanError: The plan is damaged.
        InputError: There can't be such a file, or not without packages.
    """
    try:
        known = json.loads(structure)
        frame = _tree.together(known, outputs)
        columns = columns_from_json(known["table"]["columns"])
    except (ValueError, TypeError, KeyError) as error:
        raise PlanError(f"the plan's tables are damaged: {error}") from None
    if file is not None:
        _write(frame, file)
    if frame is None:
        return None
    cells = [[_plain(kind, value) for value in frame[name].tolist()] for name, kind in columns.items()]
    rows = list(zip(*cells, strict=True))
    return _printed(columns, rows), json.dumps({"columns": list(columns), "rows": rows})


def _plain(kind: ColumnType, value: Any) -> Any:
    """A value as JSON has it; `None` for NaN, NaT and NA, which aren't the same as themselves."""
    if value is None or (value == value) is not True:
        return None
    return value.isoformat()[:10] if kind.kind == "date" else value


def _printed(columns: dict[str, ColumnType], rows: list[tuple[Any, ...]]) -> str:
    """Rows under the names of columns; of many those at either end."""
    long = len(rows) > SHOWN
    shown = [*rows[:EDGE], *rows[-EDGE:]] if long else rows
    kinds = list(columns.values())
    cells = [[_cell(kind, value) for kind, value in zip(kinds, row, strict=True)] for row in shown]
    if long:
        cells.insert(EDGE, ["..."] * len(kinds))
    sides = "".join("r" if kind.kind in ("integer", "decimal", "number") else "l" for kind in kinds)
    last = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    return f"{table([printable(name) for name in columns], cells, sides)}\n{last}"


def _cell(kind: ColumnType, value: Any) -> str:
    if value is None:
        return "null"
    return f"{value:.{kind.places}f}" if kind.kind == "decimal" else printable(str(value))


def _write(frame: Any, file: Path) -> None:
    """Writes a table, if it is one, to a file whose name says how."""
    suffix = file.suffix.lower()
    try:
        import pandas

        if suffix != ".csv":
            import pyarrow  # noqa: F401
    except ImportError as error:
        raise InputError(f"{file} needs {error.name}: pip install {error.name}") from None
    if not file.parent.is_dir():
        raise InputError(f"{file} can't be written: there is no folder {file.parent}")
    if frame is None:
        return
    frame = pandas.DataFrame(frame)
    if suffix == ".csv":
        frame.to_csv(file, index=False)
    elif suffix == ".parquet":
        frame.to_parquet(file, engine="pyarrow", index=False)
    else:
        frame.to_feather(file)
