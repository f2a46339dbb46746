"""Whether a result is the one that DuckDB gives."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import pandas as pd
import sqlglot

from tacit import tables

if TYPE_CHECKING:
    from collections.abc import Sequence

STEP = 2**-16
"""By how much a quotient may be off: by a step of what it is given in."""


def differs(got: pd.DataFrame, expected: pd.DataFrame, query: str) -> str | None:
    """What of a query's result isn't right: its rows are compared as wholes, and in its order.

    Rows that its ORDER BY leaves in any order are in any order. Sums are exact, quotients so to a step, and
    texts are their hashes.
    """
    if list(got.columns) != list(expected.columns) or len(got) != len(expected):
        return f"{len(got)} rows of {', '.join(got.columns)}, where {len(expected)} are expected"
    hashes = [
        pd.api.types.is_integer_dtype(got[name]) and not pd.api.types.is_numeric_dtype(expected[name])
        for name in got.columns
    ]
    found, wanted = _rows(got, [False] * len(hashes)), _rows(expected, hashes)
    keys = [list(got.columns).index(name) for name in _ordered(query)]

    def tied(place: int) -> list[Any]:
        return [wanted[place][key] for key in keys]

    for _, group in itertools.groupby(range(len(wanted)), tied):
        places = list(group)
        left = [found[place] for place in places]
        for place in places:
            row = wanted[place]
            same = next((one for one in left if all(map(_is_same, one, row))), None)
            if same is None:
                return f"row {place} is {left[0]}, where {row} is expected"
            left.remove(same)
    return None


def _ordered(query: str) -> list[str]:
    """The columns that a query orders its result by."""
    order = sqlglot.parse_one(query, dialect="duckdb").args.get("order")
    return [] if order is None else [one.this.name for one in order.expressions]


def _rows(frame: pd.DataFrame, hashes: Sequence[bool]) -> list[tuple[Any, ...]]:
    """Rows of numbers, words, dates, and `None` for what is missing; some words as hashes."""
    columns = [
        [None if pd.isna(cell) else tables.hash_of(cell) if hashed else cell for cell in frame[name].tolist()]
        for name, hashed in zip(frame.columns, hashes, strict=True)
    ]
    return list(zip(*columns, strict=True))


def _is_same(got: Any, expected: Any) -> bool:
    if isinstance(got, float) or isinstance(expected, float):
        numbers = isinstance(got, (int, float)) and isinstance(expected, (int, float))
        return numbers and math.isclose(got, expected, rel_tol=1e-12, abs_tol=STEP)
    return bool(got == expected)
