"""What the elements of a secret are: bools, integers, fixed point, integers to a modulus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

MAX_FRACTION = 32
"""Fraction bits that a declared fixed-point number may have."""

DEFAULT_BITS = 47
"""Bits of a raw value where no range is declared: less than 2**31 for fixed(16). It leaves room for sums."""

PRIMES = {61: 2**61 - 1, 128: 2**128 - 159}
"""The prime moduli, by the bits of their elements."""

_PRIME_NAMES = {61: "2**61 - 1", 128: "2**128 - 159"}

KindName: TypeAlias = Literal["bool", "int", "fixed", "modular", "field"]


@dataclass(frozen=True, slots=True)
class DType:
    """A type of elements; made by `fixed` and `modular`, or one of `bool_` and `int8` to `int64`.

    Attributes:
        kind: "bool", "int", "fixed", "modular" (to a power of two) or "field" (to a prime).
        bits: Fraction bits of fixed point, width of an integer or of an element, 1 for a bool.
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
        if self.kind == "bool":
            return 0, 1
        if self.modulus is not None:
            return 0, self.modulus - 1
        half = 1 << ((64 if self.kind == "fixed" else self.bits) - 1)
        return -half, half - 1

    @property
    def default_limits(self) -> tuple[int, int] | None:
        """The least and the largest raw value of a secret without a declared range; `None` if it has none."""
        if self.kind not in ("int", "fixed"):
            return None
        low, high = self.limits
        return max(low, -(1 << DEFAULT_BITS)), min(high, (1 << DEFAULT_BITS) - 1)

    @property
    def modulus(self) -> int | None:
        """What sums and products are reduced by; `None` if they aren't."""
        if self.kind == "modular":
            return 1 << self.bits
        return PRIMES[self.bits] if self.kind == "field" else None

    def real(self, raw: int) -> int | float:
        """A raw value as the number that it stands for."""
        return raw / self.unit if self.kind == "fixed" else raw

    def __repr__(self) -> str:
        return {
            "bool": "bool_",
            "int": f"int{self.bits}",
            "fixed": f"fixed({self.bits})",
            "modular": f"modular(2**{self.bits})",
            "field": f"modular({_PRIME_NAMES.get(self.bits)})",
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


def modular(modulus: int) -> DType:
    """Integers modulo 2**n (for an n from 1 to 128), 2**61 - 1 or 2**128 - 159: from 0 to the modulus less 1.

    Sums and products wrap around, and there is no order. Those modulo 2**8, 2**16, 2**32 and 2**64 can also
    be compared for equality, chosen by bools, and made of them.

    Raises:
        ValueError: The modulus is another one.
    """
    for bits, prime in PRIMES.items():
        if modulus == prime:
            return DType("field", bits)
    bits = modulus.bit_length() - 1
    if not 1 <= bits <= 128 or modulus != 1 << bits:
        raise ValueError(
            f"modular({modulus}): the modulus has to be 2**1 to 2**128, 2**61 - 1 or 2**128 - 159"
        )
    return DType("modular", bits)


def ring(bits: int) -> DType:
    """`modular(2**bits)`, by the number of bits.

    Raises:
        ValueError: `bits` isn't from 1 to 128.
    """
    if not 1 <= bits <= 128:
        raise ValueError(f"ring({bits}): the bits have to be from 1 to 128")
    return modular(1 << bits)
