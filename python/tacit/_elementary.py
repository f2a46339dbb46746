"""Functions of secret numbers: exp, log, sigmoid and their like, quotients, roots; each a circuit on bits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit import _pieces
from tacit._location import fault
from tacit._tensor import Tensor, tensor_of
from tacit.dtypes import fixed
from tacit.errors import ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST = 47
"""Quotients and exponentials are below 2**47 steps: the last number before it stands for what is beyond."""


def exp(a: Tensor) -> Tensor:
    """E to the power `a`, within a step of its type or 2**-20 of itself; below 2**31 for fixed(16).

    What is beyond is the last number before it.
    """
    return _exp(tensor_of(a), math.inf)


def log(a: Tensor) -> Tensor:
    """The natural logarithm, within a step; of 0 and below, that of the least step above 0."""
    return _octaves(a, _ln, "log")


def log2(a: Tensor) -> Tensor:
    """The logarithm to base 2, as `log`."""
    return _octaves(a, _lb, "log2")


def log10(a: Tensor) -> Tensor:
    """The logarithm to base 10, as `log`."""
    return _octaves(a, _lg, "log10")


def sigmoid(a: Tensor) -> Tensor:
    """1 / (1 + exp(-a)), within a step."""
    one = tensor_of(a)
    return _even(one, _sigmoid, "sigmoid", (0.0, 1.0), lambda bits: (bits + 1) * math.log(2))


def tanh(a: Tensor) -> Tensor:
    """The hyperbolic tangent, within a step."""
    one = tensor_of(a)
    return _even(one, _tanh, "tanh", (-1.0, 1.0), lambda bits: (bits + 2) * math.log(2) / 2)


def normal_cdf(a: Tensor) -> Tensor:
    """How likely a standard normal number is at most `a`, within a step."""
    one = tensor_of(a)
    return _even(
        one, _normal_cdf, "normal_cdf", (0.0, 1.0), lambda bits: math.sqrt(2 * math.log(2) * (bits + 1))
    )


def sqrt(a: Tensor) -> Tensor:
    """The square root, to the nearest step; 0 of what is below 0. A circuit with a digit after another."""
    one = _number(a, "sqrt")
    return one._call("sqrt", one._id)


def rsqrt(a: Tensor) -> Tensor:
    """1 / sqrt(a)."""
    return reciprocal(sqrt(a))


def reciprocal(a: Tensor) -> Tensor:
    """1 / a, as `/` by secrets."""
    return divide(1, a)


def divide(a: Any, b: Any) -> Tensor:
    """`a / b` for a secret `b`, to the nearest step of the finer one; integers become fixed(16).

    What is beyond 2**47 steps (2**31 for fixed(16)) is the last number before it, and a `b` of 0 counts as
    its least step, so 0 / 0 is 0. A circuit with a digit after another.
    """
    divisor = _number(b, "/")
    if not isinstance(a, Tensor) and divisor.dtype.kind != "fixed":
        divisor = divisor.astype(fixed(16))
    if isinstance(a, Tensor):
        _number(a, "/")
    return divisor._call("ratio", divisor._operand(a), divisor._id)


def softmax(a: Tensor, axis: int = -1) -> Tensor:
    """exp(a) / exp(a).sum(axis), with the largest taken away first: within a few steps."""
    one = tensor_of(a)
    powers = _exp(one - one.max(axis, keepdims=True), 0.0)
    # The largest one's is 1.
    total = powers.sum(axis, keepdims=True)
    least = total._call("maximum", total._id, total._operand(1.0))
    return divide(powers, least)


def _exp(one: Tensor, most: float) -> Tensor:
    one = _number(one, "exp")
    result = one.dtype.bits if one.dtype.kind == "fixed" else 16
    largest = (LARGEST - result) * math.log(2) - 2.0**-10
    low, high = one.range
    top = min(largest, _power(max(high, 1)), most)
    bottom = -min((result + 2) * math.log(2), _power(max(-low, 1)))
    unit = one.dtype.unit
    ends = 0, (1 << LARGEST) - 1
    table = _pieces.even(
        _exponential,
        unit.bit_length() - 1,
        result,
        math.floor(bottom * unit),
        math.floor(top * unit),
        ends,
        2.0**-20,
    )
    return one._made(one._at().piecewise(one._id, *table.arguments(result)))


def _even(
    a: Tensor,
    function: Callable[[Any], Any],
    name: str,
    ends: tuple[float, float],
    flat: Callable[[int], float],
) -> Tensor:
    """A function that is flat from some place on, on both sides."""
    one = _number(a, name)
    result = one.dtype.bits if one.dtype.kind == "fixed" else 16
    low, high = one.range
    beyond = flat(result)
    bottom, top = -min(beyond, _power(max(-low, 1))), min(beyond, _power(max(high, 1)))
    unit = one.dtype.unit
    table = _pieces.even(
        function,
        unit.bit_length() - 1,
        result,
        math.floor(bottom * unit),
        math.ceil(top * unit),
        (int(ends[0]) << result, int(ends[1]) << result),
    )
    return one._made(one._at().piecewise(one._id, *table.arguments(result)))


def _octaves(a: Tensor, function: Callable[[Any], Any], name: str) -> Tensor:
    one = _number(a, name)
    result = one.dtype.bits if one.dtype.kind == "fixed" else 16
    unit = one.dtype.unit
    # Few sizes of tables, of which many programs use the same.
    bits = min(63, max(1, -(-int(max(one.range[1], 0) * unit).bit_length() // 4) * 4))
    table = _pieces.octaves(function, unit.bit_length() - 1, result, bits)
    return one._made(one._at().piecewise(one._id, *table.arguments(result)))


def _number(a: Tensor, name: str) -> Tensor:
    """An operand that has an order; bools as integers."""
    one = tensor_of(a)
    if one.dtype.kind in ("modular", "field"):
        raise fault(ProgramTypeError, f"`{name}` is not defined for {one.dtype}", "use fixed(16) or integers")
    return one + 0 if one.dtype.kind == "bool" else one


def _power(end: float) -> float:
    """The least power of two from `end` on: so that ranges that differ little have one table."""
    return 2.0 ** math.ceil(math.log2(end))


def _exponential(x: Any) -> Any:
    import numpy as np

    return np.exp(x)


def _ln(x: Any) -> Any:
    import numpy as np

    return np.log(x)


def _lb(x: Any) -> Any:
    import numpy as np

    return np.log2(x)


def _lg(x: Any) -> Any:
    import numpy as np

    return np.log10(x)


def _sigmoid(x: Any) -> Any:
    import numpy as np

    return 1 / (1 + np.exp(-x))


def _tanh(x: Any) -> Any:
    import numpy as np

    return np.tanh(x)


def _normal_cdf(x: Any) -> Any:
    import numpy as np

    return np.vectorize(lambda one: 0.5 * math.erfc(-one / math.sqrt(2)), otypes=[float])(x)
