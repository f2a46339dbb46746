"""Tables to measure with, and what pandas and DuckDB make of them: `tacit bench join`, `groupby`, `tpch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

import tacit
from tacit import tables
from tacit._bench import WrongResultError
from tacit._tpch import OWNERS, Data, differs
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIRST, SECOND = "P0", "P1"
"""Who gives tables, and the first one is told: parties of the benchmark."""

BITS = 32
"""Of numbers beside a key."""

KEY_BITS = 60
"""Of keys, at most."""

Made: TypeAlias = "tuple[tacit.Plan, dict[str, Any], Callable[[Any], None]]"
"""A plan, what its owners give, and what raises `WrongResultError` if a result is wrong."""


def join(count: int, bits: int, columns: int, seed: int) -> Made:
    """Two tables of so many rows; of the second, about half have a row of the first.

    Keys of the first table are all different. What is measured ends with the joined rows, where they stand.
    """
    draw = np.random.default_rng(seed)
    keys = _different(draw, bits, 2 * count)
    first = _frame(draw, keys[:count], [f"a{one}" for one in range(columns)])
    second = _frame(draw, draw.choice(keys, count), [f"b{one}" for one in range(columns)])
    left = _declared(FIRST, first, bits, unique="key")
    right = _declared(SECOND, second, bits)

    def joined(left: Any, right: Any) -> Any:
        return _rows(right.join(left, on="key"))

    expected = second.merge(first, on="key")
    plan = tacit.function(joined).trace(left, right)
    return plan, {FIRST: first, SECOND: second}, lambda got: _compare(got, expected)


def groupby(count: int, bits: int, columns: int, seed: int) -> Made:
    """A table of so many rows, about eight in a group, and sums of all columns but the key.

    What is measured ends with a row for each group, where it stands.
    """
    draw = np.random.default_rng(seed)
    keys = _different(draw, bits, -(-count // 8))
    names = [f"a{one}" for one in range(columns)]
    frame = _frame(draw, draw.choice(keys, count), names)

    def grouped(rows: Any) -> Any:
        return _rows(rows.group_by("key").agg(**{name: (name, "sum") for name in names}))

    plan = tacit.function(grouped).trace(_declared(FIRST, frame, bits))
    expected = frame.groupby("key", as_index=False).sum()
    return plan, {FIRST: frame}, lambda got: _compare(got, expected)


def tpch(query: int, scale: float, quick: bool, folder: Path) -> Made:
    """A query of TPC-H, whose tables have two owners; of few rows if `quick`."""
    owners = {"lineitem": SECOND, "orders": FIRST, "customer": FIRST}
    data = Data(folder, {**dict.fromkeys(OWNERS, SECOND), **owners}, None if quick else scale)
    data.generate()
    plan = data.planned(query, to=FIRST)

    def check(got: pd.DataFrame) -> None:
        wrong = differs(got, data.answer(query), data.query(query))
        if wrong is not None:
            raise WrongResultError(f"query {query} isn't answered as by DuckDB: {wrong}")

    return plan, data.given(plan), check


def _different(draw: np.random.Generator, bits: int, count: int) -> Any:
    """So many different keys of so many bits."""
    if bits > KEY_BITS:
        raise InputError(f"keys of tables have up to {KEY_BITS} bits here")
    if count > 1 << bits:
        raise InputError(f"keys of {bits} bits can't have {count} different values: take more --bits")
    if count > 1 << (bits - 4):
        return draw.permutation(1 << bits)[:count]
    known: Any = np.zeros(0, dtype=np.int64)
    while len(known) < count:
        known = np.unique(np.concatenate([known, draw.integers(0, 1 << bits, count, dtype=np.uint64)]))
    return draw.permutation(known)[:count].astype(np.int64)


def _frame(draw: np.random.Generator, keys: Any, names: list[str]) -> pd.DataFrame:
    numbers = {name: draw.integers(0, 1 << BITS, len(keys)) for name in names}
    return pd.DataFrame({"key": keys, **numbers})


def _declared(owner: str, frame: pd.DataFrame, bits: int, unique: str | tuple[str, ...] = ()) -> Any:
    kinds = {name: tables.integer(0, (1 << (bits if name == "key" else BITS)) - 1) for name in frame.columns}
    return tacit.table(owner, kinds, rows=len(frame), unique=unique)


def _rows(table: tacit.Table) -> Any:
    """Which rows count, and all columns: as they are, where a revealed table would be put in order."""
    columns = {name: column.value for name, column in table.columns.items()}
    return tacit.reveal({"#": table.valid, **columns}, to=FIRST)


def _compare(got: dict[str, Any], expected: pd.DataFrame) -> None:
    there = got.pop("#")
    rows = pd.DataFrame({name: column[there] for name, column in got.items()})
    both = [
        frame[sorted(expected.columns)].sort_values(sorted(expected.columns)) for frame in (rows, expected)
    ]
    if len(rows) != len(expected) or (both[0].to_numpy() != both[1].to_numpy()).any():
        raise WrongResultError(f"{len(rows)} rows aren't the {len(expected)} that pandas has")
