"""Products with public numbers and quotients by them: results are rounded once, public numbers not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit._location import fault
from tacit._values import is_float
from tacit.dtypes import MAX_FRACTION
from tacit.errors import ProgramError

if TYPE_CHECKING:
    from tacit._tensor import Tensor
    from tacit._values import Public


def multiply(tensor: Tensor, value: Any) -> Tensor:
    """`tensor * value`, for public numbers. See `Tensor.__mul__`."""
    known = _fractions(tensor, value)
    if known is not None:
        return tensor._made(tensor._at().scale(tensor._id, known))
    number = tensor._operand(value)
    return tensor._call("mul", tensor._id, number)


def matmul(tensor: Tensor, value: Any, *, left: bool, exact: bool) -> Tensor:
    """`tensor @ value`, or `value @ tensor` where `left`, for public numbers. See `tacit.matmul`.

    Raises:
        ProgramError: With `exact`, a number that has more than 32 fraction bits.
    """
    known = _fractions(tensor, value)
    if known is not None and not exact:
        return tensor._made(tensor._at().weigh(tensor._id, known, left))
    other = tensor._operand(value) if known is None else _exact(tensor, known)
    factors = (other, tensor._id) if left else (tensor._id, other)
    return tensor._call("matmul_raw" if exact else "matmul", *factors)


def divide(tensor: Tensor, divisor: Any) -> Tensor:
    """`tensor / divisor`, for public divisors; integers become fixed(16). See `Tensor.__truediv__`."""
    from tacit._statistics import as_fixed
    from tacit._tensor import known_value

    known = known_value(divisor)
    tensor = as_fixed(tensor)
    return tensor._made(tensor._at().divide(tensor._id, known))


def _fractions(tensor: Tensor, value: Any) -> Public | None:
    """Public floating-point numbers beside fixed point; `None` for anything else."""
    from tacit._tensor import known_value

    known = known_value(value)
    return known if tensor._kind.kind == "fixed" and is_float(known) else None


def _exact(tensor: Tensor, value: Public) -> int:
    """A constant with the fewest fraction bits, from 1 on, that hold a value."""
    import numpy as np

    for bits in range(1, MAX_FRACTION + 1):
        scaled = np.ldexp(np.asarray(value, dtype=np.float64), bits)
        if (scaled == np.floor(scaled)).all():
            return tensor._constant(value, bits)
    if not np.isfinite(value).all():
        return tensor._constant(value, MAX_FRACTION)  # which refuses it, and says which element it is
    raise fault(
        ProgramError,
        f"an exact product keeps all fraction bits, and the public factor has more than {MAX_FRACTION}",
        "round it first, for example np.round(w * 2**16) / 2**16, or leave out exact=True",
    )
