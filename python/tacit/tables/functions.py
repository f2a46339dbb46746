"""Functions of columns: each hands its tensors to a function of tensors. Of a null it is null.

Null is as well what has no value: a root or a logarithm of what is below 0, what is left by a 0, and what is
beyond the last number that there is room for.
"""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any

from tacit import _elementary
from tacit._division import floor_divide, fmod, remainder
from tacit._functions import clip as _clip
from tacit._functions import maximum as _maximum
from tacit._functions import minimum as _minimum
from tacit._functions import where
from tacit._location import fault
from tacit._tensor import Tensor
from tacit.dtypes import fixed, int64
from tacit.errors import ProgramError, ProgramTypeError
from tacit.tables.alignment import aligned, as_date, as_number, choose, is_real, numeric, scaled
from tacit.tables.column import MOST_PLACES, NUMERIC, Column, both_valid, column_of, is_public, made
from tacit.tables.comparisons import COMPARISONS
from tacit.tables.reals import REAL, exact_column, real_column, with_value
from tacit.tables.rows import by_row
from tacit.tables.words import mapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


@by_row
def call(name: str, *operands: Any, **options: Any) -> Column:
    """A function of columns by NumPy's name for it, or by Tacit's.

    Raises:
        ProgramTypeError: There is none, or its operands have no such function.
    """
    function = FUNCTIONS.get(name)
    if function is None:
        raise fault(
            ProgramTypeError,
            f"there is no `{name}` of columns",
            f"{_INSTEAD.get(name, '')}docs/tables.md lists the functions of columns",
        )
    try:
        return function(*operands, **options)
    except TypeError as error:
        if isinstance(error, ProgramTypeError):
            raise
        raise fault(
            ProgramTypeError, f"`{name}` of columns takes other arguments ({error})", "leave some out"
        ) from None


# Sums, products and quotients.


def _sum(sign: str, apply: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Column]:
    def applied(a: Any, b: Any) -> Column:
        left, right = column_of(a), column_of(b)
        if {left.type.kind, right.type.kind} == {"date", "category"}:
            left, right = as_date(left), as_date(right)
        kinds = left.type.kind, right.type.kind
        if sign == "+" and kinds == ("category", "category"):
            return mapped(operator.add, left, right)
        valid = both_valid(left, right)
        if "date" in kinds and set(kinds) <= {"date", "integer"}:
            if kinds == ("date", "date") and sign == "-":
                return made("integer", left.value - right.value, valid=valid)
            if kinds == ("date", "integer") or (kinds == ("integer", "date") and sign == "+"):
                return made("date", apply(left.value, right.value), valid=valid)
        if not set(kinds) <= {*NUMERIC, "boolean"}:
            raise fault(
                ProgramTypeError,
                f"`{sign}` of {left.said()} and {right.said()}",
                "numbers have sums; dates have differences, and days can be added to them; "
                "x.map(lambda word: ...) makes other words",
            )
        x, y, kind, places, _ = aligned(f"`{sign}`", numeric(sign, left), numeric(sign, right))
        return made(kind, apply(x[0], y[0]), places=places, valid=valid)

    return applied


def _product(a: Any, b: Any) -> Column:
    """Exact, but for numbers and by public numbers of many places: rounded once."""
    one, other = numeric("`*`", a), numeric("`*`", b)
    valid = both_valid(one, other)
    if is_public(one) and not is_public(other):
        one, other = other, one
    if is_real(one) or is_real(other):
        bits = max((known.type.places for known in (one, other) if known.type.kind == "number"), default=16)
        if is_public(other):
            product = _in_units(one, bits) * (other.value / (other.type.unit * _units(one)))
        else:
            product = as_number(one, bits) * as_number(other, bits)
        return made("number", product, places=bits, valid=valid)
    places = one.type.places + other.type.places
    if places > MOST_PLACES:
        raise fault(
            ProgramError, f"a product of {places} decimal places", "declare the columns with fewer places"
        )
    return made("decimal" if places else "integer", one.value * other.value, places=places, valid=valid)


def _in_units(column: Column, bits: int) -> Any:
    """The numbers of a column in fixed point, but of a decimal those of its digits, which are exact."""
    return column.value.astype(fixed(bits)) if column.type.kind == "decimal" else as_number(column, bits)


def _units(column: Column) -> int:
    """What `_in_units` is to be divided by."""
    return column.type.unit if column.type.kind == "decimal" else 1


def _quotient(a: Any, b: Any) -> Column:
    """To the nearest step of fixed(16), or of the finer operand.

    Null where the divisor is 0, and where the quotient is 2**47 steps or more, for which there is no room.
    """
    one, other = numeric("`/`", a), numeric("`/`", b)
    valid = both_valid(one, other)
    if is_public(other):
        if other.value == 0:
            raise fault(ProgramError, "a column is divided by 0")
        divisor = other.value / other.type.unit
        if is_public(one):
            return made("number", as_number(one) / divisor, places=16)
        # Its range says that there is room.
        return real_column(_in_units(one, 16) / (divisor * _units(one)), valid)
    if "number" in (one.type.kind, other.type.kind):
        quotient = _elementary.divide(as_number(one), as_number(other))
    else:
        places = max(one.type.places, other.type.places)
        quotient = _elementary.divide(scaled(one, places), scaled(other, places))
    if other.type.low <= 0 <= other.type.high:
        there = other.value != 0
        valid = there if valid is None else valid & there
    return with_value(quotient, valid)


# Whole numbers, and digits.


def _whole(name: str, towards: str) -> Callable[[Any], Column]:
    """A whole number near each: an integer."""

    def applied(a: Any) -> Column:
        column = numeric(f"`{name}`", a)
        kind = column.type
        if kind.kind == "integer":
            return column
        value = column.value
        up = towards == "up" or (towards == "zero" and kind.high <= 0)
        if towards != "zero" or kind.low >= 0 or kind.high <= 0:
            raw = -_down(column, -value) if up else _down(column, value)
        else:
            size = _down(column, abs(value))
            raw = where(value < 0, -size, size)
        return made("integer", raw, valid=column.valid)

    return applied


def _down(column: Column, value: Tensor) -> Tensor:
    """The largest integer that isn't above a column's number."""
    return value.astype(int64) if column.type.kind == "number" else floor_divide(value, column.type.unit)


def _round(a: Any, decimals: int = 0) -> Column:
    """To so many decimal places, ties away from 0: an integer, or a decimal of so many places."""
    column = numeric("`round`", a)
    if isinstance(decimals, bool) or not isinstance(decimals, int) or abs(decimals) > MOST_PLACES:
        raise fault(ProgramError, f"round to {decimals!r} places", "say a whole number: round(x, 2)")
    kind, value = column.type, column.value
    if kind.kind != "number" and decimals >= kind.places:
        return column
    size = abs(value) if kind.low < 0 else value
    if kind.kind != "number":
        step = 10 ** (kind.places - decimals)
        rounded = floor_divide(size + step // 2, step)
    elif decimals >= 0:
        rounded = (size * 10**decimals + 0.5).astype(int64)
    else:
        rounded = floor_divide((size + 10**-decimals // 2).astype(int64), 10**-decimals)
    if kind.low < 0:
        rounded = where(value < 0, -rounded, rounded)
    return exact_column(rounded * 10 ** max(-decimals, 0), max(decimals, 0), column.valid)


def _abs(a: Any) -> Column:
    column = numeric("`abs`", a)
    return made(column.type.kind, abs(column.value), places=column.type.places, valid=column.valid)


def _sign(a: Any) -> Column:
    column = numeric("`sign`", a)
    value = column.value
    return made("integer", (value > 0) * 1 - (value < 0) * 1, valid=column.valid)


def _astype(a: Any, kind: Any) -> Column:
    import numpy as np

    column = column_of(a)
    try:
        letter = np.dtype(kind).kind
    except TypeError:
        letter = "O"
    if letter not in ("f", "i", "b"):
        raise fault(
            ProgramTypeError,
            f"{column.said()} as {getattr(kind, '__name__', kind)}",
            "columns become float, int or bool; map(f) makes words of numbers and numbers of words",
        )
    if letter == "b" and column.type.kind == "boolean":
        return column
    number = numeric("astype", column)
    if letter == "b":
        return number != 0
    if letter == "i":
        return call("trunc", number)
    bits = number.type.places if number.type.kind == "number" else 16
    return made("number", as_number(number), places=bits, valid=number.valid)


# Quotients that are rounded down, and what they leave.


def _floor_divide(a: Any, b: Any) -> Column:
    """`a // b`, an integer: rounded down, as in Python; null where `b` is 0."""
    one, x, other, y, _, _ = _divided("//", a, b)
    quotient = floor_divide(x, _not_zero("//", other, y))
    return made("integer", quotient.astype(int64), valid=_by(one, other))


def _remainder(a: Any, b: Any) -> Column:
    """`a % b`: of the sign of `b`, as in Python; null where `b` is 0."""
    one, x, other, y, kind, places = _divided("%", a, b)
    return made(kind, remainder(x, _not_zero("%", other, y)), places=places, valid=_by(one, other))


@by_row
def cut_quotient(a: Any, b: Any) -> Column:
    """SQL's `a // b` of integers: what is behind the point is cut off."""
    one, x, other, y, _, _ = _divided("//", a, b)
    size = floor_divide(abs(x), _least_one(other, abs(y)))
    below = (x < 0) ^ (y < 0)
    return made("integer", where(below, -size, size), valid=_by(one, other))


@by_row
def cut_remainder(a: Any, b: Any) -> Column:
    """What a quotient that is cut off leaves, as SQL's MOD and `np.fmod`: of the sign of `a`."""
    one, x, other, y, kind, places = _divided("mod", a, b)
    left = fmod(x, _least_one(other, abs(y)))
    return made(kind, left, places=places, valid=_by(one, other))


def _divided(sign: str, a: Any, b: Any) -> tuple[Column, Any, Column, Any, Any, int]:
    """Both columns, and their numbers in one type."""
    one, other = numeric(f"`{sign}`", a), numeric(f"`{sign}`", b)
    if is_public(other) and other.value == 0:
        raise fault(ProgramError, f"`{sign}` by 0")
    if is_public(one) and is_public(other):
        raise fault(ProgramError, f"`{sign}` of two numbers that everybody knows", "write the result")
    x, y, kind, places, _ = aligned(f"`{sign}`", one, other)
    return one, x[0], other, y[0], kind, places


def _by(one: Column, other: Column) -> Tensor | None:
    """Where two columns have a value, of which the second isn't 0."""
    valid = both_valid(one, other)
    if is_public(other) or other.type.low > 0 or other.type.high < 0:
        return valid
    there: Tensor = other.value != 0
    return there if valid is None else valid & there


def _not_zero(sign: str, other: Column, y: Any) -> Any:
    """A divisor that can't be 0: nulls are where it is."""
    kind = other.type
    if kind.low < 0 < kind.high:
        raise fault(
            ProgramError,
            f"`{sign}` by {other.said()}, which may be above 0 and below",
            "take its size, abs(x), or declare it from 1 on; np.fmod works",
        )
    if kind.high <= 0:
        return _minimum(y, -1 / kind.unit if kind.kind == "number" else -1) if kind.high == 0 else y
    return _least_one(other, y)


def _least_one(other: Column, y: Any) -> Any:
    """A divisor from its least step on."""
    kind = other.type
    if is_public(other) or kind.low > 0 or kind.high < 0:
        return y
    return _maximum(y, 1 / y.dtype.unit if y.dtype.kind == "fixed" else 1)


# Two or more of which one is taken.


def _extreme(
    name: str, pick: Callable[[Any, Any], Any], clear: Callable[[Any, Any], Any], *, skips: bool
) -> Callable[..., Column]:
    """The largest, or the least, of several: null if one is; or if all are, where nulls are skipped."""

    def both(a: Column, b: Column) -> Column:
        valid = both_valid(a, b)
        if skips:
            valid = None if a.valid is None or b.valid is None else a.valid | b.valid
            a, b = a.fill_null(b.bare()).bare(), b.fill_null(a.bare()).bare()
        x, y, kind, places, words = aligned(f"`{name}`", a, b)
        if kind in ("text", "boolean"):
            raise fault(ProgramTypeError, f"`{name}` of {a.said()} and {b.said()}", "use | and & on bools")
        made_of = (clear if is_public(a) and is_public(b) else pick)(x[0], y[0])
        if kind == "category" and isinstance(made_of, Tensor):
            # Words that it can't be any more aren't its.
            low, high = made_of._kind.low, made_of._kind.high
            made_of, words = made_of - low, words[low : high + 1]
        return made(kind, made_of, places=places, valid=valid, words=words)

    def applied(*several: Any) -> Column:
        first, *rest = map(column_of, several)
        for other in rest:
            first = both(first, other)
        return first

    return applied


def _clipped(a: Any, low: Any = None, high: Any = None, **ends: Any) -> Column:
    """At least `low` and at most `high`, of which one may be missing; or columns."""
    low, high = ends.pop("min", low), ends.pop("max", high)
    if ends:
        raise TypeError(", ".join(ends))
    column = column_of(a)
    given = {name: column_of(end) for name, end in (("low", low), ("high", high)) if end is not None}
    if not all(map(is_public, given.values())):
        least = column if low is None else call("maximum", column, low)
        return least if high is None else call("minimum", least, high)
    kind, places = column.type.kind, 0
    for end in given.values():
        x, _, kind, places, _ = aligned("`clip`", column, end)
        if kind not in (*NUMERIC, "date"):
            raise fault(ProgramTypeError, f"`clip` of {column.said()}", "numbers and dates are clipped")
        column = made(kind, x[0], places=places, valid=column.valid)
    values = {name: aligned("`clip`", column, end)[1][0] for name, end in given.items()}
    return made(kind, _clip(column.value, **values), places=places, valid=column.valid) if given else column


def _where(*operands: Any) -> Column:
    if len(operands) != 3:
        raise fault(ProgramTypeError, "np.where of a condition alone", "use t.filter(condition)")
    condition, a, b = operands
    if isinstance(condition, bool):
        raise fault(
            ProgramTypeError,
            f"np.where({condition}, ...) has a condition that is no column",
            "use x.is_null() in the place of pd.isna(x)",
        )
    return choose(column_of(condition), a, b)


def _select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Column:
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        default = choose(column_of(condition), choice, default)
    return column_of(default)


def _digitize(a: Any, bins: Iterable[Any], right: bool = False) -> Column:
    """How many of some ascending edges are at most each number; with `right`, how many are below it."""
    column, edges = numeric("`digitize`", a), list(bins)
    if not edges or any(after < before for before, after in itertools.pairwise(edges)):
        raise fault(ProgramError, f"digitize by edges {edges}", "say where parts begin, in ascending order")
    compare = "greater" if right else "greater_equal"
    found: Any = 0
    for edge in edges:
        found = call(compare, column, edge).value + found
    return made("integer", found, valid=column.valid)


def _isin(a: Any, values: Iterable[Any]) -> Column:
    return column_of(a).is_in(values)


def _isnan(a: Any) -> Column:
    return column_of(a).is_null()


def _no_nulls(a: Any, copy: bool = True, nan: Any = 0) -> Column:  # noqa: ARG001 (NumPy's arguments)
    return column_of(a).fill_null(nan)


FUNCTIONS: dict[str, Callable[..., Column]] = {
    **REAL,
    "log1p": lambda a: call("log", numeric("`log1p`", a) + 1),
    "reciprocal": lambda a: 1 / numeric("`reciprocal`", a),
    "square": lambda a: column_of(a) * a,
    "floor": _whole("floor", "down"),
    "ceil": _whole("ceil", "up"),
    "trunc": _whole("trunc", "zero"),
    "fix": _whole("fix", "zero"),
    "rint": _round,
    "round": _round,
    "around": _round,
    "absolute": _abs,
    "fabs": _abs,
    "sign": _sign,
    "astype": _astype,
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "fmod": cut_remainder,
    "maximum": _extreme("maximum", _maximum, max, skips=False),
    "minimum": _extreme("minimum", _minimum, min, skips=False),
    "fmax": _extreme("fmax", _maximum, max, skips=True),
    "fmin": _extreme("fmin", _minimum, min, skips=True),
    "relu": lambda a: call("maximum", a, 0),
    "clip": _clipped,
    "where": _where,
    "select": _select,
    "digitize": _digitize,
    "isin": _isin,
    "isnan": _isnan,
    "nan_to_num": _no_nulls,
    "add": _sum("+", operator.add),
    "subtract": _sum("-", operator.sub),
    "multiply": _product,
    "divide": _quotient,
    "negative": lambda a: -column_of(a),
    "positive": column_of,
    **COMPARISONS,
}
"""What NumPy's functions, and Tacit's, are for columns."""

_GROUPED = 'one number of all rows is t.group_by().agg(x=("column", "{}")); '

_INSTEAD = {
    **{name: _GROUPED.format(name) for name in ("sum", "mean", "median", "var", "std")},
    **{f"nan{name}": _GROUPED.format(name) for name in ("sum", "mean", "median", "var", "std", "min", "max")},
    "average": _GROUPED.format("mean"),
    **{name: _GROUPED.format("max") for name in ("max", "amax")},
    **{name: _GROUPED.format("min") for name in ("min", "amin")},
    **dict.fromkeys(("quantile", "percentile"), 't.group_by().agg(x=("column", "quantile", 0.9)) is one; '),
    **dict.fromkeys(("any", "all"), 't.group_by().agg(x=("column", "sum")) counts where it holds; '),
    "prod": "the sum of np.log of it, and np.exp of that, is one; ",
    "corrcoef": 'tacit.sql("select corr(x, y) as r from t", t=t) is one; ',
    "cov": 'tacit.sql("select covar_samp(x, y) as c from t", t=t) is one; ',
    "unique": 't.select("column").distinct() has the different values; ',
    **dict.fromkeys(("bincount", "histogram"), 't.group_by("column").agg(rows="count") counts values; '),
    **dict.fromkeys(("sort", "argsort", "argmax", "argmin"), 't.order_by("column") puts rows in order; '),
    "cumsum": 't.window("name", "column", "sum", order_by=...) has running sums; ',
    **dict.fromkeys(
        ("diff", "roll"), 't.window("before", "column", "lag", order_by=...) has what the row before has; '
    ),
    "concatenate": "a.union(b) has the rows of both tables; ",
}
