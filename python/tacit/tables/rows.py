"""Which rows columns are of: those that stand side by side are combined, others refused."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec

from tacit._location import caller, fault
from tacit.errors import ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.tables.column import Column

P = ParamSpec("P")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Which rows columns are of, and where each stands: columns go together if they have the same object.

    What keeps rows where they are, as a filter does, keeps it; what may move them makes another one.
    """

    said: str
    """What an error calls them."""

    @staticmethod
    def here() -> Rows:
        """Those that the user's expression makes."""
        file, line, text = caller()
        return Rows(f"`{text if len(text) < 60 else text[:57] + '...'}` ({file}:{line})")


def by_row(function: Callable[P, Column]) -> Callable[P, Column]:
    """A function that computes each row of its result of the same row of columns, which it marks so.

    Columns of different rows are refused: they might be of one length, and give wrong values.
    """

    @functools.wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> Column:
        from tacit.tables.column import Column, is_public

        given = [
            one for one in (*args, *options.values()) if isinstance(one, Column) and one.rows is not None
        ]
        for other in given[1:]:
            refuse_other_rows(given[0].said(), given[0].rows, other.said(), other.rows)
        result = function(*args, **options)
        if given and result.rows is None and not is_public(result):
            result.rows = given[0].rows
        return result

    return called


def refuse_other_rows(one: str, rows: Rows | None, other: str, others: Rows | None) -> None:
    """Refuses two columns, or a column and a table, whose rows don't stand side by side."""
    if rows is not others:
        raise fault(
            ProgramError,
            f"rows that stand otherwise: {one} has those of {rows and rows.said}, and {other} those of "
            f"{others and others.said}",
            "sorts, joins, groups, windows, unions and limits move rows: take columns of their result, s = t."
            'order_by("c"); s[s.x > 1], or compute before, t.assign(y=...); of two tables join one first, '
            'how="cross" puts one row beside all others',
        )
