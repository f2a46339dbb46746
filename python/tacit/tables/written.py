"""What SQL has short words for, written out: aggregates of some rows, windows by name, variances, bools."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from tacit.tables.constructs import OF_CONDITION, refused, sources_of

if TYPE_CHECKING:
    from collections.abc import Callable

_BOOLS = exp.LogicalOr, exp.LogicalAnd
_ROOTS = exp.Stddev, exp.StddevSamp, exp.StddevPop
_SHARES = exp.PercentRank, exp.CumeDist
_PAIRS = exp.Corr, exp.CovarPop, exp.CovarSamp, exp.RegrSlope, exp.RegrR2, exp.RegrCount
_SPREADS = *_ROOTS, exp.Variance, exp.VariancePop

_QUANTILES = exp.Median, exp.PercentileCont, exp.PercentileDisc, exp.Quantile
_OF_VALUES = exp.Sum, exp.Count, exp.Avg, exp.Min, exp.Max, *_QUANTILES, *_BOOLS, *_SPREADS, *_PAIRS


DEVIATION = "deviation"
"""What a root is marked by of which the quotient in it needs no room."""

CORRELATION = "correlation of sums"
"""What a function is called that no query can name."""

_Make: TypeAlias = "Callable[[type[exp.AggFunc], exp.Expr], exp.Expr]"
"""An aggregate of an expression, in a window if what is written out is in one."""


def with_names(query: exp.Expr) -> exp.Expr:
    """A query whose result calls what has no name as it is written: `sum(x)`."""
    shown = query
    while isinstance(shown, (exp.SetOperation, exp.Subquery)):
        shown = shown.this
    if isinstance(shown, exp.Select):
        texts = [one.output_name or one.sql(dialect="duckdb").lower() for one in shown.expressions]
        for one, text in zip(list(shown.expressions), texts, strict=True):
            # Names of what is revealed have these marks behind them.
            if not one.output_name and texts.count(text) == 1 and not set(text) & set("#?"):
                one.replace(exp.alias_(one.copy(), text, quoted=True))
    return query


def with_bare_exists(query: exp.Expr) -> exp.Expr:
    """A query in which EXISTS selects nothing, which would be taken for the key of `x IN (SELECT ...)`."""
    for one in query.find_all(exp.Exists):
        if isinstance(one.this, exp.Select) and one.find(exp.AggFunc) is None:
            one.this.set("expressions", [exp.Literal.number(1)])
    return query


def with_rows_in_brackets(expression: exp.Expr) -> exp.Expr:
    """A query whose SELECT shows subqueries of one row in brackets: the optimiser joins what isn't alone."""
    for node in expression.find_all(exp.Select):
        for inner in [one.unalias() for one in node.expressions]:
            if isinstance(inner, exp.Subquery) and _is_row(inner.this):
                inner.replace(exp.Paren(this=inner.copy()))
    return expression


def with_joins_turned(expression: exp.Expr) -> exp.Expr:
    """A query in which RIGHT JOINs are LEFT JOINs, with the tables the other way round.

    Raises:
        ProgramTypeError: More than one table is to the left of one, or of a FULL JOIN.
    """
    for node in expression.find_all(exp.Select):
        for place, join in enumerate(node.args.get("joins") or ()):
            side = (join.side or "").upper()
            if side not in ("RIGHT", "FULL"):
                continue
            if place:
                here, how = join.this.alias_or_name, "LEFT" if side == "RIGHT" else "FULL"
                hint = f"write FROM {here} {how} JOIN (SELECT ... FROM a JOIN b ON ...) AS q ON ..."
                raise refused(join, "is after another join", hint)
            if side == "RIGHT":
                first = node.args["from_"]
                left, right = first.this, join.this
                first.set("this", right.copy())
                join.set("this", left.copy())
                join.set("side", "LEFT")
    return expression


def with_counted_exists(expression: exp.Expr) -> exp.Expr:
    """A query in which EXISTS of no table outside is a count above 0."""
    for node in list(expression.find_all(exp.Exists)):
        inner = node.this
        own = {one.alias_or_name for one in inner.find_all(exp.Table, exp.Subquery)}
        if sources_of(inner) <= own:
            count = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n")).from_(inner.subquery("asked"))
            node.replace(exp.GT(this=count.subquery(), expression=exp.Literal.number(0)))
    return expression


def with_rows_of_conditions(expression: exp.Expr) -> exp.Expr:
    """A query whose subqueries of one row, which the optimiser puts beside all others, are null without it.

    Else a condition on one would become its HAVING, and hold where it has left the row out.
    """
    for join in expression.find_all(exp.Join):
        if join.kind == "CROSS" and join.alias_or_name.startswith(OF_CONDITION):
            join.set("kind", None)
            join.set("side", "LEFT")
            join.set("on", exp.true())
    return expression


def _is_row(query: exp.Expr) -> bool:
    """Whether this is a query of one value in one row, which is about no table outside."""
    if not isinstance(query, exp.Select) or query.args.get("group") is not None or len(query.selects) != 1:
        return False
    own = {one.alias_or_name for one in query.find_all(exp.Table, exp.Subquery)}
    return query.selects[0].find(exp.AggFunc) is not None and sources_of(query) <= own


def of_order(node: exp.Expr) -> exp.Expr:
    """`PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)` as `QUANTILE_CONT(x, 0.9)`."""
    call = node.this
    if not isinstance(node, exp.WithinGroup) or not isinstance(
        call, (exp.PercentileCont, exp.PercentileDisc)
    ):
        return node
    place, ordered = call.this, node.expression.expressions
    if len(ordered) != 1 or not isinstance(place, exp.Literal):
        raise refused(node, hint="write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)")
    if ordered[0].args.get("desc"):
        if isinstance(call, exp.PercentileDisc):
            raise refused(node, "counts from the largest value on", "leave DESC out")
        place = exp.Literal.number(str(1 - Decimal(place.this)))
    found: exp.Expr = call
    found.set("this", ordered[0].this.copy())
    found.set("expression", place.copy())
    return found


def of_some_rows(node: exp.Expr) -> exp.Expr:
    """An aggregate of the rows for which a condition holds, as one of values that are null elsewhere."""
    if isinstance(node, exp.IgnoreNulls) and isinstance(node.this, exp.AnyValue):
        return exp.Min(this=node.this.this)
    if isinstance(node, exp.CountIf):
        return exp.Count(this=exp.Case().when(node.this, exp.Literal.number(1)))
    if not isinstance(node, exp.Filter) or not isinstance(node.this, _OF_VALUES):
        return node
    call, condition = node.this.copy(), node.expression.this
    whole = call.this
    inner = whole.expressions[0] if isinstance(whole, exp.Distinct) and len(whole.expressions) == 1 else whole
    value = exp.Literal.number(1) if isinstance(inner, exp.Star) else inner.copy()
    inner.replace(exp.Case().when(condition.copy(), value))
    return call


def written_out(node: exp.Expr) -> exp.Expr:
    """Windows that have a name in each place; variances, correlations and bools by other aggregates.

    And CASE of a value by comparisons with it.
    """
    if isinstance(node, exp.Case) and node.this is not None:
        for branch in node.args["ifs"]:
            equal = exp.EQ(this=exp.paren(node.this.copy()), expression=exp.paren(branch.this.copy()))
            branch.set("this", equal)
        node.set("this", None)
    if isinstance(node, exp.ArrayAgg):
        # The optimiser makes others, for which their ends stand.
        raise refused(node)
    if isinstance(node, exp.Query) and not node.is_star:
        _with_all(node)
    if isinstance(node, exp.Select) and node.args.get("windows"):
        return _with_whole_windows(node)
    call = node.this if isinstance(node, exp.Window) else node
    if call is not node and isinstance(call, _SHARES) and not call.expressions:
        return _share(node, call)
    if not isinstance(call, (*_BOOLS, *_SPREADS, *_PAIRS)) or isinstance(call.this, exp.Distinct):
        return node

    def of(aggregate: type[exp.AggFunc], inner: exp.Expr) -> exp.Expr:
        if call is node:
            return aggregate(this=inner.copy())
        window = node.copy()
        window.set("this", aggregate(this=inner.copy()))
        return window

    if isinstance(call, _PAIRS):
        return exp.paren(_of_pairs(call, of))
    x = exp.paren(call.this.copy())
    if isinstance(call, _BOOLS):
        number = exp.Case().when(x, exp.Literal.number(1)).when(exp.Not(this=x.copy()), exp.Literal.number(0))
        most = of(exp.Max if isinstance(call, exp.LogicalOr) else exp.Min, number)
        return exp.paren(exp.EQ(this=most, expression=exp.Literal.number(1)))
    pairs = _pairs(of(exp.Count, x), isinstance(call, (exp.StddevPop, exp.VariancePop)))
    variance = exp.Div(this=_squares(of, x), expression=pairs)
    if not isinstance(call, _ROOTS):
        return exp.paren(variance)
    root = exp.Sqrt(this=variance)
    root.meta[DEVIATION] = True
    return root


def _of_pairs(call: exp.Expr, of: _Make) -> exp.Expr:
    """What is said of pairs of numbers, of those where both are there."""
    x, y = (
        exp.paren(exp.Case().when(exp.Not(this=exp.Is(this=other.copy(), expression=exp.Null())), one.copy()))
        for one, other in ((call.this, call.expression), (call.expression, call.this))
    )
    if isinstance(call, exp.RegrCount):
        return of(exp.Count, exp.Mul(this=x, expression=y))
    both = _moment(of, x, y)
    if isinstance(call, (exp.CovarPop, exp.CovarSamp)):
        pairs = _pairs(of(exp.Count, exp.Mul(this=x, expression=y)), isinstance(call, exp.CovarPop))
        return exp.Div(this=exp.paren(both), expression=pairs)
    if isinstance(call, (exp.Corr, exp.RegrR2)):
        parts = [both, _squares(of, x), _squares(of, y)]
        ratio = exp.Anonymous(this=CORRELATION, expressions=parts)
        return ratio if isinstance(call, exp.Corr) else exp.Mul(this=ratio, expression=ratio.copy())
    # Lines are of the first by the second.
    return exp.Div(this=exp.paren(both), expression=_squares(of, y))


def _moment(of: _Make, x: exp.Expr, y: exp.Expr) -> exp.Expr:
    """How numbers go together, times the square of their count. Of integers and decimals it is exact."""
    product = exp.Mul(this=x.copy(), expression=y.copy())
    total = exp.Mul(this=of(exp.Count, product), expression=of(exp.Sum, product))
    return exp.Sub(this=total, expression=exp.Mul(this=of(exp.Sum, x), expression=of(exp.Sum, y)))


def _squares(of: _Make, x: exp.Expr) -> exp.Expr:
    """The same of numbers and themselves: rounded squares may be less than what they are compared with."""
    return exp.Greatest(this=_moment(of, x, x), expressions=[exp.Literal.number(0)])


def _pairs(count: exp.Expr, whole: bool) -> exp.Expr:
    """What that is to be divided by: of a sample, or of the whole population."""
    less = exp.Literal.number(0 if whole else 1)
    others = exp.paren(exp.Sub(this=count.copy(), expression=less))
    return exp.paren(exp.Mul(this=count, expression=others))


def _share(node: exp.Expr, call: exp.Expr) -> exp.Expr:
    """How many rows are before one in its order, or not after it, as a part of all."""
    one = exp.Literal.number(1)
    counted, whole = node.copy(), node.copy()
    for window, what in ((counted, exp.Count(this=exp.Star())), (whole, exp.Count(this=exp.Star()))):
        window.set("this", what)
        # Ranks are of all rows, whatever a window of this name has for others.
        window.set("spec", None)
    whole.set("order", None)
    if isinstance(call, exp.CumeDist):
        return exp.paren(exp.Div(this=counted, expression=whole))
    counted.set("this", exp.Rank())
    others = exp.Greatest(this=exp.Sub(this=whole, expression=one), expressions=[one.copy()])
    return exp.paren(exp.Div(this=exp.paren(exp.Sub(this=counted, expression=one.copy())), expression=others))


def _with_all(query: exp.Query) -> None:
    """GROUP BY ALL by what isn't an aggregate, and ORDER BY ALL by all that is shown."""
    group, order = query.args.get("group"), query.args.get("order")
    if group is not None and group.args.get("all"):
        # What is of no column is the same in all rows, and a number would be a place.
        shown = [one.unalias() for one in query.selects if one.find(exp.Column)]
        keys = [one.copy() for one in shown if one.find(exp.AggFunc) is None]
        query.set("group", exp.Group(expressions=keys) if keys else None)
    if order is None:
        return
    whole = order.expressions[0]
    if isinstance(whole.this, exp.Var) and whole.name.upper() == "ALL":
        places = [exp.Literal.number(place) for place in range(1, len(query.selects) + 1)]
        order.set("expressions", [exp.Ordered(**{**whole.args, "this": one}) for one in places])


def _with_whole_windows(query: exp.Select) -> exp.Select:
    """A query whose windows say themselves what its WINDOW clause says of their names."""
    known: dict[str, exp.Expr] = {}
    for one in query.args["windows"]:
        known[one.name.lower()] = _whole(one, known)
    for window in list(query.find_all(exp.Window)):
        # Those of a subquery have names of its own.
        if window.parent_select is query and window.arg_key != "windows":
            _whole(window, known)
    query.set("windows", None)
    return query


def _whole(window: exp.Expr, known: dict[str, exp.Expr]) -> exp.Expr:
    """A window with what the one that it names says, besides what it says itself.

    Raises:
        ProgramTypeError: Both say the same part.
    """
    meant = known.get(window.alias.lower())
    if meant is not None:
        for part in ("partition_by", "order", "spec"):
            given = meant.args.get(part)
            if given and window.args.get(part):
                raise refused(
                    window, "says again what the window says that it names", "write it out in OVER (...)"
                )
            if given:
                window.set(part, [one.copy() for one in given] if isinstance(given, list) else given.copy())
        window.set("alias", None)
    return window
