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
    of: Rows | None = None
    """Those that they are some of, if columns that are made for them hold nothing for the others."""

    @staticmethod
    def here(of: Rows | None = None) -> Rows:
        """Those that the user's expression makes."""
        file, line, text = caller()
        return Rows(f"`{text if len(text) < 60 else text[:57] + '...'}` ({file}:{line})", of)

    def are_among(self, others: Rows | None) -> bool:
        """Whether they are others, or some of them, which stand where those do."""
        known: Rows | None = self
        while known is not None and known is not others:
            known = known.of
        return known is not None


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
        rows = given[0].rows if given else None
        for other in given[1:]:
            if other.rows is not None and other.rows.are_among(rows):
                rows = other.rows
            elif rows is None or not rows.are_among(other.rows):
                raise _otherwise(given[0].said(), rows, other.said(), other.rows)
        result = function(*args, **options)
        if result.rows is None and not is_public(result):
            result.rows = rows
        return result

    return called


def refuse_other_rows(column: str, rows: Rows | None, others: Rows) -> None:
    """Refuses a column for a table, unless the table's rows are the column's, or some of them."""
    if others.are_among(rows):
        return
    if rows is not None and rows.are_among(others):
        raise fault(
            ProgramError,
            f"{column} is of some rows alone, those of {rows.said}, and the table has all of {others.said}",
            "drop_nulls and a join with one row may leave nothing in the others: s = t.drop_nulls(); "
            "s.assign(y=s.x)",
        )
    raise _otherwise(column, rows, "the table", others)


def _otherwise(one: str, rows: Rows | None, other: str, others: Rows | None) -> ProgramError:
    return fault(
        ProgramError,
        f"rows that stand otherwise: {one} has those of {rows and rows.said}, and {other} those of "
        f"{others and others.said}",
        "sorts, joins, groups, windows, unions and limits move rows: take columns of their result, s = t."
        'order_by("c"); s[s.x > 1], or compute before, t.assign(y=...); of two tables join one first, '
        'how="cross" puts one row beside all others',
    )
