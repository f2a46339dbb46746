"""What the elements of a secret are: bools, integers, fixed point, integers that wrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

MAX_FRACTION = 32
"""Fraction bits that a declared fixed-point number may have."""

KindName: TypeAlias = Literal["bool", "int", "fixed", "wrapping"]


@dataclass(frozen=True, slots=True)
class DType:
    """A type of elements; made by `fixed` and `ring`, or one of `bool_`, `int8`, `int16`, `int32`, `int64`.

    Attributes:
        kind: "bool", "int", "fixed" or "wrapping".
        bits: Fraction bits of fixed point, width of an integer, 1 for a bool.
    """

    kind: KindName
    bits: int

    @property
    def unit(self) -> int:
        """How many raw steps make 1: 2 to the number of fraction bits, 1 for all but fixed point."""
        return 1 << self.bits if self.kind == "fixed" else 1

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest raw value that the type can hold."""
        if self.kind in ("bool", "wrapping"):
            return 0, (1 << self.bits) - 1
        half = 1 << ((64 if self.kind == "fixed" else self.bits) - 1)
        return -half, half - 1

    def real(self, raw: int) -> int | float:
        """A raw value as the number that it stands for."""
        return raw / self.unit if self.kind == "fixed" else raw

    def __repr__(self) -> str:
        return {
            "bool": "bool_",
            "int": f"int{self.bits}",
            "fixed": f"fixed({self.bits})",
            "wrapping": f"ring({self.bits})",
        }[self.kind]


bool_ = DType("bool", 1)
int8 = DType("int", 8)
int16 = DType("int", 16)
int32 = DType("int", 32)
int64 = DType("int", 64)


def fixed(fraction: int) -> DType:
    """Numbers with `fraction` bits after the binary point: multiples of 2**-fraction, in 64 bits in all.

    Inputs are rounded to the nearest multiple, and so are products.

    Raises:
        ValueError: `fraction` isn't from 1 to 32.
    """
    if not 1 <= fraction <= MAX_FRACTION:
        raise ValueError(f"fixed({fraction}): the fraction bits have to be from 1 to {MAX_FRACTION}")
    return DType("fixed", fraction)


def ring(bits: int) -> DType:
    """Integers modulo 2**bits, from 0 to 2**bits - 1: sums and products wrap around, and there is no order.

    Raises:
        ValueError: `bits` isn't 8, 16, 32 or 64.
    """
    if bits not in (8, 16, 32, 64):
        raise ValueError(f"ring({bits}): the bits have to be 8, 16, 32 or 64")
    return DType("wrapping", bits)
