"""What the columns of a table hold, and as which numbers it is shared."""

from __future__ import annotations

import datetime
import hashlib
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from tacit._location import fault
from tacit.dtypes import DType, bool_, fixed, int64
from tacit.errors import ProgramError

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind: TypeAlias = Literal["integer", "decimal", "number", "boolean", "date", "category", "text"]

KINDS: tuple[Kind, ...] = get_args(Kind)

MAX_PLACES = 32
"""Decimal places or fraction bits of a column, at most."""

EPOCH = datetime.date(1970, 1, 1)

TEXT_BITS = 64
"""Bits of the hash that a text is shared as."""


@dataclass(frozen=True, slots=True)
class ColumnType:
    """What a column holds; made by `integer`, `decimal`, `number`, `boolean`, `date`, `category` or `text`.

    Attributes:
        kind: Which of these it was made by.
        low: The least raw value: an integer, a decimal without its point, a day since 1970, a word's place.
        high: The largest.
        places: Decimal places of a decimal, fraction bits of a number.
        words: What a category may be, in ascending order.
        null: Whether values may be missing.
        source: The owner's column that a `like` is about; none for others.
        pattern: What it is compared with.
    """

    kind: Kind
    low: int = 0
    high: int = 1
    places: int = 0
    words: tuple[str, ...] = ()
    null: bool = False
    source: str = ""
    pattern: str = ""

    @property
    def dtype(self) -> DType:
        """The type of the tensors that hold it."""
        if self.kind == "boolean":
            return bool_
        return fixed(self.places) if self.kind == "number" else int64

    @property
    def unit(self) -> int:
        """How many raw steps make 1."""
        if self.kind == "number":
            return 1 << self.places
        return int(10**self.places) if self.kind == "decimal" else 1

    @property
    def range(self) -> tuple[float, float] | None:
        """The range of the tensors that hold it; none of bools."""
        if self.kind == "boolean":
            return None
        unit = self.unit if self.kind == "number" else 1
        return (self.low / unit, self.high / unit) if unit > 1 else (self.low, self.high)

    @property
    def parts(self) -> int:
        """How many tensors hold it: a hash has two halves."""
        return 2 if self.kind == "text" else 1

    def nullable(self, null: bool = True) -> ColumnType:
        """The same, of which values may be missing."""
        return replace(self, null=null)

    def __str__(self) -> str:
        return self._said(self._arguments())

    def in_words(self, most: int | None = None) -> str:
        """The same, with the words of a category, or so many of them."""
        if self.kind != "category":
            return str(self)
        words = [repr(word) for word in self.words[:most]]
        more = len(self.words) - len(words)
        return self._said([*words, f"and {more} more"] if more else words)

    def _said(self, arguments: list[str]) -> str:
        return f"{self.kind}({', '.join(arguments)}){' or null' if self.null else ''}"

    def _arguments(self) -> list[str]:
        if self.kind in ("boolean", "text"):
            return [f"{self.source} like {self.pattern!r}"] if self.source else []
        if self.kind == "category":
            return [f"{len(self.words)} words"]
        if self.kind == "date":
            return [str(EPOCH + datetime.timedelta(days)) for days in (self.low, self.high)]
        ends = [self._plainly(end) for end in (self.low, self.high)]
        steps = {"decimal": f"places={self.places}", "number": f"bits={self.places}"}.get(self.kind)
        return [*ends, *([steps] if steps else [])]

    def _plainly(self, raw: int) -> str:
        """A raw value with all its digits."""
        return str(raw // self.unit) if raw % self.unit == 0 else str(raw / self.unit)


def integer(low: int, high: int, *, null: bool = False) -> ColumnType:
    """Integers from `low` to `high`."""
    _ascending(low, high)
    return ColumnType("integer", _whole(low), _whole(high), null=null)


def decimal(places: int, low: float, high: float, *, null: bool = False) -> ColumnType:
    """Decimal numbers, exact to so many places: money, say. Products and sums of them are exact, too."""
    if type(places) is not int or not 0 <= places <= 9:
        raise fault(ProgramError, f"decimal({places!r}, ...): places are from 0 to 9")
    _ascending(low, high)
    unit = 10**places
    return ColumnType(
        "decimal", math.floor(low * unit + 0.5), math.floor(high * unit + 0.5), places, null=null
    )


def number(low: float, high: float, *, bits: int = 16, null: bool = False) -> ColumnType:
    """Fixed-point numbers from `low` to `high`, in steps of 2**-bits."""
    _ascending(low, high)
    unit = fixed(bits).unit
    return ColumnType("number", math.floor(low * unit + 0.5), math.floor(high * unit + 0.5), bits, null=null)


def boolean(*, null: bool = False) -> ColumnType:
    """True or false."""
    return ColumnType("boolean", null=null)


def date(first: str | datetime.date, last: str | datetime.date, *, null: bool = False) -> ColumnType:
    """Days from `first` to `last`, both of them included: "1992-01-31", or dates of Python's."""
    low, high = day_of(first), day_of(last)
    _ascending(low, high)
    return ColumnType("date", low, high, null=null)


def category(words: Iterable[str], *, null: bool = False) -> ColumnType:
    """One of some words that everybody knows, which are kept in ascending order and compared by it."""
    given = list(words)
    if isinstance(words, str) or not given or not all(isinstance(word, str) for word in given):
        raise fault(ProgramError, "a category is one of some words", 'write category(["new", "used"])')
    known = tuple(sorted(set(given)))
    return ColumnType("category", 0, len(known) - 1, words=known, null=null)


def text(*, null: bool = False) -> ColumnType:
    """Any text, shared as 64 bits of its SHA-256: it can be joined, grouped, and compared for equality.

    Two of n different texts have the same hash with a probability of at most n**2 / 2**65: one in 36 million
    for a million texts, unless their owner chose them for it. They would count as equal. What is revealed is
    the hash, as an integer; whoever knows which texts there may be finds it among theirs
    (`tacit.tables.hash_of`).
    """
    return ColumnType("text", -(1 << 31), (1 << 31) - 1, null=null)


def like(source: str, pattern: str, *, null: bool = False) -> ColumnType:
    """Whether a text of the owner's matches a pattern of SQL (`%` is any text, `_` a letter).

    The owner compares before anything is shared, so only this bit is: of a column that may be in the schema
    itself or not. `source LIKE pattern` in a query is this column.
    """
    if not source or not isinstance(source, str) or not isinstance(pattern, str):
        raise fault(ProgramError, "like(...) takes the name of a column and a pattern")
    return ColumnType("boolean", null=null, source=source, pattern=pattern)


def hash_of(word: str) -> int:
    """The 64 bits that a text is shared as: the first of its SHA-256, as a signed integer."""
    digest = hashlib.sha256(word.encode()).digest()
    return int.from_bytes(digest[: TEXT_BITS // 8], "big", signed=True)


def halves(hashed: int) -> tuple[int, int]:
    """The upper and the lower half of a hash, both of which are signed."""
    return hashed >> 32, (hashed & 0xFFFFFFFF) - (1 << 31)


def day_of(value: Any) -> int:
    """The days since 1970-01-01 of a date.

    Raises:
        ProgramError: It is none.
    """
    try:
        if isinstance(value, str):
            value = datetime.date.fromisoformat(value)
        if isinstance(value, datetime.datetime):
            value = value.date()
        return int((value - EPOCH).days)
    except (TypeError, ValueError, AttributeError):
        raise fault(ProgramError, f"{value!r} is no date", 'write it as "1998-12-31"') from None


def _whole(value: Any) -> int:
    if isinstance(value, bool) or value != int(value):
        raise fault(ProgramError, f"{value!r} is no integer")
    return int(value)


def _ascending(low: float, high: float) -> None:
    if not low <= high:
        raise fault(ProgramError, f"the range {low} to {high} holds nothing", "write the lower end first")
