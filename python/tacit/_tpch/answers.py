"""Whether a result is the one that DuckDB gives."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tacit import tables

TIES = {2, 3, 10, 18, 21}
"""Queries with a LIMIT, which cuts where rows may be equal."""


def differs(got: pd.DataFrame, expected: pd.DataFrame, number: int) -> str | None:
    """What of a query's result isn't right: sums are exact, quotients so to a step, rows in its order."""
    if list(got.columns) != list(expected.columns) or len(got) != len(expected):
        return f"{len(got)} rows of {', '.join(got.columns)}, where {len(expected)} are expected"
    first, second = _comparable(got, got), _comparable(expected, got)
    for name in got.columns:
        a, b = first[name].to_numpy(), second[name].to_numpy()
        if first[name].dtype.kind == "f":
            b = b.astype(float)
            if number == 10 or (number in TIES and name != first.columns[0]):
                a, b = np.sort(a), np.sort(b)
            right = bool(np.allclose(a, b, rtol=1e-9, atol=2e-4, equal_nan=True))
        else:
            right = sorted(map(str, a)) == sorted(map(str, b))
        if not right:
            return f"column {name} has other values"
    return None


def _comparable(frame: pd.DataFrame, like: pd.DataFrame) -> pd.DataFrame:
    """The rows, with those as hashes that are so in another result."""
    frame = frame.copy()
    for name in frame.columns:
        column = frame[name]
        hashed = column.dtype == object and pd.api.types.is_integer_dtype(like[name])
        if isinstance(column.dtype, pd.StringDtype) and pd.api.types.is_integer_dtype(like[name]):
            hashed = True
        if hashed:
            frame[name] = [tables.hash_of(str(word)) for word in column]
        elif pd.api.types.is_numeric_dtype(column):
            frame[name] = pd.to_numeric(column, errors="coerce").astype(float)
        elif pd.api.types.is_datetime64_any_dtype(column):
            frame[name] = column.astype("datetime64[s]")
        else:
            frame[name] = column.astype(object)
    return frame
