"""Revealed tables, as pandas has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import RunError
from tacit.tables.schema import columns_from_json, columns_to_json

if TYPE_CHECKING:
    from tacit.tables.types import ColumnType


def frame(description: Any, values: dict[Any, Any]) -> Any:
    """A DataFrame of what was revealed, or a dict of arrays without pandas; `None` if it was to others.

    Raises:
        ValueError: The description or the values are no table's.
        RunError: The rows are more than a bound that the program declares.
    """
    import numpy as np

    try:
        columns = columns_from_json(description["columns"])
        faults = [str(message) for message in description["faults"]]
        rows = values["rows"]
        if rows is None:
            return None
        wrong = [message for place, message in enumerate(faults) if np.any(values[f"fault {place}"])]
        parts = {
            name: [values[f"{name}#{part}"] for part in range(kind.parts)] for name, kind in columns.items()
        }
        nulls = {name: values[f"{name}?"] for name, kind in columns.items() if kind.null}
    except (KeyError, TypeError) as error:
        raise ValueError(f"the description of a table is damaged: {error}") from None
    if wrong:
        raise RunError(
            f"the table has no result, because {'; '.join(wrong)}: raise the bound and run again; "
            "no row was shown"
        )
    there = np.asarray(rows, dtype=bool)
    made = {}
    for name, kind in columns.items():
        null = ~np.asarray(nulls[name])[there] if kind.null else None
        made[name] = _series(kind, [np.asarray(part)[there] for part in parts[name]], null)
    try:
        import pandas
    except ImportError:
        return made
    return pandas.DataFrame(made)


def described(columns: dict[str, ColumnType], faults: list[str]) -> dict[str, Any]:
    """What `frame` needs to know, as JSON can hold it."""
    return {"columns": columns_to_json(columns), "faults": faults}


def _series(kind: ColumnType, parts: list[Any], null: Any) -> Any:
    import numpy as np

    values = parts[0]
    if kind.kind == "decimal":
        values = values / kind.unit
    elif kind.kind == "date":
        values = values.astype("datetime64[D]").astype("datetime64[s]")
    elif kind.kind == "category":
        if len(values) and not 0 <= values.min() <= values.max() < len(kind.words):
            raise ValueError("a revealed word is none of its category")
        values = np.array(kind.words, dtype=object)[values] if len(values) else np.array([], dtype=object)
    elif kind.kind == "text":
        values = (values << 32) | (parts[1] + (1 << 31))
    if null is None or not null.any():
        return values
    if kind.kind in ("decimal", "number"):
        return np.where(null, np.nan, values)
    if kind.kind == "date":
        return np.where(null, np.datetime64("NaT"), values)
    if kind.kind == "category":
        return np.where(null, None, values)
    try:
        import pandas
    except ImportError:
        return np.where(null, None, values.astype(object))
    dtype = "boolean" if kind.kind == "boolean" else "Int64"
    return pandas.array(np.where(null, None, values.astype(object)), dtype=dtype)
