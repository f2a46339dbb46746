"""Where an owner's table comes from: pandas, Arrow, arrays, files; column by column, nothing converted."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

Values: TypeAlias = "tuple[Any, Any]"
"""An array of values, and one of bools that says which are missing."""

SUFFIXES = (".csv", ".parquet", ".arrow", ".feather")


def columns_of(value: Any, wanted: Sequence[str], title: str) -> dict[str, Values]:
    """The columns that a schema names; others are left alone.

    Raises:
        InputError: It is no table, a column isn't there, or they aren't of one length.
    """
    if isinstance(value, (str, os.PathLike)):
        value = _read(Path(value), wanted, title)
    if hasattr(value, "column_names") and hasattr(value, "column"):  # Arrow.
        names, column = list(value.column_names), value.column
    elif hasattr(value, "columns") and hasattr(value, "iloc"):  # pandas.
        names, column = list(value.columns), value.__getitem__
    elif isinstance(value, Mapping):
        names, column = list(value), value.__getitem__
    elif getattr(getattr(value, "dtype", None), "names", None):
        names, column = list(value.dtype.names), value.__getitem__
    else:
        raise InputError(
            f"{title}: a {type(value).__name__} is no table; give a pandas DataFrame, an Arrow table, "
            f"a dict of columns, or the path of a file ({', '.join(SUFFIXES)})"
        )
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InputError(
            f"{title} has no column {missing[0]!r}; its columns are {', '.join(map(str, names))}"
        )
    columns = {name: _values(column(name)) for name in wanted}
    lengths = {len(values) for values, _ in columns.values()}
    if len(lengths) > 1:
        raise InputError(
            f"{title}: the columns have different lengths ({', '.join(map(str, sorted(lengths)))})"
        )
    return columns


def _values(column: Any) -> Values:
    import numpy as np

    if type(column).__module__.partition(".")[0] == "pyarrow":
        return _from_arrow(column)
    if hasattr(column, "isna") and hasattr(column, "to_numpy"):
        missing = column.isna().to_numpy()
        if missing.any() and getattr(column.dtype, "kind", "O") in "iufb":
            first = column[~column.isna()]
            filler = first.iloc[0] if len(first) else 0
            column = column.fillna(filler)
        if getattr(column.dtype, "kind", "O") in "iufb" and not isinstance(column.dtype, np.dtype):
            column = column.astype(column.dtype.numpy_dtype)
        return _known(column.to_numpy(), missing)
    array = np.asarray(column)
    return _known(array, np.zeros(len(array), dtype=bool))


def _known(array: Any, missing: Any) -> Values:
    """An array in which nothing else is missing either."""
    import numpy as np

    if array.ndim != 1:
        raise InputError(f"a column has one axis, and this has {array.ndim}")
    if array.dtype.kind == "f":
        missing = missing | np.isnan(array)
    elif array.dtype.kind == "M":
        missing = missing | np.isnat(array)
    elif array.dtype.kind == "O":
        missing = missing | np.array([one is None for one in array], dtype=bool)
    return array, missing


def _from_arrow(column: Any) -> Values:
    import numpy as np
    import pyarrow as arrow

    missing = np.asarray(column.is_null())
    kind = column.type
    if arrow.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if arrow.types.is_date32(kind):
        return np.asarray(column.cast(arrow.int32()).fill_null(0)).astype("datetime64[D]"), missing
    if arrow.types.is_integer(kind) or arrow.types.is_floating(kind):
        return np.asarray(column.fill_null(0)), missing
    if arrow.types.is_boolean(kind):
        return np.asarray(column.fill_null(False)), missing
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_pylist()
    return values, missing


def _read(path: Path, wanted: Sequence[str], title: str) -> Any:
    if not path.is_file():
        raise InputError(f"{title}: there is no file {path}")
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return _read_csv(path, wanted, title)
    if suffix not in SUFFIXES:
        raise InputError(f"{title}: {path} is none of {', '.join(SUFFIXES)}")
    try:
        import pyarrow as arrow
        from pyarrow import feather, parquet
    except ImportError:
        raise InputError(f"{title}: {path} needs pyarrow: pip install pyarrow") from None
    try:
        if suffix == ".parquet":
            schema = parquet.read_schema(path)
            return parquet.read_table(path, columns=[name for name in wanted if name in schema.names])
        return feather.read_table(path)
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"{title}: {path} can't be read: {error}") from None


def _read_csv(path: Path, wanted: Sequence[str], title: str) -> dict[str, Any]:
    """Texts, which the schema says how to read; what is empty is missing."""
    import numpy as np

    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            head = next(lines, [])
            places = {name: head.index(name) for name in wanted if name in head}
            rows = []
            for line in lines:
                if len(line) != len(head):
                    raise InputError(
                        f"{title}: line {lines.line_num} of {path} has {len(line)} fields, "
                        f"and the first {len(head)}"
                    )
                rows.append([line[place] or None for place in places.values()])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{title}: {path} can't be read: {error}") from None
    columns: dict[str, Any] = {name: np.empty(len(rows), dtype=object) for name in places}
    for number, name in enumerate(places):
        columns[name][:] = [row[number] for row in rows]
    # Names that nobody asked for are there to be told of.
    return {**{name: [] for name in head if name not in columns}, **columns}
