"""Joins with a table of few rows: each row is compared with each of them, and none moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit._ranges import within
from tacit._tensor import Tensor, matmul
from tacit.tables.column import Column, both_valid

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tacit.tables.table import Table

FEW = 128
"""Rows of a table that others are compared with one by one."""

PAIRS = 1 << 25
"""Comparisons of a join, at most: each takes memory of its own."""


def is_small(alone: Table, many: Table) -> bool:
    """Whether comparing all with all is cheaper than putting them in order."""
    return len(alone) <= FEW and len(alone) * len(many) <= PAIRS


def looked_up(
    alone: Table, first: Sequence[Column], second: Sequence[Column], needed: Iterable[str]
) -> tuple[Tensor, dict[str, Column]]:
    """Where a row that counts has the key of a row, and what it has in some columns; 0 where there is none.

    Args:
        alone: The table of few rows, of which those that count have different keys.
        first: Its keys.
        second: Those of the other table, of the same types.
        needed: Columns of the table of few rows.
    """
    rows = alone.valid.reshape(1, -1)
    equal: Tensor | None = None
    for one, other in zip(first, second, strict=True):
        for a, b in zip(one.parts, other.parts, strict=True):
            same = b.reshape(-1, 1) == a.reshape(1, -1)
            equal = same if equal is None else equal & same
    assert equal is not None
    there = both_valid(*first)
    match = equal & (rows if there is None else rows & there.reshape(1, -1))
    found = _odd(match)
    there = both_valid(*second)
    if there is not None:
        match, found = match & there.reshape(-1, 1), found & there
    columns = {}
    for name in needed:
        column = alone[name]
        columns[name] = column.with_tensors([_chosen(match, tensor) for tensor in column.tensors()])
    return found, columns


def _chosen(match: Tensor, values: Tensor) -> Tensor:
    """Of the one row that matches, if there is one, its value."""
    if values.dtype.kind == "bool":
        return _odd(match & values.reshape(1, -1))
    kind, low, high = values.dtype, values._kind.low, values._kind.high
    raw = values._made(values._at().raw_as(values._id, 0))
    # From the low end on, so that no match is within the range.
    chosen = within(matmul(match + 0, raw - low), 0, high - low) + low
    return chosen._made(chosen._at().raw_as(chosen._id, kind.bits)) if kind.kind == "fixed" else chosen


def _odd(bits: Any) -> Tensor:
    """Whether one bit of each row holds, of which at most one does. Free."""
    while bits.shape[1] > 1:
        half = bits.shape[1] // 2
        joined = bits[:, :half] ^ bits[:, half : 2 * half]
        if bits.shape[1] % 2:
            # The one that is left over goes to the first.
            last = bits[:, -1:]
            joined = _joined(joined[:, :1] ^ last, joined[:, 1:] if half > 1 else None)
        bits = joined
    result: Tensor = bits.reshape(-1)
    return result


def _joined(first: Tensor, rest: Tensor | None) -> Tensor:
    from tacit._functions import concatenate

    return first if rest is None else concatenate([first, rest], axis=1)
