"""Quotients that are rounded down, and what they leave."""

from __future__ import annotations

from typing import Any

from tacit._elementary import raw_of
from tacit._functions import array_of, where
from tacit._location import fault
from tacit._ranges import within
from tacit._rounding import trunc
from tacit._tensor import Tensor, binary, known_value, tensor_of
from tacit._values import is_float
from tacit.dtypes import fixed
from tacit.errors import ProgramError, ProgramTypeError


def floor_divide(a: Any, b: Any) -> Tensor:
    """`a // b`: of fixed point, whole numbers in its type. The range of a secret `b` has to exclude 0."""
    x, y, bits = _raws(a, b, "//")
    return _whole(_quotient(x, y), bits)


def remainder(a: Any, b: Any) -> Tensor:
    """`a % b`: what `//` leaves, of the sign of `b`."""
    x, y, bits = _raws(a, b, "%")
    left = _left(x, y, _quotient(x, y)) if isinstance(y, int) and y > 0 else binary("remainder", x, y)
    return raw_of(left, bits)


def divided(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """`divmod(a, b)`: a quotient, and a product for what it leaves."""
    x, y, bits = _raws(a, b, "divmod")
    quotient = _quotient(x, y)
    return _whole(quotient, bits), raw_of(_left(x, y, quotient), bits)


def fmod(a: Any, b: Any) -> Tensor:
    """What a quotient that is cut off behind the point leaves, of the sign of `a`."""
    left = remainder(abs(a), abs(array_of(b)))
    return where(array_of(a) < 0, -left, left)


def modf(a: Tensor) -> tuple[Tensor, Tensor]:
    """What is behind the point and what is before it, both of the sign of `a`."""
    whole = trunc(a)
    return a - whole, whole


def _quotient(x: Any, y: Any) -> Tensor:
    """Of integers: by a public one above 0 a truncation or a few, and else a circuit on bits."""
    if isinstance(y, int) and y > 0:
        one: Tensor = x
        return one._made(one._at().floor_divide(one._id, y))
    return binary("quotient", x, y)


def wide_ratio(x: Tensor, y: int, low: int, high: int, *, beside: Tensor | None = None) -> Tensor:
    """`x / y` in fixed(16), to the nearest step, for integers that fixed(16) has no room for.

    Args:
        x: The integers.
        y: What they are divided by, above 0.
        low: The least whole number that isn't above the result.
        high: The largest.
        beside: Whole numbers that are added to the quotient.
    """
    whole = _quotient(x, y)
    part = (_left(x, y, whole) * (2 << 16) + y) // (2 * y)
    part = within(part, 0, ((y - 1) * (2 << 16) + y) // (2 * y))
    whole = within(whole if beside is None else whole + beside, low, high)
    return raw_of(whole * (1 << 16) + part, 16)


def whole_and_rest(x: Tensor, y: int) -> tuple[Tensor, Tensor]:
    """`divmod(x, y)` of integers, by a public one above 0."""
    whole = _quotient(x, y)
    return whole, _left(x, y, whole)


def _left(x: Any, y: Any, quotient: Tensor) -> Tensor:
    """`x - quotient y`, in the range that follows from its being a remainder."""
    if isinstance(x, Tensor) and isinstance(y, int) and y > 0:
        reach, most = (max(-one._kind.low, one._kind.high) for one in (x, quotient))
        half, rest = y // 2, y - y // 2
        if reach + most * max(half, 1) >= 1 << 63:
            left = binary("remainder", x, y)
        elif reach + most * y >= 1 << 63:
            # There is no room for their difference: half of the product is taken away first.
            low, high = quotient._kind.low * rest, quotient._kind.high * rest + y - 1
            left = within(x - quotient * half, low, high) - quotient * rest
        else:
            left = binary("sub", x, quotient * y)
    else:
        left = binary("sub", x, quotient * y)
    ends = (y._kind.low, y._kind.high) if isinstance(y, Tensor) else (_least(y), -_least(-y))
    low, high = (0, ends[1] - 1) if ends[0] > 0 else (ends[0] + 1, 0)
    if isinstance(x, Tensor) and ends[0] > 0 and x._kind.low >= 0:
        high = min(high, x._kind.high)
    return within(left, low, high)


def _least(known: Any) -> int:
    import numpy as np

    return int(np.min(known))


def _whole(quotient: Tensor, bits: int) -> Tensor:
    return quotient.astype(fixed(bits)) if bits else quotient


def _raws(a: Any, b: Any, name: str) -> tuple[Any, Any, int]:
    """Both as integers of the same fraction bits, and how many these are."""
    one = tensor_of(a, b)
    both = [value if isinstance(value, Tensor) else known_value(value) for value in (a, b)]
    bits = 0
    for value in both:
        if not isinstance(value, Tensor):
            bits = max(bits, 16 if is_float(value) and one.dtype.kind != "fixed" else 0)
        elif value.dtype.kind == "fixed":
            bits = max(bits, value.dtype.bits)
        elif value.dtype.kind not in ("int", "bool"):
            raise fault(
                ProgramTypeError, f"`{name}` is not defined for {value.dtype}", "use fixed(16) or integers"
            )
    x, y = (_raw(value, bits, name) for value in both)
    return x, y, bits


def _raw(value: Any, bits: int, name: str) -> Any:
    import numpy as np

    if isinstance(value, Tensor):
        number = value + 0 if value.dtype.kind == "bool" else value
        return raw_of(number.astype(fixed(bits))) if bits else number
    whole = np.asarray(value)
    if bits:
        scaled = np.ldexp(whole.astype(float), bits)
        if (scaled != np.floor(scaled)).any() or not (abs(scaled) < 2.0**62).all():
            raise fault(
                ProgramError,
                f"`{name}` of fixed({bits}) beside {value}, which is no multiple of 2**-{bits} or too large",
                "count in smaller units: x * 100 // 10 for x // 0.1, with x in hundredths",
            )
        whole = scaled.astype(np.int64)
    elif any(not -(1 << 63) <= one < 1 << 63 for one in whole.ravel().tolist()):
        raise fault(ProgramError, f"`{name}` beside {value}, which 64 bits don't hold", "use less than 2**63")
    return whole if whole.shape else int(whole)
