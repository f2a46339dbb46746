"""Comparisons of columns, and logic with nulls as in SQL, by NumPy's names for them."""

from __future__ import annotations

import bisect
import fractions
import math
import operator
from typing import TYPE_CHECKING, Any

from tacit._location import fault
from tacit.errors import ProgramTypeError
from tacit.tables.alignment import aligned, opposite
from tacit.tables.column import Column, both_valid, column_of, is_public, made
from tacit.tables.words import among

if TYPE_CHECKING:
    from collections.abc import Callable


def _compared(sign: str, apply: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Column]:
    return lambda a, b: _in_order(sign, column_of(a), column_of(b), apply)


def _in_order(sign: str, a: Column, other: Column, apply: Callable[[Any, Any], Any]) -> Column:
    if a.type.kind == "category" and is_public(other) and other.type.kind == "category":
        # Words are in order, so that a comparison is with a place among them.
        word, known = other.type.words[0], a.type.words
        if sign in ("<", ">="):
            return made("boolean", apply(a.value, bisect.bisect_left(known, word)), valid=a.valid)
        return made("boolean", apply(a.value, bisect.bisect_right(known, word) - 1), valid=a.valid)
    if _is_finer(a, other):
        # The numbers of a column that are below this one are those up to the next below it.
        ends = {"<": math.ceil, "<=": math.floor, ">": math.floor, ">=": math.ceil}
        end = ends[sign](fractions.Fraction(other.value * a.type.unit, other.type.unit))
        return made("boolean", apply(a.value, end), valid=a.valid)
    x, y, kind, _, _ = aligned(f"`{sign}`", a, other)
    if kind == "text":
        raise fault(
            ProgramTypeError,
            f"`{sign}` of {a.said()} and {other.said()} which are shared as hashes",
            "declare the column as a category",
        )
    return made("boolean", apply(x[0], y[0]), valid=both_valid(a, other))


def _equal(first: Any, second: Any) -> Column:
    a, b = column_of(first), column_of(second)
    for one, other in ((a, b), (b, a)):
        kinds = {one.type.kind, other.type.kind}
        if kinds == {"category"} and is_public(other) and not is_public(one):
            return among(one, other.type.words[0].__eq__)
        if _is_finer(one, other):
            return made("boolean", False, valid=one.valid)
    x, y, _, _, _ = aligned("`==`", a, b)
    result = x[0] == y[0]
    for one, other in zip(x[1:], y[1:], strict=True):
        result = result & (one == other)
    return made("boolean", result, valid=both_valid(a, b))


def _is_finer(a: Column, b: Column) -> bool:
    """Whether `b` is a public number between two of the numbers that `a` may be."""
    return a.type.kind in ("integer", "decimal") and is_public(b) and b.type.places > a.type.places


def _logic(a: Column, b: Column, *, every: bool) -> Column:
    """`a & b`, or `a | b`: known if one of them decides, else null where one is null."""
    for one in (a, b):
        one.holds()
    x, y = a.value, b.value
    for known, one in ((x, b), (y, a)):
        if isinstance(known, bool):
            return one if known is every else made("boolean", not every)
    result = x & y if every else x | y
    if a.valid is None and b.valid is None:
        return made("boolean", result)
    decides = [
        (~one.value if every else one.value)
        if one.valid is None
        else one.valid & (~one.value if every else one.value)
        for one in (a, b)
    ]
    valid = both_valid(a, b)
    # Where an operand is null its value says nothing, but then the other one decides, or the result is null.
    value = ~(decides[0] | decides[1]) if every else decides[0] | decides[1]
    return made("boolean", value, valid=decides[0] | decides[1] | valid)


def _and(a: Any, b: Any) -> Column:
    return _logic(column_of(a), column_of(b), every=True)


def _or(a: Any, b: Any) -> Column:
    return _logic(column_of(a), column_of(b), every=False)


def _xor(a: Any, b: Any) -> Column:
    one, other = column_of(a), column_of(b)
    one.holds(), other.holds()
    return made("boolean", one.value ^ other.value, valid=both_valid(one, other))


def _not(a: Any) -> Column:
    column = column_of(a)
    column.holds()
    return Column(column.type, (opposite(column.value),), column.valid)


COMPARISONS: dict[str, Callable[..., Column]] = {
    "less": _compared("<", operator.lt),
    "less_equal": _compared("<=", operator.le),
    "greater": _compared(">", operator.gt),
    "greater_equal": _compared(">=", operator.ge),
    "equal": _equal,
    "not_equal": lambda a, b: _not(_equal(a, b)),
    **dict.fromkeys(("logical_and", "bitwise_and"), _and),
    **dict.fromkeys(("logical_or", "bitwise_or"), _or),
    **dict.fromkeys(("logical_xor", "bitwise_xor"), _xor),
    **dict.fromkeys(("logical_not", "invert"), _not),
}
