"""Columns in one type: what two that go together are, and choices between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit._functions import where
from tacit._location import fault
from tacit.dtypes import fixed
from tacit.errors import ProgramError, ProgramTypeError
from tacit.tables import words as _words
from tacit.tables.column import EXACT_PLACES, NUMERIC, Column, column_of, is_missing, is_public, made
from tacit.tables.rows import by_row
from tacit.tables.types import ColumnType, Kind, day_of, halves, hash_of

if TYPE_CHECKING:
    from tacit._tensor import Tensor


def numeric(what: str, value: Any) -> Column:
    """A column of numbers: bools count as 0 and 1.

    Raises:
        ProgramTypeError: It holds something else.
    """
    column = column_of(value)
    if column.type.kind == "boolean":
        return made("integer", column.value + 0, valid=column.valid)
    if column.type.kind not in NUMERIC:
        hint = {"date": "x.year(), x - y and their like are numbers", "category": "x.map(dict) makes some"}
        raise fault(
            ProgramTypeError,
            f"{what} of {column.said()} that isn't numbers",
            hint.get(column.type.kind, "texts are shared as hashes: let their owner make numbers of them"),
        )
    return column


def as_number(column: Column, bits: int = 16) -> Any:
    """The numbers of a column, in fixed point."""
    kind = column.type
    if is_public(column):
        return column.value / kind.unit
    if kind.kind == "number":
        return column.value
    number = column.value.astype(fixed(bits))
    return number / kind.unit if kind.unit > 1 else number


def scaled(column: Column, places: int) -> Any:
    """The raw values of a decimal or an integer, of so many places."""
    more = places - column.type.places
    return column.value * 10**more if more else column.value


def is_real(column: Column) -> bool:
    """Whether it is a number in fixed point, or a public one that isn't to be a decimal."""
    kind = column.type
    return kind.kind == "number" or (kind.places > EXACT_PLACES and is_public(column))


def aligned(
    what: str, a: Column, b: Column
) -> tuple[tuple[Any, ...], tuple[Any, ...], Kind, int, tuple[str, ...]]:
    """The parts of two columns in one type: its kind, its places and words."""
    kinds = {a.type.kind, b.type.kind}
    if kinds <= {"text", "category"}:
        if "text" in kinds:
            left, right = (_as_text(what, one) for one in (a, b))
            return left, right, "text", 0, ()
        x, y, words = _words.together(a, b)
        return (x,), (y,), "category", 0, words
    if kinds == {"date", "category"}:
        a, b = (as_date(one) for one in (a, b))
        kinds = {"date"}
    if kinds <= set(NUMERIC):
        if is_real(a) or is_real(b):
            bits = max((one.type.places for one in (a, b) if one.type.kind == "number"), default=16)
            return (as_number(a, bits),), (as_number(b, bits),), "number", bits, ()
        places = max(a.type.places, b.type.places)
        kind: Kind = "decimal" if places else "integer"
        return (scaled(a, places),), (scaled(b, places),), kind, places, ()
    if len(kinds) == 1:
        return a.parts, b.parts, a.type.kind, 0, ()
    raise fault(
        ProgramTypeError,
        f"{what} of {a.said()} and {b.said()}",
        "both have to be numbers, dates, texts or bools",
    )


def as_date(column: Column) -> Column:
    """A date that is written as a text."""
    if column.type.kind == "date":
        return column
    if not is_public(column):
        raise fault(ProgramTypeError, f"{column.type} beside a date", "compare dates with dates")
    return made("date", day_of(column.type.words[0]))


@by_row
def choose(condition: Column, a: Any, b: Any) -> Column:
    """`a` where the condition holds, else `b`; `None` is null."""
    truth = condition.holds()
    a, b = (None if is_missing(one) else one for one in (a, b))
    if a is None or b is None:
        some = column_of(b if a is None else a)
        there = truth if b is None else opposite(truth)
        if isinstance(there, bool):
            return some if there else Column(some.type.nullable(), some.parts, _never(some))
        valid = there if some.valid is None else there & some.valid
        return Column(some.type.nullable(), some.parts, valid)
    left, right = column_of(a), column_of(b)
    if isinstance(truth, bool):
        return left if truth else right
    x, y, kind, places, words = aligned("a choice", left, right)
    chosen = tuple(where(truth, one, other) for one, other in zip(x, y, strict=True))
    valid = None
    if left.valid is not None or right.valid is not None:
        valid = where(truth, _or_true(left.valid, truth), _or_true(right.valid, truth))
    if kind == "text":
        return Column(
            ColumnType("text", left.type.low, left.type.high, null=valid is not None), chosen, valid
        )
    return made(kind, chosen[0], places=places, valid=valid, words=words)


def opposite(value: Any) -> Any:
    """Where a bool, which may be public, doesn't hold."""
    return not value if isinstance(value, bool) else ~value


def _as_text(what: str, column: Column) -> tuple[Any, ...]:
    if column.type.kind == "text":
        return column.parts
    if is_public(column):
        return halves(hash_of(column.type.words[0]))
    raise fault(
        ProgramTypeError,
        f"{what} of a text and {column.type}",
        "declare both columns as text(), or both as a category",
    )


def _or_true(valid: Tensor | None, beside: Tensor) -> Tensor:
    return beside | ~beside if valid is None else valid


def _never(column: Column) -> Any:
    if is_public(column):
        raise fault(ProgramError, "a column that is null in every row", "leave it out")
    return made("boolean", column.value != column.value).value
