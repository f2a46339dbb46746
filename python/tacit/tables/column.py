"""Columns of secret tables: NumPy's operators, with types, and with values that may be missing as in SQL."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from tacit._handles import Unknown
from tacit._location import fault
from tacit._tensor import Tensor
from tacit.errors import ProgramError, ProgramTypeError, SecretError
from tacit.tables import dates as _dates
from tacit.tables import words as _words
from tacit.tables.instead import OF_COLUMNS, no_attribute
from tacit.tables.rows import Rows, by_row
from tacit.tables.types import ColumnType, Kind, day_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

NUMERIC = ("integer", "decimal", "number")

MOST_PLACES = 18
"""Decimal places of products and sums."""

EXACT_PLACES = 9
"""Decimal places of public numbers that count as decimals; others are numbers."""


class Column(Unknown):
    """A column of a table in a program that is being traced.

    It has NumPy's operators and those of its type. Null stands for a missing value, as in SQL: what is
    computed of one is null, comparisons too, and a filter leaves out rows where its condition is null.

    A public value is a column too, whose parts are numbers of Python's; there it stands in every row.
    """

    __slots__ = ("name", "parts", "rows", "type", "valid")

    def __init__(self, kind: ColumnType, parts: tuple[Any, ...], valid: Tensor | None = None) -> None:
        # What a table called it when it was last asked for it, so that errors can.
        self.name = ""
        self.type = kind
        if valid is not None and not isinstance(parts[0], Tensor):
            # A public value that isn't in every row is none that everybody knows.
            parts = in_each_row(Column(kind, parts), valid).parts
        self.parts: tuple[Any, ...] = parts
        # Where there is a value; everywhere, if it is `None`.
        self.valid = valid
        # `None` of a public value, and of what isn't a table's yet.
        self.rows: Rows | None = None

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

    def bare(self) -> Column:
        """The same column without a word on where it is null."""
        return self if self.valid is None else Column(self.type.nullable(False), self.parts)

    def among(self, rows: Rows) -> Column:
        """The same column as one of these rows."""
        made_of = self if self.rows in (None, rows) else Column(self.type, self.parts, self.valid)
        made_of.rows = rows
        return made_of

    def holds(self) -> Any:
        """Where a column of bools is true: neither false nor null."""
        if self.type.kind != "boolean":
            raise fault(ProgramTypeError, f"a condition is needed, not {self.said()}", "compare first")
        return self.value if self.valid is None else self.value & self.valid

    def said(self) -> str:
        """What an error calls it."""
        return f"{self.name!r}, which is {self.type}," if self.name else str(self.type)

    # Arithmetic.

    def __add__(self, other: Any) -> Column:
        return _call("add", self, other)

    def __radd__(self, other: Any) -> Column:
        return _call("add", other, self)

    def __sub__(self, other: Any) -> Column:
        return _call("subtract", self, other)

    def __rsub__(self, other: Any) -> Column:
        return _call("subtract", other, self)

    def __mul__(self, other: Any) -> Column:
        return _call("multiply", self, other)

    def __rmul__(self, other: Any) -> Column:
        return _call("multiply", other, self)

    def __truediv__(self, other: Any) -> Column:
        return _call("divide", self, other)

    def __rtruediv__(self, other: Any) -> Column:
        return _call("divide", other, self)

    def __neg__(self) -> Column:
        return 0 - self

    def __floordiv__(self, other: Any) -> Column:
        return _call("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Column:
        return _call("floor_divide", other, self)

    def __mod__(self, other: Any) -> Column:
        return _call("remainder", self, other)

    def __rmod__(self, other: Any) -> Column:
        return _call("remainder", other, self)

    def __pow__(self, exponent: Any) -> Column:
        return _call("power", self, exponent)

    def __rpow__(self, base: Any) -> Column:
        return _call("power", base, self)

    def __abs__(self) -> Column:
        return _call("absolute", self)

    abs = __abs__

    def __round__(self, decimals: int | None = None) -> Column:
        return self.round(decimals or 0)

    def round(self, decimals: int = 0) -> Column:
        """To so many decimal places, ties away from 0: a decimal of so many, or an integer."""
        return _call("round", self, decimals)

    def clip(self, lower: Any = None, upper: Any = None) -> Column:
        """At least `lower` and at most `upper`, which may be columns; or one of them."""
        return _call("clip", self, lower, upper)

    def astype(self, kind: Any) -> Column:
        """Numbers as `float`, in fixed(16); as `int`, cut off behind the point; as `bool`, whether not 0."""
        return _call("astype", self, kind)

    # Comparisons and logic.

    def __lt__(self, other: Any) -> Column:
        return _call("less", self, other)

    def __le__(self, other: Any) -> Column:
        return _call("less_equal", self, other)

    def __gt__(self, other: Any) -> Column:
        return _call("greater", self, other)

    def __ge__(self, other: Any) -> Column:
        return _call("greater_equal", self, other)

    def __eq__(self, other: Any) -> Column:  # type: ignore[override]
        return _call("equal", self, other)

    def __ne__(self, other: Any) -> Column:  # type: ignore[override]
        return _call("not_equal", self, other)

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: Any) -> Column:
        return _call("bitwise_and", self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Column:
        return _call("bitwise_or", self, other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Column:
        return _call("bitwise_xor", self, other)

    __rxor__ = __xor__

    def __invert__(self) -> Column:
        return _call("invert", self)

    @by_row
    def is_null(self) -> Column:
        """Where there is no value."""
        return made("boolean", False if self.valid is None else ~self.valid)

    @by_row
    def not_null(self) -> Column:
        """Where there is a value."""
        return made("boolean", True if self.valid is None else self.valid)

    @by_row
    def fill_null(self, value: Any) -> Column:
        """With a value in the place of nulls."""
        from tacit.tables.alignment import choose

        return self if self.valid is None else choose(self.not_null(), self, value)

    def is_in(self, values: Iterable[Any]) -> Column:
        """Whether it is one of some public values."""
        if isinstance(values, Column):
            raise fault(
                ProgramTypeError,
                "is_in takes public values",
                't.join(other, on="id", how="semi") has the rows that another table has, how="anti" the rest',
            )
        return self._is_one_of(list(values))

    @by_row
    def _is_one_of(self, several: list[Any]) -> Column:
        if not several:
            return made("boolean", False, valid=self.valid)
        if self.type.kind == "category":
            return _words.among(self, lambda word: word in several)
        result: Column = self == several[0]
        for value in several[1:]:
            result = result | (self == value)
        return result

    def between(self, low: Any, high: Any, inclusive: str = "both") -> Column:
        """Whether it is from `low` to `high`: with "both" of them, "left", "right" or "neither"."""
        if inclusive not in ("both", "left", "right", "neither"):
            raise fault(ProgramError, f"inclusive={inclusive!r}", 'say "both", "left", "right" or "neither"')
        above: Column = self >= low if inclusive in ("both", "left") else self > low
        below: Column = self <= high if inclusive in ("both", "right") else self < high
        return above & below

    # Days and words.

    @by_row
    def year(self) -> Column:
        """The year of a date: a comparison for each year in its range but one."""
        return _dates.year(self)

    @by_row
    def month(self) -> Column:
        """The month of a date, from 1 to 12: a comparison for each month in its range but one."""
        return _dates.month(self)

    @by_row
    def day(self) -> Column:
        """The day of a date in its month, from 1: a comparison for each month in its range but one."""
        return _dates.day(self)

    @by_row
    def quarter(self) -> Column:
        """The quarter of a date, from 1 to 4: a comparison for each quarter in its range but one."""
        return _dates.quarter(self)

    @by_row
    def weekday(self) -> Column:
        """The day of a date in its week, from 0, Monday, to 6, Sunday."""
        return _dates.weekday(self)

    @by_row
    def start_of(self, unit: str) -> Column:
        """The first day of the "year", "quarter", "month" or "week" (a Monday) of a date, or its "day"."""
        return _dates.start_of(self, unit)

    @by_row
    def add_months(self, count: int) -> Column:
        """So many months after a date, or before it: on the same day of the month, or on the month's last.

        Some 19 comparisons for each year in its range, and one or two where whole years are added.
        """
        return _dates.months_later(self, count)

    @by_row
    def month_end(self) -> Column:
        """The last day of the month that a date is in: a comparison for each month in its range but one."""
        return _dates.month_end(self)

    @by_row
    def strftime(self, form: str) -> Column:
        """A date as a word, by Python's codes: %Y %y %m %-m %B %b %d %-d %A %a %w %u %j %x, in English.

        A comparison for each month of its range if months are written, for each year if years alone are.
        Of others the range is 10,000 days at most.
        """
        return _dates.written(self, form)

    @by_row
    def like(self, pattern: str) -> Column:
        """Whether a category's word matches a pattern of SQL: `%` is any text, `_` a letter.

        Everybody knows the words, so it is a comparison or two for each run of words that match.
        """
        return _words.among(self, _words.matcher(pattern))

    @by_row
    def map(self, change: Callable[[Any], Any] | Mapping[Any, Any]) -> Column:
        """What a function or a dict makes of each value: numbers, words or bools; null where that is `None`.

        Of categories, bools and integers of up to 10,000 values, all of which are tried while the program is
        traced: a comparison for each place where the result changes otherwise than by the usual step. A dict
        has nulls for what it doesn't have.
        """
        return _words.mapped(change.get if isinstance(change, Mapping) else change, self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__":
            self._refuse(f"np.{ufunc.__name__}.{method}")
        return _call(ufunc.__name__, *inputs, **options)

    def __array_function__(self, function: Any, _types: object, inputs: Any, options: Any) -> Any:
        return _call(function.__name__, *inputs, **options)

    def __getattr__(self, name: str) -> NoReturn:
        raise no_attribute("column", name, OF_COLUMNS)

    def __getitem__(self, _: object) -> NoReturn:
        raise fault(
            ProgramTypeError,
            "a column has no rows by itself",
            't[t["x"] > 3] has rows of a table, np.where(condition, x, None) has nulls in the others',
        )

    def __contains__(self, _: object) -> bool:
        self._refuse("in")

    def __len__(self) -> int:
        self._refuse("a length")

    def __iter__(self) -> NoReturn:
        self._refuse("a loop")

    def __repr__(self) -> str:
        return f"<secret column of {self.type}>"

    def _refuse(self, use: str) -> NoReturn:
        if use == "if":
            raise fault(
                SecretError,
                "nobody knows what is in this column while the program runs: it can't steer if, and, or, not",
                "combine conditions with &, | and ~, each in brackets; choose by np.where(condition, a, b)",
            )
        if use in ("a NumPy array", "a length"):
            raise fault(
                SecretError,
                f"nobody knows what is in this column while the program runs, so it can't be used for {use}",
                "pandas takes no columns: x.is_null() is pd.isna(x), np.digitize(x, edges) is as pd.cut, and "
                'np.where(x == "a", 1, 0) as get_dummies; len(t) is the bound on rows',
            )
        raise fault(
            SecretError,
            f"nobody knows what is in this column while the program runs, so it can't be used for {use}",
            "use operators on columns, np.where(condition, a, b), is_null(), filter, group_by and join",
        )


def _call(name: str, *operands: Any, **options: Any) -> Column:
    """A function of columns by its name."""
    from tacit.tables.functions import call

    return call(name, *operands, **options)


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
    if isinstance(value, datetime.timedelta) and not value % datetime.timedelta(1):
        return made("integer", value.days)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        return column_of(value.item())
    if isinstance(value, (int, float, decimal.Decimal)):
        exact = decimal.Decimal(str(value))
        if exact.is_finite():
            places = max(0, -int(exact.normalize().as_tuple().exponent))
            places = min(places, MOST_PLACES)
            steps = round(exact.scaleb(places))
            if steps or not exact:
                return made("decimal" if places else "integer", steps, places=places)
            raise fault(ProgramError, f"{value!r} is too small to stand beside a column", "take other units")
    if is_missing(value):
        raise fault(
            ProgramTypeError,
            "a missing value beside a column",
            "x.is_null() says where there is none; np.where(condition, x, None) makes some",
        )
    raise fault(
        ProgramTypeError,
        f"{value!r} can't stand beside a column",
        "columns go with columns of the same table, numbers, texts, dates and bools",
    )


def is_missing(value: Any) -> bool:
    """Whether a public value is none: `None`, NaN, NaT or NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, decimal.Decimal)) and value != value


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


def constant(beside: Tensor, value: Any, rows: int) -> Tensor:
    """A tensor of a public value in so many rows, or of an array of them."""
    import numpy as np

    whole = np.full(rows, value) if np.ndim(value) == 0 else value
    if whole.dtype.kind == "f":
        return beside._made(beside._at().constant(whole, "fixed", 16))
    kind = "bool" if whole.dtype == bool else "int"
    return beside._made(beside._at().constant(whole, kind, 1 if kind == "bool" else 0))


def in_each_row(column: Column, beside: Tensor) -> Column:
    """The same column of tensors, if it is a public value, which then stands in each row of another."""
    if not is_public(column):
        return column
    parts = column.parts
    if column.type.kind == "boolean":
        parts = (bool(column.value),)
    elif column.type.kind == "number":
        parts = (column.value / column.type.unit,)
    return Column(column.type, tuple(constant(beside, part, len(beside)) for part in parts))
