"""GROUP BY of SQL and its aggregates, as groups of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from tacit.tables.constructs import checked, name_of, refused
from tacit.tables.expressions import AGGREGATES, Expressions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.tables.column import Column
    from tacit.tables.table import Table


def aggregated(
    table: Table, expressions: Expressions, group: Sequence[exp.Expr], calls: Mapping[str, exp.Expr]
) -> tuple[Table, dict[str, str]]:
    """Groups and their aggregates, and which column is the value of which expression."""
    known: dict[str, str] = {}
    keys = []
    for place, one in enumerate(group):
        text = one.sql()
        if isinstance(one, exp.Column):
            known[text] = name_of(one)
            if known[text] not in table.columns:
                continue  # It is fetched for groups.
        else:
            known[text] = f"group {place}"
            table = table.assign(**{known[text]: expressions.column(one)})
        keys.append(known[text])
    specs: dict[str, Any] = {}
    values = Expressions(table, expressions.known)
    columns: dict[str, Column] = {}

    def value(inner: exp.Expr) -> Column:
        # The same argument of several aggregates is one column, which goes along once.
        text = inner.sql()
        if text not in columns:
            columns[text] = table.filled(values.column(inner))
        return columns[text]

    for place, (text, call) in enumerate(calls.items()):
        name = f"aggregate {place}"
        known[text] = name
        if isinstance(call, exp.ArrayAgg):
            for end in ("min", "max"):
                known[f"{end} of {text}"] = f"{end} {name}"
                specs[f"{end} {name}"] = (value(call.this), end)
            continue
        how = AGGREGATES.get(type(call))
        if how is None:
            raise refused(call)
        checked(call)
        if call.expressions:
            raise refused(call, "has more than one argument")
        inner = call.this
        if isinstance(inner, exp.Distinct):
            if how != "count" or len(inner.expressions) != 1:
                hint = "write it of (SELECT DISTINCT k, x FROM t) AS q; COUNT(DISTINCT x) of one column works"
                raise refused(call, hint=hint)
            specs[name] = (value(inner.expressions[0]), "distinct")
        elif isinstance(inner, (exp.Star, exp.Literal)) and how == "count":
            specs[name] = "count"
        else:
            specs[name] = (value(inner), how, *_place(call, how))
    return table.group_by(*keys).agg(**specs), known


def _place(call: exp.Expr, how: str) -> tuple[float, ...]:
    """At which part of the rows a quantile is, as `agg` takes it; nothing of other aggregates."""
    if how not in ("quantile", "quantile_disc"):
        return ()
    given = call.args.get("quantile") or call.args.get("expression")
    if not isinstance(given, exp.Literal) or given.is_string:
        raise refused(
            call, "is at no place that everybody knows", "write QUANTILE_CONT(x, 0.9), once for each place"
        )
    return (float(given.this),)
