"""What goes along when the rows of two tables are put in one order: a tensor of each in one slot."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit._functions import concatenate, where
from tacit._location import fault
from tacit._ranges import within
from tacit.errors import ProgramError
from tacit.tables.column import constant
from tacit.tables.sorting import parity, summed

if TYPE_CHECKING:
    from tacit._tensor import Tensor

DELTA_BITS = 61
"""Bits of sums of differences, at most."""


@dataclass
class Known:
    """What slots hold once the rows are in order."""

    sums: list[Tensor]
    values: list[Tensor]


class Slots:
    """Tensors of both tables that go along, two in one: rows of one table leave those of the other alone."""

    def __init__(self, alone: int, many: int) -> None:
        self._lengths = alone, many
        self._tensors: tuple[list[Tensor], list[Tensor]] = ([], [])
        self._kinds: tuple[list[_Kind], list[_Kind]] = ([], [])

    def differences(self, tensor: Tensor) -> int:
        """A tensor of the first table, of which the differences go along; its number."""
        kind, raw = _kind_of(tensor)
        if kind.is_bool:
            change = concatenate([raw[:1], raw[1:] ^ raw[:-1]]) if len(raw) > 1 else raw
        else:
            if (kind.high - kind.low) << sum(self._lengths).bit_length() >= 1 << DELTA_BITS:
                raise fault(
                    ProgramError,
                    f"a column from {kind.low} to {kind.high} has no room in a join of {sum(self._lengths)}",
                    "declare a narrower range, or leave the column out with select",
                )
            first = raw[:1] - kind.low
            change = concatenate([first, raw[1:] - raw[:-1]]) if len(raw) > 1 else first
        return self._noted(0, kind, change)

    def values(self, tensor: Tensor) -> int:
        """A tensor of the second table, which goes along as it is; its number."""
        return self._noted(1, *_kind_of(tensor))

    def rows(self) -> tuple[list[Tensor], list[Tensor]]:
        """What goes along, for the rows of each table."""
        first, second = [], []
        for a, b in self._pairs():
            one = None if a is None else self._tensors[0][a]
            other = None if b is None else self._tensors[1][b]
            if one is None:
                assert b is not None
                assert other is not None
                one = constant(other, _filler(other, self._kinds[1][b].low), self._lengths[0])
            first.append(one)
            second.append(constant(one, _filler(one, 0), self._lengths[1]) if other is None else other)
        return first, second

    def flag(self, place: int, merged: list[Tensor], seeks: Tensor) -> Tensor:
        """A bool of the second table alone, where its rows are."""
        both = zip(self._pairs(), merged, strict=True)
        return next(slot for (_, b), slot in both if b == place) & seeks

    def taken_apart(self, merged: list[Tensor], seeks: Tensor, settled: Tensor) -> Known:
        """What was put together, and the differences as sums, where those are settled."""
        sums: dict[int, Tensor] = {}
        values: dict[int, Tensor] = {}
        for (a, b), slot in zip(self._pairs(), merged, strict=True):
            if a is not None:
                kind = self._kinds[0][a]
                if kind.is_bool:
                    sums[a] = parity(slot if b is None else slot & ~seeks)
                else:
                    change = slot if b is None else where(seeks, 0, slot)
                    sums[a] = kind.typed(where(settled, summed(change) + kind.low, kind.low))
            if b is not None:
                kind = self._kinds[1][b]
                if kind.is_bool:
                    values[b] = slot & seeks
                else:
                    values[b] = kind.typed(slot if a is None else where(seeks, slot, kind.low))
        return Known(
            [sums[place] for place in range(len(sums))], [values[place] for place in range(len(values))]
        )

    def _noted(self, side: int, kind: _Kind, tensor: Tensor) -> int:
        self._tensors[side].append(tensor)
        self._kinds[side].append(kind)
        return len(self._kinds[side]) - 1

    def _pairs(self) -> list[tuple[int | None, int | None]]:
        """Which tensors share a slot: bools with bools, numbers with numbers."""
        pairs: list[tuple[int | None, int | None]] = []
        for is_bool in (True, False):
            mine, theirs = (
                [place for place, kind in enumerate(kinds) if kind.is_bool is is_bool]
                for kinds in self._kinds
            )
            pairs += itertools.zip_longest(mine, theirs)
        return pairs


@dataclass(frozen=True)
class _Kind:
    """What a tensor that goes along holds, in raw values."""

    is_bool: bool
    bits: int
    low: int
    high: int

    def typed(self, raw: Tensor) -> Tensor:
        """A tensor of this kind, of raw values that are in its range."""
        if (raw._kind.low, raw._kind.high) != (self.low, self.high):
            raw = within(raw, self.low, self.high)
        return raw._made(raw._at().raw_as(raw._id, self.bits)) if self.bits else raw


def _kind_of(tensor: Tensor) -> tuple[_Kind, Tensor]:
    if tensor.dtype.kind == "bool":
        return _Kind(True, 0, 0, 1), tensor
    raw = tensor._made(tensor._at().raw_as(tensor._id, 0))
    bits = tensor.dtype.bits if tensor.dtype.kind == "fixed" else 0
    return _Kind(False, bits, raw._kind.low, raw._kind.high), raw


def _filler(beside: Tensor, value: int) -> Any:
    """What stands in a slot where a table has nothing."""
    return False if beside.dtype.kind == "bool" else value
