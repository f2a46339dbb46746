"""Aggregates of a column's values: which there are, of what, and what sums and extremes make of it."""

from __future__ import annotations

import fractions
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tacit._elementary import divide
from tacit._location import fault
from tacit.errors import ProgramError, ProgramTypeError
from tacit.tables.column import Column, column_of, made

if TYPE_CHECKING:
    from tacit._tensor import Tensor
    from tacit.tables.table import Table

Spec: TypeAlias = "str | tuple[str | Column | None, str] | tuple[str | Column, str, float]"

SPREADS = ("var", "std")
"""Aggregates of samples: by the count less 1; null of one row."""

QUANTILES = ("median", "quantile", "quantile_disc")
"""Aggregates of rows in order: the last is one of the values, the others may be between two of them."""

HOWS = ("sum", "count", "mean", "min", "max", "distinct", *SPREADS, *QUANTILES)


_FINEST = 10_000
"""The largest denominator of a quantile's place."""

_INSTEAD = {
    "nunique": 'say ("column", "distinct")',
    "size": 'say rows="count"',
    "avg": 'say ("column", "mean")',
    "average": 'say ("column", "mean")',
    "any": 'say ("column", "sum"), and > 0 of it: bools count as 0 and 1',
    "all": 'say ("column", "sum"), and compare it with ("column", "count")',
    "first": 'say ("column", "min"), or window("name", "column", "first", order_by=...) before',
    "last": 'say ("column", "max"), or window("name", "column", "last", order_by=...) before',
    "prod": "say the sum of np.log of it, and np.exp of that",
    "mode": 'group_by the column too, with rows="count", and take the largest of each group by a window',
    "sem": 'say ("column", "std") and ("column", "count"): it is std / np.sqrt(count)',
}
"""Aggregates of pandas, and what to write."""


@dataclass(frozen=True)
class Aggregate:
    """One column of a result: what is made of which column; of `None` all rows are counted.

    Attributes:
        how: One of `HOWS`.
        column: The column.
        place: At which part of the rows in order a quantile is.
    """

    how: str
    column: Column | None
    place: fractions.Fraction | None = None

    @property
    def spec(self) -> Any:
        """What `agg` takes for it."""
        if self.column is None:
            return self.how
        at = () if self.place is None or self.how == "median" else (self.place,)
        return (self.column, self.how, *at)


def aggregate_of(table: Table, name: str, spec: Any) -> Aggregate:
    """What `agg(name=spec)` is of a table.

    Raises:
        ProgramError: There is no such aggregate, or not of this column.
    """
    if isinstance(spec, str):
        spec = (None, spec)
    if not isinstance(spec, tuple) or len(spec) not in (2, 3):
        raise fault(ProgramError, f"{name}={spec!r} is no aggregate", f'say {name}=("column", "sum")')
    source, how, *given = spec
    if how not in HOWS or (source is None and how != "count"):
        shown = how if source is None else (source if isinstance(source, str) else "...", how)
        hint = f'say {name}=("column", how): {", ".join(HOWS)}'
        if isinstance(how, list):
            hint = 'say one for each: low=("column", "min"), high=("column", "max")'
        elif callable(how):
            hint = f"functions aren't given the rows of a group; {hint}, and compute with these columns then"
        elif isinstance(how, str):
            hint = _INSTEAD.get(how, hint)
        raise fault(ProgramError, f"{name}={shown!r} is no aggregate", hint)
    place = _place(name, how, given)
    column = table[source] if isinstance(source, str) else source
    if column is not None:
        column = table.filled(column_of(column))
        check(how, column)
    return Aggregate(how, column, place)


def _place(name: str, how: str, given: list[Any]) -> fractions.Fraction | None:
    """At which part of the rows a quantile is; `None` of other aggregates."""
    if how == "median" and not given:
        return fractions.Fraction(1, 2)
    if how not in QUANTILES and not given:
        return None
    try:
        place = fractions.Fraction(str(*given))
    except (ValueError, TypeError):
        place = fractions.Fraction(-1)
    if how in ("quantile", "quantile_disc") and 0 <= place <= 1 and place.denominator <= _FINEST:
        return place
    raise fault(
        ProgramError,
        f"{name} is a {how} of {', '.join(map(repr, given)) or 'no place'}",
        f'say {name}=("column", "quantile", 0.9): one number from 0 to 1, of four decimal places at most',
    )


def check(how: str, column: Column) -> None:
    """Refuses an aggregate of what has none, or of means that there may be no room for."""
    kind = column.type.kind
    if how in SPREADS and kind == "boolean":
        raise fault(ProgramTypeError, f"there is no {how} of {column.type}", "say x.astype(int)")
    summed = ("sum", "mean", "median", "quantile", *SPREADS)
    if how in summed and kind not in ("integer", "decimal", "number", "boolean"):
        raise fault(ProgramTypeError, f"there is no {how} of {column.type}", "numbers have sums and means")
    if how in ("min", "max", "quantile_disc") and kind in ("text", "boolean"):
        raise fault(ProgramTypeError, f"there is no {how} of {column.type}", "texts have no order here")
    # Quotients of integers and decimals are fixed(16), others have the bits of what is divided.
    # All end at 2**47 steps.
    ends = 31 if kind != "number" else min(31, 47 - (column.type.unit.bit_length() - 1))
    if (
        how in ("mean", "median", "quantile")
        and max(abs(column.type.low), abs(column.type.high)) >= column.type.unit << ends
    ):
        raise fault(
            ProgramError,
            f"a {how} of {column.type} may be 2**{ends} or more, which quotients have no room for",
            "declare a narrower range, or take sum and count",
        )


def raw_of_column(column: Column) -> Tensor:
    """Integers that can be summed up."""
    value: Tensor = column.value
    return value + 0 if value.dtype.kind == "bool" else value._made(value._at().raw_as(value._id, 0))


def from_raw(column: Column, raw: Tensor, valid: Tensor | None) -> Column:
    """Sums or extremes of a column, from raw values."""
    kind = column.type.kind
    if kind == "boolean":
        return made("integer", raw, valid=valid)
    if kind == "number":
        value = raw._made(raw._at().raw_as(raw._id, column.type.places))
        return made("number", value, places=column.type.places, valid=valid)
    return made(kind, raw, places=column.type.places, valid=valid, words=column.type.words)


def mean_of_column(column: Column, total: Tensor, count: Tensor, valid: Tensor | None) -> Column:
    """Of integers and decimals in fixed(16), of numbers in their own type; the nearest step."""
    kind = column.type
    if kind.kind == "number":
        value = total._made(total._at().raw_as(total._id, kind.places))
        quotient = divide(value, count)
    else:
        quotient = divide(total, count * kind.unit if kind.unit > 1 else count)
    return made("number", quotient, places=quotient.dtype.bits, valid=valid)


def neutral_of(how: str, raw: Tensor) -> int:
    """What changes nothing in a sum or an extreme."""
    if how in ("sum", "mean"):
        return 0
    return raw._kind.high if how == "min" else raw._kind.low


def there_in(valid: Tensor | None, column: Column | None) -> Tensor | None:
    """Where a row counts and its value isn't null; `None` for everywhere."""
    null = None if column is None else column.valid
    if valid is None or null is None:
        return null if valid is None else valid
    return valid & null
