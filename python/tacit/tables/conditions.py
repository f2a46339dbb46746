"""Conditions that a query's tables are joined by, and which joins they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from tacit.tables.constructs import checked, conjuncts, name_of, refused, sources_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.tables.table import Table


def not_null(condition: exp.Expr) -> str:
    """The column that a condition says is not null."""
    inner = condition.this.unnest() if isinstance(condition, exp.Not) else None
    is_null = isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null)
    column = inner.this if is_null and inner is not None else None
    return name_of(column) if isinstance(column, exp.Column) else ""


def keeps_rows(
    join: exp.Join, sources: Mapping[str, Table], where: Sequence[exp.Expr], there: set[str]
) -> bool:
    """Whether each row before a join has at most one of its table."""
    name = join.this.alias_or_name
    conditions = where if how_of(join) == "inner" else conjuncts(join.args.get("on"))
    pairs = [equality(one, name) for one in conditions if sources_of(one) <= there | {name}]
    keys = [pair[1] for pair in pairs if pair is not None]
    columns = [name_of(one) for one in keys if isinstance(one, exp.Column)]
    return sources[name].facts.is_unique(columns)


def in_all_branches(condition: exp.Expr) -> list[exp.Expr]:
    """Equalities that each side of an OR has: they hold, too, and tables can be joined by them."""
    if not isinstance(condition, exp.Or):
        return []
    branches = [conjuncts(one) for one in condition.flatten()]
    common = set.intersection(*({one.sql() for one in branch} for branch in branches))
    return [one for one in branches[0] if one.sql() in common and isinstance(one, exp.EQ)]


def how_of(join: exp.Join) -> str:
    """How tables are joined; RIGHT JOINs have been turned.

    Raises:
        ProgramTypeError: In a way that isn't supported.
    """
    checked(join)
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if side not in _SIDES or kind not in ("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"):
        raise refused(join, hint="write LEFT JOIN, RIGHT JOIN, FULL JOIN or INNER JOIN")
    return kind.lower() if kind in ("SEMI", "ANTI") else _SIDES[side]


_SIDES = {"": "inner", "LEFT": "left", "FULL": "outer"}


def is_ready(
    join: exp.Join, sources: Mapping[str, Table], where: Sequence[exp.Expr], there: set[str]
) -> bool:
    """Whether there is something to join by already."""
    name = join.this.alias_or_name
    if how_of(join) != "inner":
        return all(sources_of(one) <= there | {name} for one in conjuncts(join.args.get("on")))
    equal = any(equality(one, name) and sources_of(one) <= there | {name} for one in where)
    return equal or is_one_row(sources[name])


def equality(condition: exp.Expr, name: str) -> tuple[exp.Expr, exp.Expr] | None:
    """Both sides of an equality, that of the table of this name last."""
    if not isinstance(condition, exp.EQ):
        return None
    left, right = condition.left, condition.right
    for here, there in ((left, right), (right, left)):
        if sources_of(there) == {name} and sources_of(here) and name not in sources_of(here):
            return here, there
    return None


def less_than_left(
    name: str, where: list[exp.Expr], on: list[exp.Expr], later: Sequence[exp.Expr]
) -> tuple[str, list[exp.Expr]]:
    """What a left join is where a condition leaves out rows with a match, or those without; and what is left.

    A comparison with a null isn't true, so rows without a match are left out by it.
    """
    keys = {pair[1].sql() for one in on for pair in [equality(one, name)] if pair is not None}
    left, how = [], "left"
    for condition in where:
        inner = (condition.this if isinstance(condition, exp.Not) else condition).unnest()
        null = isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null)
        if null and inner.this.sql() in keys:
            others = [one for one in [*later, *where] if one is not condition and name in sources_of(one)]
            if isinstance(condition, exp.Not):
                how = "inner"
                continue
            if not others:
                how = "anti"
                continue
        compares = isinstance(condition, (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE))
        # These may make a value of a null.
        parts = exp.Coalesce, exp.Case, exp.If, exp.Is, exp.And, exp.Or
        if compares and condition.find(*parts) is None and name in sources_of(condition) and how == "left":
            how = "inner"
        left.append(condition)
    return how, left


def needed(table: Table, later: Sequence[exp.Expr], keys: Any = ()) -> Table:
    """The columns that anything later is about."""
    names = set(keys)
    for node in later:
        for column in node.find_all(exp.Column):
            names |= {name_of(column), *(f"{column.table}.{end} of {column.name}" for end in ("min", "max"))}
            names |= {
                name
                for name, one in table.columns.items()
                if one.type.source == column.name and name.startswith(f"{column.table}.")
            }
    kept = [name for name in table.columns if name in names]
    return table.select(*kept)


def is_one_row(table: Table) -> bool:
    """Whether a table has one row at most."""
    return len(table) == 1
