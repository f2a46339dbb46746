"""Columns of secret tables: NumPy's operators, with types, and with values that may be missing as in SQL."""

from __future__ import annotations

import bisect
import datetime
import decimal
from typing import TYPE_CHECKING, Any, NoReturn

from tacit._functions import where
from tacit._handles import Unknown
from tacit._location import fault
from tacit._ranges import within
from tacit._tensor import Tensor
from tacit.dtypes import fixed
from tacit.errors import ProgramError, ProgramTypeError, SecretError
from tacit.tables import words as _words
from tacit.tables.types import EPOCH, ColumnType, Kind, day_of, halves, hash_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

NUMERIC = ("integer", "decimal", "number")

MOST_PLACES = 18
"""Decimal places of products and sums."""


class Column(Unknown):
    """A column of a table in a program that is being traced.

    It has NumPy's operators and those of its type. Null stands for a missing value, as in SQL: what is
    computed of one is null, comparisons too, and a filter leaves out rows where its condition is null.

    A public value is a column too, whose parts are numbers of Python's; there it stands in every row.
    """

    __slots__ = ("parts", "type", "valid")

    def __init__(self, kind: ColumnType, parts: tuple[Any, ...], valid: Tensor | None = None) -> None:
        self.type = kind
        self.parts = parts
        # Where there is a value; everywhere, if it is `None`.
        self.valid = valid

    @property
    def value(self) -> Any:
        """The tensor of a column that has one."""
        return self.parts[0]

    def tensors(self) -> list[Tensor]:
        """All tensors that it is made of."""
        return [*self.parts, *([] if self.valid is None else [self.valid])]

    def with_tensors(self, tensors: list[Tensor]) -> Column:
        """The same column of other tensors, in the order of `tensors`."""
        count = len(self.parts)
        return Column(self.type, tuple(tensors[:count]), tensors[count] if self.valid is not None else None)

    def holds(self) -> Any:
        """Where a column of bools is true: neither false nor null."""
        if self.type.kind != "boolean":
            raise fault(ProgramTypeError, f"a condition is needed, not {self.type}", "compare first")
        return self.value if self.valid is None else self.value & self.valid

    # Arithmetic.

    def __add__(self, other: Any) -> Column:
        return _arithmetic("+", self, other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Column:
        return _arithmetic("+", other, self, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Column:
        return _arithmetic("-", self, other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Column:
        return _arithmetic("-", other, self, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Column:
        return _product(self, column_of(other))

    def __rmul__(self, other: Any) -> Column:
        return _product(column_of(other), self)

    def __truediv__(self, other: Any) -> Column:
        return _quotient(self, column_of(other))

    def __rtruediv__(self, other: Any) -> Column:
        return _quotient(column_of(other), self)

    def __neg__(self) -> Column:
        return 0 - self

    # Comparisons and logic.

    def __lt__(self, other: Any) -> Column:
        return _compared("<", self, other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Column:
        return _compared("<=", self, other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Column:
        return _compared(">", self, other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Column:
        return _compared(">=", self, other, lambda a, b: a >= b)

    def __eq__(self, other: Any) -> Column:  # type: ignore[override]
        return _equal(self, column_of(other))

    def __ne__(self, other: Any) -> Column:  # type: ignore[override]
        return ~_equal(self, column_of(other))

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: Any) -> Column:
        return _logic(self, column_of(other), every=True)

    __rand__ = __and__

    def __or__(self, other: Any) -> Column:
        return _logic(self, column_of(other), every=False)

    __ror__ = __or__

    def __invert__(self) -> Column:
        self.holds()
        return Column(self.type, (_opposite(self.value),), self.valid)

    def is_null(self) -> Column:
        """Where there is no value."""
        return made("boolean", False if self.valid is None else ~self.valid)

    def not_null(self) -> Column:
        """Where there is a value."""
        return made("boolean", True if self.valid is None else self.valid)

    def fill_null(self, value: Any) -> Column:
        """With a value in the place of nulls."""
        return self if self.valid is None else choose(self.not_null(), self, value)

    def is_in(self, values: Iterable[Any]) -> Column:
        """Whether it is one of some public values."""
        several = list(values)
        if not several:
            return made("boolean", False, valid=self.valid)
        if self.type.kind == "category":
            return _words.among(self, lambda word: word in several)
        result: Column = self == several[0]
        for value in several[1:]:
            result = result | (self == value)
        return result

    def between(self, low: Any, high: Any) -> Column:
        """Whether it is at least `low` and at most `high`."""
        inside: Column = (self >= low) & (self <= high)
        return inside

    # Days and words.

    def year(self) -> Column:
        """The year of a date: a comparison for each year in its range but one."""
        first, last = self._years()
        starts = [day_of(datetime.date(year, 1, 1)) for year in range(first + 1, last + 1)]
        return made("integer", _count(self.value, starts) + first, valid=self.valid)

    def month(self) -> Column:
        """The month of a date, from 1 to 12: a comparison for each month in its range but one."""
        first, last = self._years()
        months = [
            day_of(datetime.date(year, month, 1)) for year in range(first, last + 1) for month in range(1, 13)
        ]
        passed = _count(self.value, months[1:])
        years = _count(self.value, months[12::12])
        month = passed - 12 * years + 1
        return made("integer", month if isinstance(month, int) else within(month, 1, 12), valid=self.valid)

    def like(self, pattern: str) -> Column:
        """Whether a category's word matches a pattern of SQL: `%` is any text, `_` a letter.

        Everybody knows the words, so it is a comparison or two for each run of words that match.
        """
        return _words.among(self, _words.matcher(pattern))

    def map_words(self, change: Callable[[str], str]) -> Column:
        """A category of other words, what `change` makes of each: a comparison for each word."""
        return _words.mapped(self, change)

    def _years(self) -> tuple[int, int]:
        if self.type.kind != "date":
            raise fault(
                ProgramTypeError, f"{self.type} has no year", "declare the column as date(first, last)"
            )
        ends = [EPOCH + datetime.timedelta(days) for days in (self.type.low, self.type.high)]
        return ends[0].year, ends[1].year

    def __array_ufunc__(self, ufunc: Any, *_: object, **__: object) -> NoReturn:
        self._refuse(f"np.{ufunc.__name__}")

    def __len__(self) -> int:
        self._refuse("a length")

    def __repr__(self) -> str:
        return f"<secret column of {self.type}>"

    def _refuse(self, use: str) -> NoReturn:
        raise fault(
            SecretError,
            f"nobody knows what is in this column while the program runs, so it can't be used for {use}",
            "use operators on columns, tables.when(condition, a, b), filter, group_by and join",
        )


def made(
    kind: Kind, value: Any, *, places: int = 0, valid: Tensor | None = None, words: tuple[str, ...] = ()
) -> Column:
    """A column of one tensor, whose range is known, or of one public value."""
    if isinstance(value, Tensor):
        low, high = value._kind.low, value._kind.high
    else:
        # Public numbers in fixed point are given as they are; columns hold their steps.
        value = round(value * (1 << places)) if kind == "number" else value
        low = high = int(value)
    if kind == "boolean":
        low, high = 0, 1
    return Column(ColumnType(kind, low, high, places, words, valid is not None), (value,), valid)


def column_of(value: Any) -> Column:
    """A column, or the column that has a public value in every row.

    Raises:
        ProgramTypeError: It is neither.
    """
    if isinstance(value, Column):
        return value
    if isinstance(value, bool):
        return made("boolean", value)
    if isinstance(value, str):
        return Column(ColumnType("category", words=(value,), high=0), (0,))
    if isinstance(value, (datetime.date, datetime.datetime)):
        return made("date", day_of(value))
    if isinstance(value, (int, float, decimal.Decimal)) or hasattr(value, "item"):
        plain = value.item() if hasattr(value, "item") else value
        exact = decimal.Decimal(str(plain))
        if exact.is_finite():
            places = max(0, -int(exact.as_tuple().exponent))
            if places <= MOST_PLACES:
                return made("decimal" if places else "integer", int(exact.scaleb(places)), places=places)
    raise fault(
        ProgramTypeError,
        f"{value!r} can't stand beside a column",
        "columns go with columns of the same table, numbers, texts, dates and bools",
    )


def choose(condition: Column, a: Any, b: Any) -> Column:
    """`a` where the condition holds, else `b`; `None` is null."""
    truth = condition.holds()
    if a is None or b is None:
        some = column_of(b if a is None else a)
        there = truth if b is None else _opposite(truth)
        if isinstance(there, bool):
            return some if there else Column(some.type.nullable(), some.parts, _never(some))
        valid = there if some.valid is None else there & some.valid
        return Column(some.type.nullable(), some.parts, valid)
    left, right = column_of(a), column_of(b)
    if isinstance(truth, bool):
        return left if truth else right
    x, y, kind, places, words = _aligned("a choice", left, right)
    chosen = tuple(where(truth, one, other) for one, other in zip(x, y, strict=True))
    valid = None
    if left.valid is not None or right.valid is not None:
        valid = where(truth, _or_true(left.valid, truth), _or_true(right.valid, truth))
    if kind == "text":
        return Column(
            ColumnType("text", left.type.low, left.type.high, null=valid is not None), chosen, valid
        )
    return made(kind, chosen[0], places=places, valid=valid, words=words)


def both_valid(*columns: Column) -> Tensor | None:
    """Where all of some columns have a value."""
    known = [column.valid for column in columns if column.valid is not None]
    result: Tensor | None = None
    for valid in known:
        result = valid if result is None or result is valid else result & valid
    return result


def is_public(column: Column) -> bool:
    """Whether a column is one value that everybody knows."""
    return not isinstance(column.value, Tensor)


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


def _aligned(
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
        a, b = (_as_date(one) for one in (a, b))
        kinds = {"date"}
    if kinds <= set(NUMERIC):
        if "number" in kinds:
            bits = max(one.type.places for one in (a, b) if one.type.kind == "number")
            return (as_number(a, bits),), (as_number(b, bits),), "number", bits, ()
        places = max(a.type.places, b.type.places)
        kind: Kind = "decimal" if places else "integer"
        return (scaled(a, places),), (scaled(b, places),), kind, places, ()
    if len(kinds) == 1:
        return a.parts, b.parts, a.type.kind, 0, ()
    raise fault(
        ProgramTypeError, f"{what} of {a.type} and {b.type}", "both have to be numbers, dates, texts or bools"
    )


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


def _as_date(column: Column) -> Column:
    """A date that is written as a text."""
    if column.type.kind == "date":
        return column
    if not is_public(column):
        raise fault(ProgramTypeError, f"{column.type} beside a date", "compare dates with dates")
    return made("date", day_of(column.type.words[0]))


def _arithmetic(sign: str, a: Any, b: Any, apply: Callable[[Any, Any], Any]) -> Column:
    left, right = column_of(a), column_of(b)
    if {left.type.kind, right.type.kind} == {"date", "category"}:
        left, right = _as_date(left), _as_date(right)
    kinds = left.type.kind, right.type.kind
    valid = both_valid(left, right)
    if "date" in kinds and set(kinds) <= {"date", "integer"}:
        if kinds == ("date", "date") and sign == "-":
            return made("integer", left.value - right.value, valid=valid)
        if kinds == ("date", "integer") or (kinds == ("integer", "date") and sign == "+"):
            return made("date", apply(left.value, right.value), valid=valid)
    if not set(kinds) <= set(NUMERIC):
        raise fault(
            ProgramTypeError,
            f"`{sign}` of {left.type} and {right.type}",
            "numbers have sums; dates have differences, and days can be added to them",
        )
    x, y, kind, places, _ = _aligned(f"`{sign}`", left, right)
    return made(kind, apply(x[0], y[0]), places=places, valid=valid)


def _product(a: Column, b: Column) -> Column:
    if not {a.type.kind, b.type.kind} <= set(NUMERIC):
        raise fault(ProgramTypeError, f"`*` of {a.type} and {b.type}", "numbers have products")
    valid = both_valid(a, b)
    if "number" in (a.type.kind, b.type.kind):
        bits = max(one.type.places for one in (a, b) if one.type.kind == "number")
        return made("number", as_number(a, bits) * as_number(b, bits), places=bits, valid=valid)
    places = a.type.places + b.type.places
    if places > MOST_PLACES:
        raise fault(
            ProgramError, f"a product of {places} decimal places", "declare the columns with fewer places"
        )
    return made("decimal" if places else "integer", a.value * b.value, places=places, valid=valid)


def _quotient(a: Column, b: Column) -> Column:
    """To the nearest step of fixed(16), or of the finer operand; null where the divisor is 0."""
    if not {a.type.kind, b.type.kind} <= set(NUMERIC):
        raise fault(ProgramTypeError, f"`/` of {a.type} and {b.type}", "numbers have quotients")
    valid = both_valid(a, b)
    if is_public(b):
        if b.value == 0:
            raise fault(ProgramError, "a column is divided by 0")
        quotient = as_number(a) / (b.value / b.type.unit)
        return made("number", quotient, places=16 if is_public(a) else quotient.dtype.bits, valid=valid)
    from tacit._elementary import divide

    if "number" in (a.type.kind, b.type.kind):
        quotient = divide(as_number(a), as_number(b))
    else:
        places = max(a.type.places, b.type.places)
        quotient = divide(scaled(a, places), scaled(b, places))
    low, high = b.value._kind.low, b.value._kind.high
    if low <= 0 <= high:
        there = b.value != 0
        valid = there if valid is None else valid & there
    return made("number", quotient, places=quotient.dtype.bits, valid=valid)


def _compared(sign: str, a: Column, b: Any, apply: Callable[[Any, Any], Any]) -> Column:
    other = column_of(b)
    if a.type.kind == "category" and is_public(other) and other.type.kind == "category":
        # Words are in order, so that a comparison is with a place among them.
        word, known = other.type.words[0], a.type.words
        if sign in ("<", ">="):
            return made("boolean", apply(a.value, bisect.bisect_left(known, word)), valid=a.valid)
        return made("boolean", apply(a.value, bisect.bisect_right(known, word) - 1), valid=a.valid)
    x, y, kind, _, _ = _aligned(f"`{sign}`", a, other)
    if kind == "text":
        raise fault(
            ProgramTypeError,
            f"`{sign}` of texts, which are shared as hashes",
            "declare the column as a category",
        )
    return made("boolean", apply(x[0], y[0]), valid=both_valid(a, other))


def _equal(a: Column, b: Column) -> Column:
    for one, other in ((a, b), (b, a)):
        kinds = {one.type.kind, other.type.kind}
        if kinds == {"category"} and is_public(other) and not is_public(one):
            return _words.among(one, other.type.words[0].__eq__)
    x, y, _, _, _ = _aligned("`==`", a, b)
    result = x[0] == y[0]
    for one, other in zip(x[1:], y[1:], strict=True):
        result = result & (one == other)
    return made("boolean", result, valid=both_valid(a, b))


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


def _opposite(value: Any) -> Any:
    return not value if isinstance(value, bool) else ~value


def _or_true(valid: Tensor | None, beside: Tensor) -> Tensor:
    return beside | ~beside if valid is None else valid


def _never(column: Column) -> Any:
    if is_public(column):
        raise fault(ProgramError, "a column that is null in every row", "leave it out")
    return made("boolean", column.value != column.value).value


def _count(value: Any, starts: list[int]) -> Any:
    """How many of some ascending public numbers are at most each value."""
    if not isinstance(value, Tensor):
        return bisect.bisect_right(starts, value)
    total: Any = 0
    for start in starts:
        total = (value >= start) + total
    return total
