"""Which order of rows saves sorts: what joins and groups of a query would like its tables to be in.

Owners put their rows in order before they share them, which is free. So a query is traced once to see by
which columns each table is first joined or grouped, and then with its rows in that order.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tacit.tables.schema import SecretTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.tables.table import Table


@dataclass
class Wishes:
    """By which columns tables are put in order while they are as their owners gave them.

    Attributes:
        columns: Names of a table and its column, by the identity of the tensor that holds it.
        counts: How often a table is put in an order.
    """

    columns: dict[int, tuple[str, str]] = field(default_factory=dict)
    counts: dict[str, Counter[tuple[str, ...]]] = field(default_factory=dict)

    def better(self, tables: Mapping[str, SecretTable]) -> dict[str, SecretTable]:
        """Those of some tables that another order is better for, in this order; none whose order was said."""
        changed = {}
        for name, counts in self.counts.items():
            schema = tables[name].schema
            # Of as many, the first.
            order, _ = counts.most_common(1)[0]
            default = schema.unique[0] if schema.unique else ()
            nulls = any(schema.columns[column].null for column in order)
            if schema.order == default and schema.order[: len(order)] != order and not nulls:
                changed[name] = SecretTable(replace(schema, order=order))
        return changed


_wishes: ContextVar[Wishes | None] = ContextVar("wishes", default=None)


@contextlib.contextmanager
def noted(tables: Mapping[str, Table]) -> Iterator[Wishes]:
    """While wishes about these tables are noted."""
    wishes = Wishes()
    for name, table in tables.items():
        for column, known in table.columns.items():
            wishes.columns[id(known.value)] = name, column
    before = _wishes.set(wishes)
    try:
        yield wishes
    finally:
        _wishes.reset(before)


def wish(table: Table, columns: Sequence[str]) -> None:
    """Notes that it would be good if a table were in the order of some columns."""
    wishes = _wishes.get()
    if wishes is None:
        return
    known = [wishes.columns.get(id(table[column].value)) for column in columns]
    names = {one[0] for one in known if one is not None}
    if None not in known and len(names) == 1:
        # A column may be there twice, by two names.
        order = tuple(dict.fromkeys(one[1] for one in known if one is not None))
        wishes.counts.setdefault(names.pop(), Counter())[order] += 1
