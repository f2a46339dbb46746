"""Making Boolean circuits gate by gate, and the names of those that are there.

build = tacit.circuits.Builder()
a, b = build.input(2), build.input(2)
build.output([build.xor(a[0], b[0]), build.and_(a[1], b[1])])
both = tacit.circuit(build)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit import _native
from tacit.errors import CircuitError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Builder", "names"]


def names() -> list[str]:
    """The names that `tacit.circuit` knows; one that ends in a depth is the shallow kind of another."""
    return _native.Circuit.names()


class Builder:
    """Makes a circuit gate by gate: `tacit.circuit(builder)`. Wires are numbers.

    All inputs are declared before the first gate. Constants are folded: what is known costs no AND.
    """

    __slots__ = ("_native",)

    def __init__(self) -> None:
        self._native = _native.CircuitBuilder()

    def input(self, bits: int) -> list[int]:
        """Declares the next input: its wires, in order. All inputs have 2^24 bits together at most.

        Raises:
            CircuitError: There are gates already, or these are not so many bits.
        """
        try:
            return self._native.input(bits)
        except OverflowError:
            raise CircuitError(f"an input has 0 to 2^24 bits, not {bits}") from None

    def constant(self, bit: bool) -> int:
        """A bit that everybody knows."""
        return self._native.constant(bit)

    def xor(self, a: int, b: int) -> int:
        """The exclusive or of two wires; free.

        Raises:
            CircuitError: A wire isn't this circuit's.
        """
        try:
            return self._native.xor(a, b)
        except OverflowError:
            raise _no_wire(a, b) from None

    def and_(self, a: int, b: int) -> int:
        """The conjunction of two wires: what a protocol pays for.

        Raises:
            CircuitError: A wire isn't this circuit's.
        """
        try:
            return self._native.and_(a, b)
        except OverflowError:
            raise _no_wire(a, b) from None

    def not_(self, a: int) -> int:
        """The complement of a wire; free.

        Raises:
            CircuitError: The wire isn't this circuit's.
        """
        try:
            return self._native.not_(a)
        except OverflowError:
            raise _no_wire(a) from None

    def output(self, wires: Sequence[int]) -> None:
        """Declares the next output: its wires, in order.

        Raises:
            CircuitError: A wire isn't this circuit's.
        """
        try:
            self._native.output(wires)
        except OverflowError:
            raise _no_wire(*wires) from None


def _no_wire(*wires: int) -> CircuitError:
    """The first of them that no circuit has: they are counted from 0, and there are fewer than 2^32."""
    wrong = next(wire for wire in wires if not 0 <= wire < 1 << 32)
    return CircuitError(f"wire {wrong} is none of this circuit's")
