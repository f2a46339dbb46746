"""Expressions of SQL, as sqlglot reads them, on columns of secret tables."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from tacit.tables.alignment import as_number, choose
from tacit.tables.column import NUMERIC, Column, column_of, is_public, made
from tacit.tables.constructs import checked, name_of, refused
from tacit.tables.correlation import correlation, deviation
from tacit.tables.functions import call, cut_quotient, cut_remainder
from tacit.tables.letters import as_text, is_of_words, of_words
from tacit.tables.types import day_of
from tacit.tables.written import CORRELATION, DEVIATION

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.tables.table import Table
    from tacit.tables.types import ColumnType

AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Sum: "sum",
    exp.Count: "count",
    exp.Avg: "mean",
    exp.Min: "min",
    exp.Max: "max",
    exp.Median: "median",
    exp.PercentileCont: "quantile",
    exp.PercentileDisc: "quantile_disc",
    exp.Quantile: "quantile_disc",
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
    exp.Mod: cut_remainder,
    exp.IntDiv: cut_quotient,
    exp.NullSafeEQ: lambda a, b: _same(a, b),
    exp.NullSafeNEQ: lambda a, b: ~_same(a, b),
}

# Python's decimal numbers cut quotients off, as SQL does.
_PUBLIC: dict[type[exp.Expr], Callable[[Decimal, Decimal], Decimal]] = {
    exp.Mod: lambda a, b: a % b,
    exp.IntDiv: lambda a, b: a // b,
}

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv)
"""Operators that SQL doesn't count bools in as 0 and 1."""

_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Abs: "absolute",
    exp.Sign: "sign",
    exp.Sqrt: "sqrt",
    exp.Cbrt: "cbrt",
    exp.Exp: "exp",
    exp.Ln: "log",
    exp.Tanh: "tanh",
    exp.Sinh: "sinh",
    exp.Cosh: "cosh",
    exp.Pow: "power",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
    exp.Trunc: "trunc",
    exp.Greatest: "fmax",
    exp.Least: "fmin",
}
"""Functions of columns, by the name under which they are known."""


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
            return self.table.columns[self.known[text]]
        checked(node)
        if isinstance(node, (exp.Paren, exp.Alias)):
            return self.column(node.this)
        if isinstance(node, exp.Column):
            return self._named(node)
        make = _PAIRS.get(type(node))
        if make is not None:
            months = _months_of(node)
            if months is not None:
                return self.column(node.args["this"]).add_months(months)
            operands = self._operands(node)
            if isinstance(node, _ARITHMETIC):
                _check_numbers(node, *operands)
            if isinstance(node, exp.IntDiv) and not all(
                node.args[part].is_type(*exp.DataType.INTEGER_TYPES) for part in ("this", "expression")
            ):
                # DuckDB divides others without cutting anything off.
                raise refused(node, "is of integers", "write TRUNC(a / b), or CAST(a AS BIGINT) // b")
            if type(node) in _PUBLIC and all(map(is_public, operands)) and operands[1].value:
                return column_of(_PUBLIC[type(node)](*map(_exactly, operands)))
            made_of: Column = make(*operands)
            return made_of
        if type(node) in _PARTS:
            return _DATES[_PARTS[type(node)]](self.column(node.this))
        if is_of_words(node):
            found = of_words(node, self.column)
            return ~found if node.args.get("negate") else found
        if node.meta.get(DEVIATION):
            return deviation(self.column(node.this.this), self.column(node.this.expression))
        if type(node) in _FUNCTIONS:
            return self._applied(_FUNCTIONS[type(node)], node)
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        if type(node) in AGGREGATES:
            hint = "write it in HAVING, or in a subquery"
            raise refused(node, "is of several rows, and stands where each has a value", hint)
        if handler is None:
            raise refused(node)
        result: Column = handler(node)
        return result

    def _operands(self, node: exp.Expr) -> tuple[Column, Column]:
        left, right = node.args["this"], node.args["expression"]
        return self.column(left), self.column(right)

    def _applied(self, name: str, node: exp.Expr) -> Column:
        """A function of columns, or of numbers that everybody knows."""
        parts = [node.args["this"], node.args.get("expression"), *node.expressions]
        # The largest and the least skip nulls.
        operands = [self.column(part) for part in parts if not isinstance(part, (exp.Null, type(None)))]
        if name not in ("fmax", "fmin"):
            _check_numbers(node, *operands)
        return _called(node, name, *operands)

    def _round(self, node: exp.Round) -> Column:
        value, places = self.column(node.this), node.args.get("decimals")
        known = column_of(0) if places is None else self.column(places)
        _check_numbers(node, value)
        if not is_public(known) or known.type.kind != "integer":
            raise refused(node, "is to places that nobody knows")
        if is_public(value):
            return column_of(_exactly(value).quantize(Decimal(1).scaleb(-known.value), ROUND_HALF_UP))
        return value.round(known.value)

    def _log(self, node: exp.Log) -> Column:
        base, value = node.this, node.args.get("expression")
        if value is None:
            base, value = exp.Literal.number(10), base
        known, column = self.column(base), self.column(value)
        _check_numbers(node, column)
        if not is_public(known):
            raise refused(node, "has no base that everybody knows", "write LN(x) / LN(base)")
        name = {2: "log2", 10: "log10"}.get(as_number(known))
        if name is not None:
            return _called(node, name, column)
        quotient: Column = _called(node, "log", column) / _called(node, "log", known)
        return quotient

    def _pi(self, _: exp.Pi) -> Column:
        return column_of(math.pi)

    def _nullif(self, node: exp.Nullif) -> Column:
        value, other = self._operands(node)
        return choose(value == other, None, value)

    def _datediff(self, node: exp.DateDiff) -> Column:
        unit = str(node.args.get("unit") or "day").lower()
        last, first = (_as_date(one) for one in self._operands(node))
        days: Column = last - first
        if unit == "day":
            return days
        years: Column = last.year() - first.year()
        if unit == "year":
            return years
        if unit in ("quarter", "month"):
            parts = {"quarter": 4, "month": 12}[unit]
            whole: Column = parts * years
            rest: Column = getattr(last, unit)() - getattr(first, unit)()
            sum_: Column = whole + rest
            return sum_
        raise refused(node, hint="differences in days, months, quarters and years are known")

    def _anonymous(self, node: exp.Anonymous) -> Column:
        if node.this == CORRELATION:
            return correlation(*map(self.column, node.expressions))
        name = str(node.this).lower()
        if name in ("date_part", "datepart") and len(node.expressions) == 2:
            return self._part_of(node, str(node.expressions[0].name), self.column(node.expressions[1]))
        raise refused(node, f"is not supported: there is no function {name.upper()}")

    def _named(self, node: exp.Column) -> Column:
        name = name_of(node)
        if name not in self.table.columns:
            hint = "beside aggregates columns have to be in GROUP BY; of those that are the same take MIN(x)"
            raise refused(node, "isn't there", hint)
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
        result = self._or_null(node.args.get("default"))
        for branch in reversed(node.args["ifs"]):
            result = choose(self.column(branch.this), self._or_null(branch.args["true"]), result)
        assert result is not None
        return result

    def _if(self, node: exp.If) -> Column:
        values = (self._or_null(node.args.get(part)) for part in ("true", "false"))
        return choose(self.column(node.this), *values)

    def _or_null(self, node: exp.Expr | None) -> Column | None:
        """A value that may be written as NULL, or left out."""
        return None if node is None or isinstance(node, exp.Null) else self.column(node)

    def _coalesce(self, node: exp.Coalesce) -> Column:
        first, *rest = [one for one in (node.this, *node.expressions) if not isinstance(one, exp.Null)]
        result = self.column(first)
        for other in rest:
            result = result.fill_null(self.column(other))
        return result

    def _cast(self, node: exp.Cast) -> Column:
        value, to = self.column(node.this), node.to
        if value.type.kind == "boolean" and to.is_type(*exp.DataType.INTEGER_TYPES):
            value = value.astype(int)
        kind = value.type.kind
        if to.is_type("date") and _is_word(value):
            return made("date", day_of(value.type.words[0]))
        if to.is_type(*exp.DataType.TEMPORAL_TYPES) and kind == "date":
            return value
        if to.is_type(*exp.DataType.TEXT_TYPES) and kind != "number":
            return value if kind == "text" else as_text(value)
        if kind not in NUMERIC or not to.is_type(*exp.DataType.NUMERIC_TYPES):
            raise refused(node)
        if not _holds(to, value.type):
            raise refused(
                node,
                f"doesn't keep every value of {value.type}",
                "a cast can't round: write ROUND(x, places)",
            )
        return value

    _trycast = _cast

    def _extract(self, node: exp.Extract) -> Column:
        return self._part_of(node, str(node.this), self.column(node.expression))

    def _part_of(self, node: exp.Expr, part: str, value: Column) -> Column:
        """A part of a date, by its name."""
        make = _DATES.get(part.lower())
        if make is None:
            raise refused(node, hint=f"dates have {', '.join(_DATES)} here")
        return make(value)

    def _timestamptrunc(self, node: exp.Expr) -> Column:
        return self.column(node.this).start_of(node.args["unit"].name.lower())

    _datetrunc = _timestamptrunc

    def _interval(self, node: exp.Interval) -> Column:
        """So many days, beside a date."""
        around, unit = node.parent, str(node.args.get("unit") or "").lower().rstrip("s")
        beside = isinstance(around, (exp.Add, exp.Sub)) and around.this.is_type(*exp.DataType.TEMPORAL_TYPES)
        known = isinstance(node.this, exp.Literal) and node.this.this.isdecimal()
        if not beside or not known or unit not in ("day", "week"):
            raise refused(node)
        return column_of(int(node.this.this) * (7 if unit == "week" else 1))

    def _dateadd(self, node: exp.Expr) -> Column:
        return self.column(exp.Add(this=node.this.copy(), expression=node.expression.copy()))

    def _datesub(self, node: exp.Expr) -> Column:
        return self.column(exp.Sub(this=node.this.copy(), expression=node.expression.copy()))

    def _lastday(self, node: exp.LastDay) -> Column:
        return self.column(node.this).month_end()

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


_DATES: dict[str, Callable[[Column], Column]] = {
    "year": Column.year,
    "quarter": Column.quarter,
    "month": Column.month,
    "day": Column.day,
    "dow": lambda column: (column.weekday() + 1) % 7,
    "isodow": lambda column: column.weekday() + 1,
    "doy": lambda column: column - column.start_of("year") + 1,
}
"""Parts of dates."""

_PARTS: dict[type[exp.Expr], str] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Day: "day",
    exp.DayOfWeek: "dow",
    exp.DayOfWeekIso: "isodow",
    exp.DayOfYear: "doy",
}
"""Functions that give one."""


def _months_of(node: exp.Expr) -> int | None:
    """How many months are added to something, or taken away; `None` where none are."""
    months = node.args["expression"]
    if not isinstance(node, (exp.Add, exp.Sub)) or not isinstance(months, exp.Interval):
        return None
    each = _MONTHS.get(str(months.args.get("unit") or "").lower().rstrip("s"), 0)
    count = months.this.unnest()
    if not each or not isinstance(count, exp.Literal) or not count.this.isdecimal():
        return None
    return each * int(count.this) * (1 if isinstance(node, exp.Add) else -1)


_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def _called(node: exp.Expr, name: str, *operands: Column) -> Column:
    """A function of columns; of public numbers, NumPy's."""
    if not all(map(is_public, operands)):
        return call(name, *operands)
    import numpy as np

    with np.errstate(all="ignore"):
        value = float(getattr(np, name)(*(float(as_number(one)) for one in operands)))
    if not math.isfinite(value):
        raise refused(node, "has no value")
    return column_of(value)


def _exactly(column: Column) -> Decimal:
    """A public number."""
    return Decimal(int(column.value)) / column.type.unit


def _check_numbers(node: exp.Expr, *operands: Column) -> None:
    if any(one.type.kind == "boolean" for one in operands):
        raise refused(node, "takes numbers, and there is a bool", "write CAST(x AS INTEGER)")


def _same(a: Column, b: Column) -> Column:
    """Whether two are equal, or both null."""
    both: Column = (a == b).fill_null(False) | (a.is_null() & b.is_null())
    return both


def _as_date(column: Column) -> Column:
    return made("date", day_of(column.type.words[0])) if _is_word(column) else column


def _holds(to: exp.DataType, kind: ColumnType) -> bool:
    """Whether a type of SQL has every number that a column may hold."""
    if to.is_type("float", "double"):
        return True
    most = max(-kind.low, kind.high)
    if to.is_type("decimal") and kind.kind != "number":
        digits, places = [*(int(one.name) for one in to.expressions), 0][:2] if to.expressions else (18, 3)
        return places >= kind.places and most * 10 ** (places - kind.places) < 10**digits
    bits = next((bits for name, bits in _INTEGERS.items() if to.is_type(name)), 0)
    return kind.kind == "integer" and 2 * most < 2**bits


_INTEGERS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64, "int128": 128}
"""Bits of SQL's integers."""


def _is_word(column: Column) -> bool:
    return column.type.kind == "category" and is_public(column)
