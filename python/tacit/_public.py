"""Products and quotients with public numbers: how many bits a factor is given."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit._location import fault
from tacit._values import is_float, largest, smallest
from tacit.dtypes import MAX_FRACTION
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from tacit._tensor import Tensor
    from tacit._values import Public

_ROOM = 61
"""Bits of a product's magnitude that leave the sign bit and the guard bit of an exact truncation free."""


def factor(tensor: Tensor, value: Any, terms: int = 1) -> int:
    """The number of a factor beside `tensor`, of whose products as many terms are summed.

    A public floating-point number beside fixed point is written with the fewest bits that hold it exactly, or
    else with so many (32 at most) that what its own rounding changes in the result is half a step at most, if
    the tensor's range leaves room for that many.

    Raises:
        ProgramError: A number that isn't 0 would become 0.
    """
    from tacit._tensor import Tensor, known_value

    if isinstance(value, Tensor):
        return tensor._operand(value)
    known = known_value(value)
    if tensor._kind.kind != "fixed" or not is_float(known):
        return tensor._operand(known)
    return _written(tensor, known, terms)


def divide(tensor: Tensor, divisor: Any) -> Tensor:
    """`tensor / divisor`, for fixed point and public divisors. See `Tensor.__truediv__`."""
    from tacit._tensor import Tensor, known_value

    if isinstance(divisor, Tensor):
        raise tensor._no_secret_divisor()
    known = known_value(divisor)
    if tensor._kind.kind != "fixed":
        raise fault(
            ProgramTypeError,
            f"`/` is not defined for {tensor.dtype}",
            "convert it first, with x.astype(tacit.fixed(16)), or round down with //",
        )
    if smallest(known) == 0:
        raise fault(ProgramError, "division by 0")
    number = _written(tensor, 1 / known, terms=1)
    return tensor._made(tensor._at().mul(tensor._id, number))


def floor_divide(tensor: Tensor, divisor: Any) -> Tensor:
    """`tensor // divisor` for a public integer above 0. See `Tensor.__floordiv__`.

    For 0 <= x <= X and d there are m and s with x // d == x * m >> s for all x: m = ceil(2**s / d), as soon
    as (m d - 2**s) X < 2**s (after Granlund and Montgomery 1994, theorem 4.2). Negative x are moved up by a
    multiple of d.
    """
    from tacit._tensor import Tensor

    if isinstance(divisor, Tensor):
        raise tensor._no_secret_divisor()
    if isinstance(divisor, float) and divisor.is_integer():
        divisor = int(divisor)
    if isinstance(divisor, bool) or not hasattr(divisor, "__index__") or not 0 < int(divisor) < 1 << 62:
        raise fault(
            ProgramTypeError, "// is defined for a public integer above 0 only", "use / for fixed point"
        )
    by = int(divisor)
    if tensor._kind.kind == "fixed":
        from tacit.dtypes import int64

        return (tensor.astype(int64) // by).astype(tensor.dtype)
    if tensor._kind.kind != "int":
        raise fault(ProgramTypeError, f"`//` is not defined for {tensor.dtype}")
    if by & (by - 1) == 0:
        return tensor >> (by.bit_length() - 1)
    moved = max(0, -(tensor._kind.low // by))
    raised = tensor + moved * by if moved else tensor
    shift = by.bit_length() - 1
    while True:
        shift += 1
        multiplier = -(-(1 << shift) // by)
        if (multiplier * by - (1 << shift)) * raised._kind.high < 1 << shift:
            break
    quotient = (raised * multiplier) >> shift
    return quotient - moved if moved else quotient


def _written(tensor: Tensor, value: Public, terms: int) -> int:
    """The constant that a factor is written as. See `factor`."""
    own, size = tensor._kind.bits, largest(value)
    if not math.isfinite(size):
        return tensor._constant(value, own)  # which refuses it, and says which element it is
    reach = max(abs(tensor._kind.low), abs(tensor._kind.high)) * terms
    wanted = max(own, reach.bit_length())
    room = _ROOM - int(reach * size).bit_length()
    # Without room even for the tensor's own bits the product is refused when it is made.
    bits = _exact_bits(value, min(MAX_FRACTION, max(own, min(wanted, room))))
    if size and size * 2**bits < 0.5:
        low, high = tensor.range
        raise fault(
            ProgramError,
            f"{size:g} would become 0 beside values of {tensor.dtype} from {low:g} to {high:g}",
            "declare a narrower range=(low, high), or scale the secret first",
        )
    return tensor._constant(value, bits)


def _exact_bits(value: Public, most: int) -> int:
    """The fewest fraction bits, from 1 on, that hold a value exactly; `most` if that isn't fewer."""
    if isinstance(value, (bool, int, float)):
        denominator = float(value).as_integer_ratio()[1]
        return min(most, max(1, denominator.bit_length() - 1))
    import numpy as np

    for bits in range(1, most):
        scaled = np.ldexp(np.asarray(value, dtype=np.float64), bits)
        if (scaled == np.floor(scaled)).all():
            return bits
    return most
