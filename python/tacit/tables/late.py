"""Columns that a query only shows: they are fetched for its groups, and don't go along with all rows before.

`GROUP BY c_custkey, c_name, c_address` groups by the key alone, where the others follow from it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from tacit.tables.constructs import name_of, ordered_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.tables.table import Table


@dataclass(frozen=True)
class Late:
    """Columns of one table, called `alias.column`, and the key of a group that they follow from."""

    alias: str
    key: str
    columns: tuple[str, ...]


def late_columns(node: exp.Select, sources: Mapping[str, Table]) -> list[Late]:
    """What can be fetched for groups: columns in GROUP BY beside a unique key, and in no computation.

    Args:
        node: The query.
        sources: The tables that it is about, as their owners gave them, by alias.
    """
    keys = (node.args.get("group") or exp.Group()).expressions
    group = [one for one in keys if isinstance(one, exp.Column)]
    shown = Counter(name_of(one) for one in group)
    for part in [*node.expressions, *(one.this for one in ordered_by(node))]:
        plain = part.unalias()
        if isinstance(plain, exp.Column):
            shown[name_of(plain)] += 1
    # The conditions of tables that the query makes for itself may be about tables of the same name.
    used = Counter(name_of(one) for one in node.find_all(exp.Column))
    # Nothing is fetched by a null: rows that a table has no match for have nulls of its key.
    joins = node.args.get("joins") or ()
    unmatched = {join.this.alias_or_name for join in joins if join.side}
    if any(join.side == "FULL" for join in joins):
        unmatched |= set(sources)
    found = []
    for alias, table in sources.items():
        own = [one for one in group if one.table == alias]
        key = next((one for one in own if table.facts.is_unique([name_of(one)])), None)
        if key is None or alias in unmatched or table[name_of(key)].valid is not None:
            continue
        others = tuple(
            name_of(one) for one in own if one is not key and used[name_of(one)] == shown[name_of(one)]
        )
        if others:
            found.append(Late(alias, name_of(key), others))
    return found


def fetched(table: Table, late: Sequence[Late], sources: Mapping[str, Table]) -> Table:
    """Groups with the columns that were left out before."""
    for one in late:
        source = sources[one.alias].select(one.key, *one.columns)
        table = table.join(source, on=one.key)
    return table
