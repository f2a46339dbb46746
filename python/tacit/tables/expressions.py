"""Expressions of SQL, as sqlglot reads them, on columns of secret tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from tacit._location import fault
from tacit.errors import ProgramTypeError
from tacit.tables.column import Column, choose, column_of, is_public, made
from tacit.tables.types import day_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.tables.table import Table

AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Sum: "sum",
    exp.Count: "count",
    exp.Avg: "mean",
    exp.Min: "min",
    exp.Max: "max",
}

_PAIRS: dict[type[exp.Expr], Callable[[Any, Any], Any]] = {
    exp.Add: lambda a, b: a + b,
    exp.Sub: lambda a, b: a - b,
    exp.Mul: lambda a, b: a * b,
    exp.Div: lambda a, b: a / b,
    exp.EQ: lambda a, b: a == b,
    exp.NEQ: lambda a, b: a != b,
    exp.LT: lambda a, b: a < b,
    exp.LTE: lambda a, b: a <= b,
    exp.GT: lambda a, b: a > b,
    exp.GTE: lambda a, b: a >= b,
    exp.And: lambda a, b: a & b,
    exp.Or: lambda a, b: a | b,
}

_INSTEAD: dict[type[exp.Expr], str] = {
    exp.Window: "use Table.window, or a subquery with GROUP BY",
    exp.RegexpLike: "use LIKE on a category, or declare the column with tables.like(...)",
    exp.Lower: "declare the category in lower case",
    exp.Upper: "declare the category in upper case",
    exp.Concat: "put texts together after the run",
    exp.Pow: "write products",
    exp.CurrentDate: "write the date, as DATE '2025-12-31'",
    exp.Star: "name the columns",
}


_ARGUMENTS: dict[type[exp.Expr], set[str]] = {
    exp.Like: {"negate"},
    exp.Is: {"negate"},
    exp.Between: {"low", "high"},
    exp.In: {"query"},
    exp.Case: {"ifs", "default"},
    exp.If: {"true", "false"},
    exp.Cast: {"to"},
    exp.TryCast: {"to"},
    exp.Column: {"table"},
    exp.Alias: {"alias"},
    exp.Literal: {"is_string"},
    exp.Substring: {"start", "length"},
    exp.Count: {"big_int"},
    exp.Div: {"typed", "safe"},
    exp.Select: {"with_", "distinct", "from_", "joins", "where", "group", "having", "order", "limit"},
    exp.Union: {"with_", "distinct", "by_name", "order", "limit"},
    exp.Join: {"on", "side", "kind"},
    exp.Ordered: {"desc", "nulls_first"},
    exp.Table: {"alias"},
    exp.Subquery: {"alias", "with_"},
}
"""What parts of constructs are known, besides what they are about."""


def checked(node: exp.Expr) -> None:
    """Refuses a construct with a part that isn't known: leaving it out would change what is meant."""
    known = _ARGUMENTS.get(type(node), set()) | {"this", "expression", "expressions"}
    for part, value in node.args.items():
        if value and part not in known:
            raise refused(
                node, f"has a part that is not supported, {part.upper().strip('_')}", _PARTS.get(part)
            )


_PARTS = {
    "windows": "use Table.window",
    "qualify": "use Table.window, and a subquery",
    "laterals": "write a join",
    "pivots": "write an aggregate with CASE for each column",
    "offset": "take more rows with LIMIT, and leave some out after the run",
    "sample": "let owners take samples before they share",
    "using": "write ON a.x = b.x",
}


def refused(node: exp.Expr, why: str = "is not supported", hint: str | None = None) -> ProgramTypeError:
    """An error that names a construct."""
    kind = next((instead for cls, instead in _INSTEAD.items() if isinstance(node, cls)), None)
    text = node.sql(dialect="duckdb")
    shown = text if len(text) < 80 else f"{text[:77]}..."
    hint = hint or kind or "docs/tables.md lists what works; compute it with methods of tables"
    return fault(ProgramTypeError, f"SQL: {type(node).__name__} in `{shown}` {why}", hint)


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


def sources_of(node: exp.Expr) -> set[str]:
    """The tables, by alias, that an expression is about."""
    return {column.table for column in node.find_all(exp.Column)}


@dataclass
class Expressions:
    """What an expression is, on the columns of a table that are called `alias.column`.

    Attributes:
        table: The table.
        known: Columns by the text of the expression that they are the value of.
    """

    table: Table
    known: dict[str, str] = field(default_factory=dict)

    def column(self, node: exp.Expr) -> Column:
        """The column that an expression is.

        Raises:
            ProgramTypeError: It isn't supported, or its operands don't go together.
        """
        text = node.sql()
        if text in self.known:
            return self.table[self.known[text]]
        checked(node)
        if isinstance(node, (exp.Paren, exp.Alias)):
            return self.column(node.this)
        if isinstance(node, exp.Column):
            return self._named(node)
        make = _PAIRS.get(type(node))
        if make is not None:
            made_of: Column = make(*self._operands(node))
            return made_of
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        if handler is None:
            raise refused(node)
        result: Column = handler(node)
        return result

    def _operands(self, node: exp.Expr) -> tuple[Column, Column]:
        left, right = node.args["this"], node.args["expression"]
        return self.column(left), self.column(right)

    def _named(self, node: exp.Column) -> Column:
        name = f"{node.table}.{node.name}" if node.table else node.name
        if name not in self.table.columns:
            raise refused(node, "is no column of the tables given")
        return self.table[name]

    def _literal(self, node: exp.Literal) -> Column:
        return column_of(node.this if node.is_string else Decimal(node.this))

    def _boolean(self, node: exp.Boolean) -> Column:
        return made("boolean", bool(node.this))

    def _neg(self, node: exp.Neg) -> Column:
        return 0 - self.column(node.this)

    def _not(self, node: exp.Not) -> Column:
        return ~self.column(node.this)

    def _between(self, node: exp.Between) -> Column:
        value = self.column(node.this)
        return value.between(self.column(node.args["low"]), self.column(node.args["high"]))

    def _in(self, node: exp.In) -> Column:
        if node.args.get("query"):
            raise refused(
                node,
                "is not a condition of its own",
                "write it as one of the conditions that AND joins in WHERE",
            )
        value = self.column(node.this)
        values = [self.column(one) for one in node.expressions]
        if value.type.kind == "category" and all(map(_is_word, values)):
            return value.is_in(one.type.words[0] for one in values)
        return value.is_in(values)

    def _like(self, node: exp.Like) -> Column:
        found = self._matched(node)
        return ~found if node.args.get("negate") else found

    def _matched(self, node: exp.Like) -> Column:
        pattern = node.expression
        if not isinstance(pattern, exp.Literal):
            raise refused(node, "has no pattern that everybody knows")
        if isinstance(node.this, exp.Column):
            for name, column in self.table.columns.items():
                source = column.type.source
                same = (source, column.type.pattern) == (node.this.name, pattern.this)
                if source and same and name.startswith(f"{node.this.table}."):
                    return column
        value = self.column(node.this)
        if value.type.kind != "category":
            raise refused(
                node,
                f"is about {value.type}, of which only the owner knows the words",
                f'declare it with tables.like("{node.this.name}", {pattern.this!r}), or as a category',
            )
        return value.like(pattern.this)

    def _is(self, node: exp.Is) -> Column:
        value = self.column(node.this)
        if node.args.get("negate"):
            raise refused(node, hint="write NOT x IS y")
        if isinstance(node.expression, exp.Null):
            return value.is_null()
        if isinstance(node.expression, exp.Boolean):
            truth: Column = value.fill_null(not node.expression.this) == bool(node.expression.this)
            return truth
        raise refused(node)

    def _case(self, node: exp.Case) -> Column:
        if node.this is not None:
            raise refused(node, hint="write CASE WHEN x = 1 THEN ... for each value")
        default = node.args.get("default")
        result = None if default is None or isinstance(default, exp.Null) else self.column(default)
        for branch in reversed(node.args["ifs"]):
            then = branch.args["true"]
            value = None if isinstance(then, exp.Null) else self.column(then)
            result = choose(self.column(branch.this), value, result)
        assert result is not None
        return result

    def _if(self, node: exp.If) -> Column:
        other = node.args.get("false")
        return choose(
            self.column(node.this),
            self.column(node.args["true"]),
            None if other is None else self.column(other),
        )

    def _coalesce(self, node: exp.Coalesce) -> Column:
        result = self.column(node.this)
        for other in node.expressions:
            result = result.fill_null(self.column(other))
        return result

    def _cast(self, node: exp.Cast) -> Column:
        value = self.column(node.this)
        to, kind = node.to, value.type.kind
        if to.is_type("date") and kind in ("category", "date"):
            return made("date", day_of(value.type.words[0])) if _is_word(value) else value
        if to.is_type(*exp.DataType.NUMERIC_TYPES) and kind in ("integer", "decimal", "number"):
            return value
        if to.is_type(*exp.DataType.TEXT_TYPES) and kind in ("category", "text"):
            return value
        raise refused(node)

    _trycast = _cast

    def _extract(self, node: exp.Extract) -> Column:
        part, value = str(node.this).lower(), self.column(node.expression)
        if part not in ("year", "month"):
            raise refused(node, hint="dates have a year and a month here")
        return value.year() if part == "year" else value.month()

    def _year(self, node: exp.Year) -> Column:
        return self.column(node.this).year()

    def _month(self, node: exp.Month) -> Column:
        return self.column(node.this).month()

    def _substring(self, node: exp.Substring) -> Column:
        start, length = node.args.get("start"), node.args.get("length")
        if not isinstance(start, exp.Literal) or (length is not None and not isinstance(length, exp.Literal)):
            raise refused(node, "has no place that everybody knows")
        first = int(start.this) - 1
        last = None if length is None else first + int(length.this)
        return self.column(node.this).map_words(lambda word: word[first:last])

    def _arrayany(self, node: exp.Expr) -> Column:
        """Whether one of a group's values compares so: it does if the least or the largest does."""
        body = node.expression
        values, test = node.this.sql(), body.this
        bound = body.expressions[0].name
        ends = [self.table[self.known[f"{end} of {values}"]] for end in ("min", "max")]
        if not isinstance(test, exp.NEQ):
            raise refused(node, "compares other than by <> with rows of a subquery")
        sides = [test.left, test.right]
        other = next(
            (side for side in sides if side.name != bound or (isinstance(side, exp.Column) and side.table)),
            None,
        )
        if other is None:
            raise refused(node)
        value = self.column(other)
        # Nulls stand for no rows at all.
        result: Column = ((value != ends[0]) | (value != ends[1])).fill_null(False)
        return result


def _is_word(column: Column) -> bool:
    return column.type.kind == "category" and is_public(column)
