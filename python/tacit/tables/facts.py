"""What everybody knows of a table's rows from how it was made: it saves sorts, and bounds sizes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Names = frozenset[str]


@dataclass(frozen=True)
class Facts:
    """Of the rows that count; others may hold anything, where nothing else is said.

    Attributes:
        unique: Sets of columns of which no two rows have the same values.
        order: Columns by which all rows ascend, those that don't count too.
        last: How many of the first of these it takes until a row that counts comes after all that have the
            same values in them; `None`, if it may not.
        bounds: How many different values some columns have together at most.
        determines: Sets of columns, each with those whose values follow from them.
        equal: Pairs of columns that have the same value in each row.
        leading: Whether rows that count come first.
        settled: The columns that the order of the rows that count follows from: none, if it was asked for.
            `None`, if it may say more than what is in them.
        line: Columns by which the rows that count follow one another, nulls last, and whether each descends.
    """

    unique: frozenset[Names] = frozenset()
    order: tuple[str, ...] = ()
    last: int | None = None
    bounds: Mapping[Names, int] = field(default_factory=dict)
    determines: tuple[tuple[Names, Names], ...] = ()
    equal: tuple[Names, ...] = ()
    leading: bool = False
    settled: Names | None = None
    line: tuple[tuple[str, bool], ...] = ()

    def is_unique(self, columns: Iterable[str]) -> bool:
        """Whether no two rows have the same values in these columns."""
        given = frozenset(columns)
        return any(key <= given for key in self.unique)

    def ends_with_one(self, count: int) -> bool:
        """Whether the last of rows with the same values in the first columns counts, if any does."""
        return self.last is not None and self.last <= count <= len(self.order)

    def is_in_line(self, together: Iterable[str], then: Sequence[tuple[str, bool]]) -> bool:
        """Whether rows that count and are alike in some columns stand together, and follow others there.

        Args:
            together: Columns, in whichever order and direction.
            then: Columns by which those rows follow one another, and whether each descends.
        """
        given = frozenset(together)
        for line in (self.line, tuple((name, False) for name in self.order)):
            first, rest = line[: len(given)], line[len(given) :]
            if frozenset(name for name, _ in first) == given and rest[: len(then)] == tuple(then):
                return True
        return False

    def is_settled_by(self, columns: Iterable[str]) -> bool:
        """Whether the order of the rows that count says no more than these columns, all that there are."""
        if self.settled:
            return True
        # An order that was asked for may have been by columns that are gone.
        return self.settled is not None and not self.tell_apart((name for name, _ in self.line), columns)

    def bound(self, columns: Iterable[str], domains: Mapping[str, int], rows: int) -> int:
        """How many different values these columns have together at most."""
        given = frozenset(columns)
        product = 1
        for column in given:
            product *= min(domains.get(column, rows), self.bounds.get(frozenset((column,)), rows))
        known = [count for key, count in self.bounds.items() if given <= self._follow(key)]
        return min([rows, product, *known])

    def reduced(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Those of some columns that the others don't follow from."""
        kept = list(columns)
        for column in list(kept):
            others = frozenset(kept) - {column}
            if column in self._follow(others):
                kept.remove(column)
        return tuple(kept)

    def alias(self, column: str, among: Iterable[str]) -> str | None:
        """The one of some columns that is this one, or the same as it."""
        given = list(among)
        if column in given:
            return column
        return next((one for one in given if frozenset((column, one)) in self.equal), None)

    def tell_apart(self, columns: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
        """Those of some other columns that rows with the same values in `columns` are told apart by."""
        known = list(columns)
        asked = len(known)
        key = min(self.unique, key=lambda one: (len(one), sorted(one)), default=frozenset())
        for column in sorted(others, key=lambda one: one not in key):
            if self.is_unique(known):
                break
            if column not in self._follow(frozenset(known)):
                known.append(column)
        return tuple(known[asked:])

    def same_groups(self, columns: Iterable[str], others: Iterable[str]) -> bool:
        """Whether rows with the same values in some columns have so in others, and the other way round."""
        given, known = frozenset(columns), frozenset(others)
        return given <= self._follow(known) and known <= self._follow(given)

    def _follow(self, columns: Names) -> Names:
        """These columns, and all whose values follow from them."""
        known = columns
        twins = [(frozenset((one,)), pair) for pair in self.equal for one in pair]
        while True:
            more = known.union(*(then for given, then in [*self.determines, *twins] if given <= known))
            if more == known:
                return known
            known = more

    def renamed(self, names: Mapping[str, str]) -> Facts:
        """The same of columns that are called otherwise, where those that aren't in `names` are gone."""
        # A column that is gone may be the same as one that isn't.
        gone = {one for pair in self.equal for one in pair if one not in names}
        twins = {one: self.alias(one, names) for one in gone}
        names = {**{one: names[twin] for one, twin in twins.items() if twin is not None}, **names}

        def there(columns: Iterable[str]) -> bool:
            return all(column in names for column in columns)

        def changed(columns: Names) -> Names:
            return frozenset(names[column] for column in columns)

        order = [names[column] for column in itertools.takewhile(names.__contains__, self.order)]
        line = itertools.takewhile(lambda one: one[0] in names, self.line)
        return replace(
            self,
            unique=frozenset(changed(key) for key in self.unique if there(key)),
            order=tuple(order),
            line=tuple((names[column], falls) for column, falls in line),
            settled=None if self.settled is None or not there(self.settled) else changed(self.settled),
            bounds=least([(changed(key), count) for key, count in self.bounds.items() if there(key)]),
            determines=tuple(
                # What follows from a column that is gone follows from what that one follows from.
                (changed(given), frozenset(names[one] for one in self._follow(given) if one in names))
                for given, _ in self.determines
                if there(given)
            ),
            equal=tuple(changed(pair) for pair in self.equal if there(pair) and len(changed(pair)) == 2),
        )

    def without(self, columns: Iterable[str], all_columns: Iterable[str]) -> Facts:
        """The same but for columns that are replaced."""
        gone = frozenset(columns)
        return self.renamed({name: name for name in all_columns if name not in gone})


def least(bounds: Iterable[tuple[Names, int]]) -> dict[Names, int]:
    """Bounds, of which the lowest counts if there are several for the same columns."""
    known: dict[Names, int] = {}
    for key, count in bounds:
        known[key] = min(known.get(key, count), count)
    return known
