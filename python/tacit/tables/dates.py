"""Parts of dates: years, months and days, by comparisons with the days on which they begin; and in words."""

from __future__ import annotations

import bisect
import calendar
import datetime
import itertools
import re
from typing import TYPE_CHECKING, Any

from tacit._location import fault
from tacit._ranges import within
from tacit._tensor import Tensor
from tacit.errors import ProgramError, ProgramTypeError
from tacit.tables.types import EPOCH, day_of
from tacit.tables.words import mapped

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.tables.column import Column


PARTS = {"year": 1, "quarter": 4, "month": 12}
"""Of how many a year consists."""

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

_CODES: dict[str, tuple[str, Callable[[datetime.date], str]]] = {
    "%Y": ("year", lambda day: str(day.year)),
    "%y": ("year", lambda day: f"{day.year % 100:02}"),
    "%m": ("month", lambda day: f"{day.month:02}"),
    "%-m": ("month", lambda day: str(day.month)),
    "%B": ("month", lambda day: _MONTHS[day.month - 1]),
    "%b": ("month", lambda day: _MONTHS[day.month - 1][:3]),
    "%d": ("day", lambda day: f"{day.day:02}"),
    "%-d": ("day", lambda day: str(day.day)),
    "%A": ("weekday", lambda day: _DAYS[day.weekday()]),
    "%a": ("weekday", lambda day: _DAYS[day.weekday()][:3]),
    "%w": ("weekday", lambda day: str(day.isoweekday() % 7)),
    "%u": ("weekday", lambda day: str(day.isoweekday())),
    "%j": ("date", lambda day: f"{day.timetuple().tm_yday:03}"),
    "%x": ("date", datetime.date.isoformat),
    "%%": ("", lambda _: "%"),
}
"""Codes of `strftime`: of which part of a date each is, and what it writes."""


def year(column: Column) -> Column:
    """The year: a comparison for each year in the range but one."""
    first, last = _years(column)
    starts = [day_of(datetime.date(year, 1, 1)) for year in range(first + 1, last + 1)]
    return _integer(column, _count(column, starts) + first, first, last)


def month(column: Column) -> Column:
    """The month, from 1 to 12: a comparison for each month in the range but one."""
    return _integer(column, _of_year(column, 12) + 1, 1, 12)


def months(column: Column) -> Column:
    """The months since the year 0: a comparison for each month in the range but one."""
    before, starts = 12 * _years(column)[0], _starts(column, 12)
    ends = (before + bisect.bisect(starts, end) - 1 for end in (column.type.low, column.type.high))
    return _integer(column, _count(column, starts[1:]) + before, *ends)


def quarter(column: Column) -> Column:
    """The quarter, from 1 to 4: a comparison for each quarter in the range but one."""
    return _integer(column, _of_year(column, 4) + 1, 1, 4)


def day(column: Column) -> Column:
    """The day in its month, from 1: a comparison for each month in the range but one."""
    return _integer(column, column.value - start_of(column, "month").value + 1, 1, 31)


def start_of(column: Column, unit: str) -> Column:
    """The first day of a part of a year: a comparison for each in the range but one; of a week; or itself."""
    from tacit.tables.column import made

    if unit == "day":
        _years(column)
        return column
    if unit == "week":
        first = column.value - weekday(column).value
        low, high = (day - (day + EPOCH.weekday()) % 7 for day in (column.type.low, column.type.high))
    elif unit in PARTS:
        starts = _starts(column, PARTS[unit])
        lengths = [after - before for before, after in itertools.pairwise(starts)]
        first = starts[0] + _count(column, starts[1:], lengths)
        low, high = (starts[bisect.bisect(starts, end) - 1] for end in (column.type.low, column.type.high))
    else:
        raise fault(ProgramError, f"the start of {unit!r}", f"dates have {', '.join(PARTS)}, week and day")
    return made("date", within(first, low, high) if isinstance(first, Tensor) else first, valid=column.valid)


def months_later(column: Column, count: int) -> Column:
    """So many months after a date, or before it: on the same day of the month, or on the month's last.

    A comparison for each day of the range on which there are other days in between than on the one before.

    Raises:
        ProgramError: It may be beyond the years that dates have.
    """
    from tacit.tables.column import made

    _years(column)
    low, high = column.type.low, column.type.high
    between = [_months_on(column, day, count) - day for day in range(low, high + 1)]
    steps = [after - before for before, after in itertools.pairwise(between)]
    changes = {low + place: step for place, step in enumerate(steps, 1) if step}
    value = column.value + (_count(column, [*changes], [*changes.values()]) + between[0])
    ends = low + between[0], high + between[-1]
    return made("date", within(value, *ends) if isinstance(value, Tensor) else value, valid=column.valid)


def month_end(column: Column) -> Column:
    """The last day of the month that a date is in: a comparison for each month in the range but one."""
    from tacit.tables.column import made

    starts = _starts(column, 12)
    ends = [_months_on(column, start, 1) - 1 for start in starts]
    steps = [after - before for before, after in itertools.pairwise(ends)]
    value = _count(column, starts[1:], steps) + ends[0]
    low, high = (ends[bisect.bisect(starts, end) - 1] for end in (column.type.low, column.type.high))
    return made("date", within(value, low, high) if isinstance(value, Tensor) else value, valid=column.valid)


def _months_on(column: Column, day: int, count: int) -> int:
    """A public day so many months later."""
    was = EPOCH + datetime.timedelta(day)
    years, month = divmod(was.month - 1 + count, 12)
    try:
        begin = datetime.date(was.year + years, month + 1, 1)
        length = calendar.monthrange(begin.year, begin.month)[1]
        return day_of(begin.replace(day=min(was.day, length)))
    except (ValueError, OverflowError):
        raise fault(
            ProgramError,
            f"{count} months on from {column.said()} may be beyond what dates there are",
            "declare fewer years",
        ) from None


def weekday(column: Column) -> Column:
    """The day in its week, from 0, Monday, to 6, Sunday."""
    _years(column)
    return _integer(column, (column.value + EPOCH.weekday()) % 7, 0, 6)


def written(column: Column, form: str) -> Column:
    """What `strftime` writes of dates: by their years, months or the like, where that is all it writes."""
    _years(column)
    codes = re.findall(r"%-?.|[^%]+|%", form, re.DOTALL)
    wrong = [one for one in codes if one.startswith("%") and one not in _CODES]
    if wrong:
        raise fault(ProgramError, f"strftime has no {wrong[0]} here", f"it has {', '.join(_CODES)}")
    parts = {_CODES[one][0] for one in codes if one in _CODES} - {""}

    def shown(day: datetime.date) -> str:
        return "".join(_CODES[one][1](day) if one in _CODES else one for one in codes)

    if parts == {"weekday"}:
        # The first of January was a Monday.
        return mapped(lambda place: shown(datetime.date(2001, 1, 1 + place)), weekday(column))
    if parts == {"day"}:
        return mapped(lambda place: shown(datetime.date(2000, 1, place)), day(column))
    if parts == {"month"}:
        return mapped(lambda place: shown(datetime.date(2000, place, 1)), month(column))
    if parts <= {"year"}:
        return mapped(lambda place: shown(datetime.date(place, 1, 1)), year(column))
    if parts <= {"year", "month"}:
        return mapped(lambda place: shown(datetime.date(place // 12, place % 12 + 1, 1)), months(column))
    return mapped(shown, column)


def _of_year(column: Column, parts: int) -> Any:
    """Which of a year's equal parts it is, from 0."""
    starts = _starts(column, parts)
    return _count(column, starts[1:]) - parts * _count(column, starts[parts::parts])


def _starts(column: Column, parts: int) -> list[int]:
    """The days on which parts of years begin, from the first year of the range to the last."""
    first, last = _years(column)
    months = range(1, 13, 12 // parts)
    return [day_of(datetime.date(year, month, 1)) for year in range(first, last + 1) for month in months]


def _years(column: Column) -> tuple[int, int]:
    if column.type.kind != "date":
        raise fault(
            ProgramTypeError,
            f"{column.said()} has no year, month or day",
            "declare the column as date(first, last)",
        )
    ends = [EPOCH + datetime.timedelta(days) for days in (column.type.low, column.type.high)]
    return ends[0].year, ends[1].year


def _count(column: Column, starts: list[int], steps: list[int] | None = None) -> Any:
    """How many of some ascending public days are at most each of a column, or how much their steps are."""
    value, low, high = column.value, column.type.low, column.type.high
    each = [1] * len(starts) if steps is None else steps
    total: Any = 0
    for start, step in zip(starts, each, strict=True):
        if start <= low or not isinstance(value, Tensor):
            total = total + step * (start <= low)
        elif start <= high:
            after = value >= start
            total = (after if step == 1 else after * step) + total
    return total


def _integer(column: Column, value: Any, low: int, high: int) -> Column:
    from tacit.tables.column import made

    bounded = within(value, low, high) if isinstance(value, Tensor) else value
    return made("integer", bounded, valid=column.valid)
