"""Real functions of columns: of a null, and of what has no value or room for it, they are null."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit import _curves, _elementary, _rounding
from tacit._location import fault
from tacit.errors import ProgramError, ProgramTypeError
from tacit.tables.alignment import as_number, numeric
from tacit.tables.column import EXACT_PLACES, MOST_PLACES, Column, both_valid, is_public, made

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit._tensor import Tensor

ROOM = 1 << 47
"""Steps at which quotients end."""


def _real(
    name: str, function: Callable[[Tensor], Tensor], last: Callable[[int], float] | None = None
) -> Callable[[Any], Column]:
    """A function that every number has a value of, up to the `last` for results of so many fraction bits."""

    def applied(a: Any) -> Column:
        column = numeric(f"`{name}`", a)
        number = as_number(column)
        value = function(number)
        if last is None:
            return with_value(value, column.valid)
        size = abs(number) if name in ("sinh", "cosh") else number
        return with_value(value, _up_to(size, last(value.dtype.bits), column.valid))

    return applied


def _up_to(number: Tensor, last: float, valid: Tensor | None) -> Tensor | None:
    """Where a number is valid and at most the last of which there is a result."""
    last = math.floor(last * number.dtype.unit) / number.dtype.unit
    if number.range[1] <= last:
        return valid
    inside = number <= last
    return inside if valid is None else valid & inside


def _log(
    name: str, function: Callable[[Tensor], Tensor], clear: Callable[[float], float]
) -> Callable[[Any], Column]:
    """A logarithm: of a decimal that of its digits, which are exact, less that of 10 for each place."""

    def applied(a: Any) -> Column:
        column = numeric(f"`{name}`", a)
        made_of = function(column.value)
        if column.type.kind == "decimal":
            made_of = made_of - column.type.places * clear(10)
        return with_value(made_of, _above(column, 0))

    return applied


def _sqrt(a: Any) -> Column:
    """The root; of a decimal by that of its digits, which are exact."""
    column = numeric("`sqrt`", a)
    kind, value = column.type, column.value
    if kind.kind == "decimal":
        value = value * 10 if kind.places % 2 else value
        root = _elementary.sqrt(value) / 10 ** ((kind.places + 1) // 2)
    else:
        root = _elementary.sqrt(value)
    return with_value(root, _above(column, 0, or_equal=True))


def _hypot(a: Any, b: Any) -> Column:
    one, other = numeric("`hypot`", a), numeric("`hypot`", b)
    return with_value(_curves.hypot(as_number(one), as_number(other)), both_valid(one, other))


def _power(a: Any, b: Any) -> Column:
    """A power with a public exponent: of integers and decimals exact, if it is a whole number from 0 on."""
    base, by = numeric("`**`", a), numeric("`**`", b)
    if not is_public(by):
        raise fault(
            ProgramTypeError,
            f"the exponent of ** has to be a public number, not {by.said()}",
            "use np.exp2(x) for 2**x, and np.exp(y * np.log(x)) for x**y",
        )
    exponent = by.value / by.type.unit
    if exponent in (0.5, -0.5):
        return _sqrt(base) if exponent > 0 else 1 / _sqrt(base)
    kind = base.type
    if exponent >= 0 and exponent.is_integer():
        places = int(kind.places * exponent)
        if kind.kind == "number":
            return real_column(base.value ** int(exponent), base.valid)
        if places > MOST_PLACES:
            raise fault(
                ProgramError,
                f"a power of {places} decimal places",
                "declare the column with fewer places, or say x.astype(float) ** y",
            )
        return exact_column(base.value ** int(exponent), places, base.valid)
    if exponent == -1:
        return 1 / base
    if exponent == -2 and 2 * kind.places <= EXACT_PLACES and max(-kind.low, kind.high) < 1 << 23:
        return 1 / (base * base)
    if exponent.is_integer():
        there = base.valid if kind.low > 0 or kind.high < 0 else _also(base, base != 0)
    else:
        there = _above(base, 0, or_equal=exponent > 0)
    number = as_number(base)
    made_of = number ** int(exponent) if exponent.is_integer() else _elementary.real_power(number, exponent)
    last = 2.0 ** ((_elementary.LARGEST - made_of.dtype.bits) / exponent)
    if exponent > 0:
        return with_value(made_of, _up_to(number, last, there))
    if last * number.dtype.unit > 1:
        there = _up_to(-abs(number) if kind.low < 0 else -number, -last, there)
    return with_value(made_of, there)


def with_value(value: Tensor, valid: Tensor | None) -> Column:
    """Numbers where they have a value, which a quotient at its end has not."""
    raw = _elementary.raw_of(value)
    for end in (-ROOM, ROOM - 1):
        if end in (raw._kind.low, raw._kind.high):
            inside = raw != end
            valid = inside if valid is None else valid & inside
    return real_column(value, valid)


def real_column(value: Tensor, valid: Tensor | None) -> Column:
    """Numbers in fixed point."""
    return made("number", value, places=value.dtype.bits, valid=valid)


def exact_column(raw: Tensor, places: int, valid: Tensor | None) -> Column:
    """Decimals of so many places, or integers."""
    return made("decimal" if places else "integer", raw, places=places, valid=valid)


def _above(column: Column, least: int, *, or_equal: bool = False) -> Tensor | None:
    """Where a column isn't null and is above an integer: a comparison, if its range reaches as far."""
    kind = column.type
    if kind.low > least * kind.unit or (or_equal and kind.low == least * kind.unit):
        return column.valid
    return _also(column, column >= least if or_equal else column > least)


def _also(column: Column, condition: Column) -> Tensor:
    """Where a column isn't null, and a condition on it holds."""
    there: Tensor = condition.value
    return there if column.valid is None else column.valid & there


def _of_real_columns() -> dict[str, Callable[..., Column]]:
    """Functions of numbers that are defined for all, and up to where there is room for results."""
    last = _elementary.last_power
    functions: dict[str, tuple[Any, ...]] = {
        "exp": (_elementary.exp, last),
        "exp2": (_elementary.exp2, lambda bits: last(bits, math.log(2))),
        "expm1": (lambda a: _elementary.exp(a) - 1, last),
        "sinh": (_elementary.sinh, lambda bits: last(bits - 1)),
        "cosh": (_elementary.cosh, lambda bits: last(bits - 1)),
        "tanh": (_elementary.tanh,),
        "sigmoid": (_elementary.sigmoid,),
        "normal_cdf": (_elementary.normal_cdf,),
        "cbrt": (lambda a: _rounding.sign(a) * abs(a) ** (1 / 3),),
    }
    return {name: _real(name, *given) for name, given in functions.items()}


REAL: dict[str, Callable[..., Column]] = {
    **_of_real_columns(),
    "log": _log("log", _elementary.log, math.log),
    "log2": _log("log2", _elementary.log2, math.log2),
    "log10": _log("log10", _elementary.log10, math.log10),
    "sqrt": _sqrt,
    "rsqrt": lambda a: 1 / _sqrt(a),
    "hypot": _hypot,
    "power": _power,
    "float_power": _power,
}
"""What real functions of NumPy, and Tacit's, are for columns."""
