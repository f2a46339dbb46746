"""Constructs of SQL: which parts of each are known, and what is said of those that aren't."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from tacit._location import fault
from tacit.errors import ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIRST = "write QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC) = 1, which has the whole row"

_ONE_BY_ONE = "write a GROUP BY for each, and UNION ALL"

_INSTEAD: dict[type[exp.Expr], str] = {
    exp.Window: "windows stand in SELECT, QUALIFY and ORDER BY; docs/tables.md says which work",
    exp.RegexpLike: "use LIKE on a category, or declare the column with tables.like(...)",
    exp.Interval: "add days, weeks, months or years to a date: x + INTERVAL 30 DAY, or x + 30",
    exp.RegrIntercept: "it is AVG(y) - REGR_SLOPE(y, x) * AVG(x), after the run",
    exp.ArgMax: _FIRST,
    exp.ArgMin: _FIRST,
    exp.First: _FIRST,
    exp.Last: _FIRST,
    exp.Mode: "GROUP BY it, and QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) = 1",
    exp.ApproxDistinct: "COUNT(DISTINCT x) is exact",
    exp.GroupConcat: "reveal the rows, and put them together after the run",
    exp.ArrayAgg: "reveal the rows, and put them together after the run",
    exp.Skewness: "make it of AVG(x), AVG(x * x) and AVG(x * x * x), after the run",
    exp.AggFunc: "SUM, COUNT, AVG, MEDIAN, QUANTILE_CONT, MIN, MAX, STDDEV, VARIANCE, CORR, BOOL_OR, "
    "BOOL_AND work",
    exp.GroupingSets: _ONE_BY_ONE,
    exp.Rollup: _ONE_BY_ONE,
    exp.Cube: _ONE_BY_ONE,
    exp.Pivot: "write an aggregate for each column: SUM(CASE WHEN k = 'a' THEN x END) AS a",
    exp.Values: "declare it as a table of an owner, or write CASE k WHEN 1 THEN 'a' END",
    exp.Lateral: "join a GROUP BY, or QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY x) = 1",
    exp.Tuple: "write a = 1 AND b = 2; pairs are counted by SELECT DISTINCT a, b in a subquery",
    exp.BitwiseAnd: "write x % 8 for x & 7, and x // 8 % 2 for a bit",
    exp.BitwiseOr: "make numbers of digits: x // 8 % 2 is a bit of x",
    exp.BitwiseXor: "make numbers of digits: x // 8 % 2 is a bit of x",
    exp.Rand: "owners draw before they share",
    exp.CurrentDate: "write the date, as DATE '2025-12-31'",
    exp.Star: "name the columns",
    exp.Var: "name the columns",
    exp.Null: "nothing is equal to NULL: write x IS NULL",
}


OF_CONDITION = "_u_"
"""What the names begin with that the optimiser gives to subqueries of conditions."""

_ENDED = {"with_", "distinct", "order", "limit", "offset"}

_ARGUMENTS: dict[type[exp.Expr], set[str]] = {
    exp.Like: {"negate"},
    exp.ILike: {"negate"},
    exp.Interval: {"unit"},
    exp.TimestampTrunc: {"unit"},
    exp.Fetch: {"count", "direction", "limit_options"},
    exp.DateTrunc: {"unit"},
    exp.Is: {"negate"},
    exp.Between: {"low", "high"},
    exp.In: {"query"},
    exp.Case: {"ifs", "default"},
    exp.If: {"true", "false"},
    exp.Cast: {"to"},
    exp.TryCast: {"to", "safe"},
    exp.Column: {"table"},
    exp.Alias: {"alias"},
    exp.Literal: {"is_string"},
    exp.Substring: {"start", "length"},
    exp.Count: {"big_int"},
    exp.Greatest: {"ignore_nulls"},
    exp.Least: {"ignore_nulls"},
    exp.Round: {"decimals"},
    exp.DateDiff: {"unit", "date_part_boundary"},
    exp.Div: {"typed", "safe"},
    exp.DPipe: {"safe"},
    exp.Concat: {"safe", "coalesce"},
    exp.ConcatWs: {"safe", "coalesce"},
    exp.Trim: {"position"},
    exp.RegexpLike: set(),
    exp.RegexpFullMatch: set(),
    exp.StrPosition: {"substr"},
    exp.Replace: {"replacement"},
    exp.Translate: {"from_", "to"},
    exp.Repeat: {"times"},
    exp.Pad: {"fill_pattern", "is_left"},
    exp.SplitPart: {"delimiter", "part_index"},
    exp.TimeToStr: {"format"},
    exp.Quantile: {"quantile"},
    exp.Select: {"from_", "joins", "where", "group", "having", "qualify", *_ENDED},
    exp.Union: _ENDED,
    exp.Except: _ENDED,
    exp.Intersect: _ENDED,
    exp.Join: {"on", "side", "kind"},
    exp.Ordered: {"desc", "nulls_first"},
    exp.Lag: {"offset"},
    exp.Lead: {"offset"},
    exp.Window: {"partition_by", "order", "spec", "over"},
    exp.WindowSpec: {"kind", "start", "start_side", "end", "end_side"},
    exp.Table: {"alias"},
    exp.TableAlias: {"columns"},
    exp.CTE: {"alias", "materialized"},
    exp.Subquery: {"alias", "with_"},
}
"""What parts of constructs are known, besides what they are about."""


def checked(node: exp.Expr) -> None:
    """Refuses a construct with a part that isn't known: leaving it out would change what is meant."""
    known = _ARGUMENTS.get(type(node), set()) | {"this", "expression", "expressions"}
    for part, value in node.args.items():
        if value and part not in known:
            if type(node) not in _ARGUMENTS and isinstance(node, exp.Func):
                raise refused(node)  # Its parts have names of sqlglot's alone.
            raise refused(
                node, f"has a part that is not supported, {part.upper().strip('_')}", _PARTS.get(part)
            )


def checked_clauses(query: exp.Expr) -> None:
    """Refuses a query of which any clause has a part that isn't known.

    Joins are looked at when they are computed: the optimiser writes USING as ON.
    """
    for node in query.find_all(*_CLAUSES):
        checked(node)


_CLAUSES: tuple[type[exp.Expr], ...] = (
    exp.Select,
    exp.SetOperation,
    exp.Subquery,
    exp.Table,
    exp.TableAlias,
    exp.With,
    exp.CTE,
    exp.From,
    exp.Where,
    exp.Group,
    exp.Having,
    exp.Qualify,
    exp.Distinct,
    exp.Order,
    exp.Ordered,
    exp.Limit,
    exp.Offset,
    exp.Fetch,
)

_PARTS = {
    "all": "name the columns",
    "limit_options": "write LIMIT with a number of rows",
    "windows": "write OVER (PARTITION BY ... ORDER BY ...) with each",
    "default": "write COALESCE(..., value), which stands for nulls, too",
    "laterals": "write a join",
    "method": "write JOIN ... ON; the last row before is QUALIFY ROW_NUMBER() OVER (PARTITION BY a.id "
    "ORDER BY b.t DESC) = 1",
    "pivots": "write an aggregate with CASE for each column",
    "sample": "let owners take samples before they share",
}


def refused(node: exp.Expr, why: str = "is not supported", hint: str | None = None) -> ProgramTypeError:
    """An error that names a construct."""
    kind = next((instead for cls, instead in _INSTEAD.items() if isinstance(node, cls)), None)
    text = node.sql(dialect="duckdb")
    shown = text if len(text) < 80 else f"{text[:77]}..."
    hint = hint or kind or "docs/tables.md lists what works; compute it with methods of tables"
    call, is_call, _ = text.partition("(")
    name = call if isinstance(node, exp.Func) and is_call and call.isidentifier() else type(node).__name__
    return fault(ProgramTypeError, f"SQL: {name} in `{shown}` {why}", hint)


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """What has to hold all together."""
    if condition is None:
        return []
    if isinstance(condition, exp.Paren):
        return conjuncts(condition.this)
    if isinstance(condition, exp.And):
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    if isinstance(condition, exp.Boolean) and condition.this:
        return []
    return [condition]


def ordered_by(node: exp.Expr) -> list[exp.Ordered]:
    """What ORDER BY names, of a query or a window."""
    order = node.args.get("order")
    return [] if order is None else list(order.expressions)


def name_of(column: exp.Column) -> str:
    """What a column is called among those of several tables."""
    return f"{column.table}.{column.name}" if column.table else column.name


def sources_of(node: exp.Expr) -> set[str]:
    """The tables, by alias, that an expression is about."""
    return {column.table for column in node.find_all(exp.Column)}


def in_subquery(condition: exp.Expr, uses: Sequence[exp.Expr]) -> tuple[exp.Expr, exp.Expr] | None:
    """`x` and `y`, if a join is that of `x IN (SELECT y ...)` where null isn't as good as false.

    It is in conditions of WHERE and CASE without NOT.

    Args:
        condition: A condition of the join.
        uses: What is about its tables later.
    """
    if not isinstance(condition, exp.EQ):
        return None
    for key, other in ((condition.left, condition.right), (condition.right, condition.left)):
        # Keys of other subqueries have such names, too.
        if (
            isinstance(key, exp.Column)
            and key.table.startswith(OF_CONDITION)
            and not key.name.startswith(OF_CONDITION)
        ):
            asked = [one for use in uses for one in use.find_all(exp.Is) if one.this.sql() == key.sql()]
            if any(not _is_whether(one) for one in asked):
                return other, key
    return None


def _is_whether(null: exp.Is) -> bool:
    """Whether rows where a value isn't null are asked for, and no others."""
    condition = null.parent
    if not isinstance(condition, exp.Not):
        return False
    while isinstance(condition.parent, (exp.And, exp.Or, exp.Paren)):
        condition = condition.parent
    of_case = isinstance(condition.parent, exp.If) and condition.arg_key == "this"
    return of_case or isinstance(condition.parent, exp.Where)
