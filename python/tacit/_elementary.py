"""Functions of secret numbers: exp, log, sigmoid and their like, quotients, roots; each a circuit on bits."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

from tacit import _pieces
from tacit._location import fault
from tacit._ranges import within
from tacit._tensor import Tensor, known_value, matmul, tensor_of
from tacit.dtypes import fixed
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

_FINE = 24
"""Fraction bits of logarithms whose powers are taken."""

_RAISED = 60
"""Bits by which a dividend or what a root is taken of can be raised."""

LARGEST = 47
"""Quotients and exponentials are below 2**47 steps: the last number before it stands for what is beyond."""


def exp(a: Tensor) -> Tensor:
    """E to the power `a`, within a step of its type or 2**-20 of itself, below 2**31 for fixed(16).

    What is beyond is the power at the last place before it: for fixed(16) 2**31 but for 2**-16 of itself.
    """
    return _exp(tensor_of(a), math.inf, _exponential, 1.0, "exp")


def exp2(a: Tensor) -> Tensor:
    """Two to the power `a`, as `exp`."""
    import numpy as np

    return _exp(tensor_of(a), math.inf, np.exp2, math.log(2), "exp2")


def cosh(a: Tensor) -> Tensor:
    """The hyperbolic cosine, within two steps or 2**-19 of itself; ends where `exp` does, at 2**47 steps."""
    rising, falling = _half_powers(a, "cosh")
    return rising + falling


def sinh(a: Tensor) -> Tensor:
    """The hyperbolic sine, as far off as `cosh`."""
    rising, falling = _half_powers(a, "sinh")
    return rising - falling


def _half_powers(a: Tensor, name: str) -> list[Tensor]:
    """Half of `exp` of a number and of its negative: raw values of a fraction bit less are those of half."""
    one = _real(tensor_of(a), name)
    bits = one.dtype.bits if one.dtype.kind == "fixed" else 16
    return [raw_of(_exp(each, math.inf, _exponential, 1.0, name, bits - 1), bits) for each in (one, -one)]


def last_power(bits: int, rate: float = 1.0) -> float:
    """Up to where powers of a base have room as so many fraction bits; `rate` is the base's logarithm."""
    return (LARGEST - bits) * math.log(2) / rate


def power(a: Tensor, exponent: float) -> Tensor:
    """A power with a public exponent: an integer, by squaring, each product rounded; or any other number.

    0.5 and -0.5 are by roots, and -2 and its like one quotient, to the nearest step, where 64 bits hold the
    power. All others are exp(y log a), within a step or (1 + abs(y)) 2**-20 of the result, up to the last
    place of `exp`; of what is below 0 as of 0, but for whole exponents.
    """
    if getattr(exponent, "shape", None) == () and hasattr(exponent, "item"):
        exponent = exponent.item()
    if isinstance(exponent, float) and exponent in (0.5, -0.5):
        return sqrt(a) if exponent > 0 else rsqrt(a)
    if getattr(exponent, "shape", ()) or isinstance(exponent, (list, tuple)):
        raise fault(ProgramTypeError, "the exponent of ** has to be one number", "say x**2, x**3 and so on")
    if isinstance(exponent, float) and exponent.is_integer():
        exponent = int(exponent)
    if isinstance(exponent, float) and math.isfinite(exponent):
        _check_room(a, exponent)
        return real_power(a, exponent)
    if isinstance(exponent, bool) or not hasattr(exponent, "__index__"):
        raise fault(
            ProgramTypeError,
            f"the exponent of ** has to be a public number, not {exponent!r}",
            "for a secret one, np.exp(y * np.log(x))",
        )
    left = int(exponent)
    if left < 0:
        return _inverse_power(a, -left)
    if left == 0:
        return a * 0 + 1
    result, squared = None, a
    while True:
        if left & 1:
            result = squared if result is None else result * squared
        left >>= 1
        if not left:
            return a.copy() if result is a else result if result is not None else squared
        squared = squared * squared


def power_of(base: Any, exponent: Tensor) -> Tensor:
    """A public number above 0 to a secret power: as far off as `exp`, but an integer where powers are few."""
    import numpy as np

    known = known_value(base)
    low, high = exponent.range
    if isinstance(known, int) and exponent.dtype.kind == "int" and low >= 0 and high < 64:
        powers = [known**one for one in range(int(low), int(high) + 1)]
        if sum(map(abs, powers)) < 1 << 62:
            from tacit._keys import hot

            chosen = hot(exponent - int(low), len(powers)) + 0
            return within(matmul(chosen, np.array(powers)), min(powers), max(powers))
    if np.ndim(known) or not 0 < float(known) < math.inf:
        raise fault(
            ProgramTypeError,
            f"{base!r} to a secret power",
            "the base has to be one public number above 0; for a secret one, np.exp(y * np.log(x))",
        )
    number = float(known)
    if number == 1:
        return exponent * 0 + 1.0
    if number < 1:
        return power_of(1 / number, -exponent)
    return _exp(tensor_of(exponent), math.inf, _powers_of(number), math.log(number), "**")


@functools.lru_cache(maxsize=256)
def _powers_of(base: float) -> Callable[[Any], Any]:
    import numpy as np

    rate = np.log(np.longdouble(base))
    return lambda x: np.exp(x * rate)


def _inverse_power(a: Tensor, exponent: int) -> Tensor:
    """1 / a**exponent: a quotient by the exact power where 64 bits hold it, and else by the logarithm."""
    from tacit._functions import clip, where

    if exponent == 1 or a.dtype.kind != "fixed":
        return 1 / a**exponent
    bits = a.dtype.bits
    by = (exponent + 1) * bits
    # From here on the power is less than half a step.
    far = math.ceil(2.0 ** ((by + 1) / exponent))
    ends = [max(-far, min(end, far)) for end in (a._kind.low, a._kind.high)]
    if by <= _RAISED and max(map(abs, ends)) ** exponent < 1 << 62:
        raw = clip(raw_of(a), *ends)
        return raw_of(raised_ratio(1, raw**exponent, by), bits)
    made = real_power(abs(a), -float(exponent))
    return where(a < 0, -made, made) if exponent % 2 and a._kind.low < 0 else made


def _check_room(a: Tensor, exponent: float) -> None:
    """Refuses a power that a range says may be beyond the last number, as products are refused."""
    (low, high), bits = a.range, a.dtype.bits if a.dtype.kind == "fixed" else 16
    if exponent <= 0 or high <= 1 or exponent * math.log2(high) <= LARGEST - bits:
        return
    whole = math.floor(exponent)
    instead = ""
    if exponent - whole == 0.5 and exponent * math.log2(high) < 61 - bits:
        instead = f"write {'x' if whole == 1 else f'x**{whole}'} * np.sqrt(x), which has room; or "
    raise fault(
        ProgramError,
        f"the power {exponent:g} of numbers from {low:g} to {high:g} may be 2**{LARGEST - bits} or more",
        f"{instead}declare range=(low, high) for what is given: up to "
        f"{2.0 ** ((LARGEST - bits) / exponent):.6g} there is room",
    )


def real_power(a: Tensor, exponent: float) -> Tensor:
    """A power whose exponent isn't whole: the logarithm is as fine as the largest power needs it.

    What is beyond 2**47 steps is the power at the last place before it.
    """
    from tacit._functions import where

    one = _real(a, "**")
    bits = one.dtype.bits if one.dtype.kind == "fixed" else 16
    if exponent > 0 and one.range[1] <= 0:
        return one.astype(fixed(bits)) * 0
    low, high = (max(end, 2.0**-bits) for end in one.range)
    scaled = _octaves(one, _ln, "**", max(_FINE, bits)) * exponent
    # The logarithm of the largest power, or a sixteenth more, so that few tables are made.
    reached = exponent * math.log(high if exponent > 0 else low)
    top = min((LARGEST - bits) * math.log(2), (math.floor(16 * reached) + 1) / 16)
    bottom = -min((bits + 2) * math.log(2), _power(max(-scaled.range[0], 1)))
    last = min(math.ceil(math.exp(top) * 2.0**bits * (1 + 2.0**-18)) + 2, (1 << LARGEST) - 1)
    made = _even(scaled, "**", _exponential, (bottom, top), (0, last), 2.0**-20, bits)
    return where(one > 0, made, 0) if exponent > 0 and one.range[0] <= 0 else made


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
    return _flat(one, _sigmoid, "sigmoid", (0, 1), lambda bits: (bits + 1) * math.log(2))


def tanh(a: Tensor) -> Tensor:
    """The hyperbolic tangent, within a step."""
    one = tensor_of(a)
    return _flat(one, _tanh, "tanh", (-1, 1), lambda bits: (bits + 2) * math.log(2) / 2)


def normal_cdf(a: Tensor) -> Tensor:
    """How likely a standard normal number is at most `a`, within a step."""
    one = tensor_of(a)
    return _flat(one, _normal_cdf, "normal_cdf", (0, 1), lambda bits: math.sqrt(2 * math.log(2) * (bits + 1)))


def logaddexp(a: Any, b: Any) -> Tensor:
    """log(exp(a) + exp(b)), within a step: the larger one, and what the smaller one adds."""
    from tacit._functions import maximum
    from tacit._statistics import as_fixed

    one = as_fixed(tensor_of(a, b))
    a, b = (as_fixed(one._made(one._operand(value))) for value in (a, b))
    below = -abs(a - b)
    bits = below.dtype.bits
    bottom = -min((bits + 1) * math.log(2), _power(max(-below.range[0], 1)))
    return maximum(a, b) + _even(below, "logaddexp", _log_of_more, (bottom, 0), (0, 1 << bits))


def sqrt(a: Tensor) -> Tensor:
    """The square root, to the nearest step; 0 of what is below 0. A circuit with a digit after another."""
    one = _number(a, "sqrt")
    return one._call("sqrt", one._id)


def rsqrt(a: Tensor) -> Tensor:
    """1 / sqrt(a), within a step, or 2**-30 of itself; of 0 and below, that of the least step above 0.

    A quotient by a root that is finer than `a`: by as much as the least `a` needs it.
    """
    from tacit._functions import clip

    one = _number(a, "rsqrt")
    own = one.dtype.bits if one.dtype.kind == "fixed" else 0
    result = own or 16
    raw = raw_of(one)
    raw = raw if raw._kind.low > 0 else clip(raw, 1, max(raw._kind.high, 1))
    # Half a step of the root is a part 2**-(by / 2 + 1) / sqrt(raw) of it: at most half a step of the result.
    by = 2 * (result + 1 - int(raw._kind.low).bit_length()) + own
    by = max(min(by, _RAISED - own % 2), 2 - own % 2)
    places = result + (by + own) // 2
    over = max(places - _RAISED, 0)
    return raw_of(raised_ratio(1 << over, raised_root(raw, by), places - over), result)


def raw_of(a: Tensor, frac: int = 0) -> Tensor:
    """The number of so many fraction bits with the same raw value. Free."""
    return a._made(a._at().raw_as(a._id, frac))


def raised_root(a: Tensor, by: int) -> Tensor:
    """The root of `a 2**by`, to the nearest, for integers and a `by` from 1 to 60."""
    label = raw_of(a, by)
    return raw_of(label._call("sqrt", label._id))


def raised_ratio(a: Tensor | int, b: Tensor, by: int) -> Tensor:
    """`a 2**by / b`, to the nearest, for integers and a `by` from 0 to 60; at most 2**47."""
    one = a if isinstance(a, Tensor) else b._made(b._constant(a, 0))
    # The core raises a quotient by the fraction bits of both, so that these say by how much.
    one, divisor = (raw_of(one, by), raw_of(b, by)) if by else (raw_of(one, 1), b)
    return raw_of(one._call("ratio", one._id, divisor._id))


def reciprocal(a: Tensor) -> Tensor:
    """1 / a, as `/` by secrets."""
    return divide(1, a)


def divide(a: Any, b: Any) -> Tensor:
    """`a / b` for a secret `b`, to the nearest step of the finer one; integers become fixed(16).

    What is beyond 2**47 steps (2**31 for fixed(16)) is the last number before it, and a `b` of 0 counts as
    its least step, so 0 / 0 is 0. A circuit with a digit after another: few where `a` is a part of a sum
    `b`, as in x / x.sum(), which is known to be at most 1. So is x / np.linalg.norm(x).
    """
    from tacit._functions import clip
    from tacit._ranges import within

    divisor = _number(b, "/")
    if not isinstance(a, Tensor) and divisor.dtype.kind != "fixed":
        divisor = divisor.astype(fixed(16))
    if isinstance(a, Tensor):
        _number(a, "/")
    known = isinstance(a, Tensor) and isinstance(b, Tensor) and a._is_part_of(b)
    # An integer is raised by the fraction bits twice, for which there may be no room.
    is_fine = not isinstance(a, Tensor) and 2 * divisor.dtype.bits > _RAISED
    number = divisor._constant(known_value(a), divisor.dtype.bits) if is_fine else divisor._operand(a)
    made = divisor._call("part" if known else "ratio", number, divisor._id)
    if isinstance(a, Tensor) and isinstance(b, Tensor) and b._norm_of is not None and b._norm_of[0] == a._id:
        return within(made, -made.dtype.unit, made.dtype.unit) if b._norm_of[1] else clip(made, -1, 1)
    return made


def softmax(a: Tensor, axis: int = -1) -> Tensor:
    """exp(a) / exp(a).sum(axis), with the largest taken away first: within a step for fixed(16).

    The powers are finer than the result by two bits and those of their number, so that all together are off
    by a quarter of a step; and each by 2**-20 of itself, which is more than a step for finer types.
    """
    one = _real(a, "softmax")
    bits = one.dtype.bits if one.dtype.kind == "fixed" else 16
    many = int(one.shape[axis]).bit_length()
    finer = max(bits, min(bits + many + 2, 62 - many))
    below = one - one.max(axis, keepdims=True)
    powers = _exp(below, 0.0, _exponential, 1.0, "softmax", finer)
    # Of powers and sums as numbers of `bits` fraction bits the quotients are the same.
    parts, whole = (
        value._made(value._at().raw_as(value._id, bits))
        for value in (powers, powers.sum(axis, keepdims=True))
    )
    return parts._call("part", parts._id, whole._id)


def _exp(
    a: Tensor,
    most: float,
    function: Callable[[Any], Any],
    rate: float,
    name: str,
    result: int | None = None,
) -> Tensor:
    """A power of a base whose logarithm is `rate`, of numbers that are at most `most`."""
    one = _real(a, name)
    if result is None:
        result = one.dtype.bits if one.dtype.kind == "fixed" else 16
    last = last_power(result, rate)
    if one.range[0] > last and most > last:
        raise fault(
            ProgramError,
            f"`{name}` of numbers from {one.range[0]:g} on is beyond its last number, that of {last:.6g}",
            "take away what all have: np.exp(x - 20) is np.exp(x) by np.exp(20); or use fewer fraction bits",
        )
    top = min(last, _power(max(one.range[1], 1)), most)
    bottom = -min((result + 2) * math.log(2) / rate, _power(max(-one.range[0], 1)))
    return _even(one, name, function, (bottom, top), (0, (1 << LARGEST) - 1), 2.0**-20, result)


def _flat(
    a: Tensor,
    function: Callable[[Any], Any],
    name: str,
    ends: tuple[int, int],
    flat: Callable[[int], float],
) -> Tensor:
    """A function that is flat from some place on, on both sides."""
    one = _real(a, name)
    result = one.dtype.bits if one.dtype.kind == "fixed" else 16
    beyond, (low, high) = flat(result), one.range
    domain = -min(beyond, _power(max(-low, 1))), min(beyond, _power(max(high, 1)))
    return _even(one, name, function, domain, (ends[0] << result, ends[1] << result))


def _even(
    one: Tensor,
    name: str,
    function: Callable[[Any], Any],
    domain: tuple[float, float],
    ends: tuple[int, int],
    relative: float = 0.0,
    result: int | None = None,
) -> Tensor:
    """A function by pieces of one length between the ends of its domain; beyond, what it is at the end."""
    if result is None:
        result = one.dtype.bits if one.dtype.kind == "fixed" else 16
    unit = one.dtype.unit
    low, high = math.floor(domain[0] * unit), math.floor(domain[1] * unit)
    table = _table(
        one, name, _pieces.even, function, unit.bit_length() - 1, result, low, high, ends, relative
    )
    return one._made(one._at().piecewise(one._id, *table.arguments(result)))


def _octaves(a: Tensor, function: Callable[[Any], Any], name: str, result: int | None = None) -> Tensor:
    one = _real(a, name)
    if result is None:
        result = one.dtype.bits if one.dtype.kind == "fixed" else 16
    unit = one.dtype.unit
    # Few sizes of tables, of which many programs use the same; octaves of few steps have no room for pieces.
    bits = min(63, max(8, -(-int(max(one.range[1], 0) * unit).bit_length() // 4) * 4))
    table = _table(one, name, _pieces.octaves, function, unit.bit_length() - 1, result, bits)
    return one._made(one._at().piecewise(one._id, *table.arguments(result)))


def _number(a: Tensor, name: str) -> Tensor:
    """An operand that has an order; bools as integers."""
    one = tensor_of(a)
    if one.dtype.kind in ("modular", "field"):
        raise fault(ProgramTypeError, f"`{name}` is not defined for {one.dtype}", "use fixed(16) or integers")
    return one + 0 if one.dtype.kind == "bool" else one


def _real(a: Tensor, name: str) -> Tensor:
    """An operand of a function with tables: integers as fixed(16), where there is room."""
    one = _number(a, name)
    low, high = one.range
    return one.astype(fixed(16)) if one.dtype.kind == "int" and max(-low, high) < 1 << 30 else one


def _table(one: Tensor, name: str, make: Callable[..., _pieces.Table], *arguments: Any) -> _pieces.Table:
    """A function's table, if there is a small one for such a range and type."""
    try:
        return make(*arguments)
    except ValueError:
        low, high = one.range
        raise fault(
            ProgramError,
            f"`{name}` of {one.dtype} from {low:g} to {high:g} takes too many pieces",
            "declare a range that is nearer to 0, or fewer fraction bits: fixed(16)",
        ) from None


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


def _log_of_more(x: Any) -> Any:
    import numpy as np

    return np.log1p(np.exp(x))


def _sigmoid(x: Any) -> Any:
    import numpy as np

    return 1 / (1 + np.exp(-x))


def _tanh(x: Any) -> Any:
    import numpy as np

    return np.tanh(x)


def _normal_cdf(x: Any) -> Any:
    import numpy as np

    return np.vectorize(lambda one: 0.5 * math.erfc(-one / math.sqrt(2)), otypes=[float])(x)
