"""Windows of SQL, `sum(x) OVER (PARTITION BY k ORDER BY t ROWS 2 PRECEDING)`, as windows of tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from tacit.tables.constructs import checked, name_of, ordered_by, refused
from tacit.tables.expressions import AGGREGATES, Expressions
from tacit.tables.windows import BESIDE, HOWS, Frame, windowed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

_NUMBERINGS: dict[type[exp.Expr], str] = {
    exp.RowNumber: "count",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
    exp.Ntile: "ntile",
}

_BESIDE: dict[type[exp.Expr], str] = {
    exp.Lag: "lag",
    exp.Lead: "lead",
    exp.FirstValue: "first",
    exp.LastValue: "last",
}

_FRAMES = "ROWS BETWEEN n PRECEDING AND m FOLLOWING, UNBOUNDED and CURRENT ROW are known"


_LAST = "say ORDER BY in it, and ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


def with_windows(
    expressions: Expressions,
    nodes: Iterable[exp.Window],
    clause: Callable[[exp.Expr], AbstractContextManager[None]],
) -> Expressions:
    """Expressions on a table with one more column for each window, its value.

    Windows that take the same order of rows come one after another: they share its sort.

    Args:
        expressions: Those on the table as it is.
        nodes: The windows.
        clause: While what is computed is said to come from a part of the query.

    Raises:
        ProgramTypeError: One is none that `Table.window` has.
    """
    # The finest orders first, and those in which equal rows may come in any order last.
    left = sorted(
        {one.sql(): one for one in nodes}.values(), key=lambda one: (-len(_line(one)[1]), not _counts(one))
    )
    while left:
        before, known = set(expressions.table.columns), dict(expressions.known)
        lead = _line(left[0])
        turn = [one for one in left if _fits(_line(one), lead)]
        left = [one for one in left if one not in turn]
        for one in turn:
            with clause(one):
                expressions = _with_window(expressions, one)
        known |= {one.sql(): one.sql() for one in turn}
        table = expressions.table
        kept = [name for name in table.columns if name in before or name in known]
        expressions = replace(expressions, table=table.select(*kept), known=known)
    return expressions


def _counts(node: exp.Window) -> bool:
    """Whether a window looks at so many rows, which equal ones among them have to be in some order for."""
    return isinstance(node.this, (exp.RowNumber, exp.Ntile, *_BESIDE)) or node.args.get("spec") is not None


def _line(node: exp.Window) -> tuple[frozenset[str], tuple[str, ...]]:
    """What rows are brought together by, and what they follow one another by then."""
    partition = frozenset(one.sql() for one in node.args.get("partition_by") or ())
    return partition, tuple(one.sql() for one in ordered_by(node))


def _fits(
    line: tuple[frozenset[str], tuple[str, ...]], other: tuple[frozenset[str], tuple[str, ...]]
) -> bool:
    """Whether rows that are in one line are in another, too."""
    return line[0] == other[0] and line[1] == other[1][: len(line[1])]


def _with_window(expressions: Expressions, node: exp.Window) -> Expressions:
    """Expressions on a table with the value of a window, and what it is made of."""
    text = node.sql()
    checked(node)
    table, known = expressions.table, dict(expressions.known)

    def named(inner: exp.Expr) -> str:
        nonlocal table
        if isinstance(inner, exp.Column) and name_of(inner) in table.columns:
            return name_of(inner)
        if inner.sql() not in known:
            column = table.filled(Expressions(table, known).column(inner))
            known[inner.sql()] = name = f"of windows, {len(table.columns)}"
            table = table.assign(**{name: column})
        return known[inner.sql()]

    partition = [named(one) for one in node.args.get("partition_by") or ()]
    ordered = ordered_by(node)
    order, down = [], []
    for one in ordered:
        if one.args.get("nulls_first"):
            order.append(named(exp.Not(this=exp.Is(this=one.this.copy(), expression=exp.Null()))))
            down.append(False)
        order.append(named(one.this))
        down.append(bool(one.args.get("desc")))
    how, source = _what(node)
    column = None if source is None else named(source)
    rows: Any = None
    peers = False
    if how == "first":
        if not node.args.get("order") or _frame(node)[0] not in ("all", (None, 0)):
            raise refused(node, "is of the first row in an order, of all", "say ORDER BY in it, and no ROWS")
    elif how == "last":
        frame, peers = _frame(node)
        if not node.args.get("order") or (frame != "all" and not peers):
            raise refused(node, "is of the last row in an order, of all or those that are equal", _LAST)
    elif how == "ntile":
        rows = _parts(node)
    elif how in BESIDE:
        rows = _away(node)
    elif type(node.this) not in _NUMBERINGS:
        rows, peers = _frame(node)
        # Where no two rows are equal, each is alone among those that are.
        peers = peers and not table.facts.is_unique([*partition, *order])

    table = windowed(
        table, text, column, how, partition, order, down, rows, any_order=rows == "all", peers=peers
    )
    return replace(expressions, table=table, known={**known, text: text})


def _what(node: exp.Window) -> tuple[str, exp.Expr | None]:
    """What a window computes, and of what."""
    call = node.this
    if type(call) in _NUMBERINGS:
        if type(call) is not exp.RowNumber and (not node.args.get("order") or call.expressions):
            raise refused(node, "has no order", "say ORDER BY in it")
        return _NUMBERINGS[type(call)], None
    if isinstance(call, (exp.IgnoreNulls, exp.RespectNulls)):
        raise refused(node, "says what is done with nulls", "leave it out: aggregates skip them")
    how = {**AGGREGATES, **_BESIDE}.get(type(call))
    if how is None or how not in (*HOWS, *BESIDE):
        known = "SUM, COUNT, AVG, MIN, MAX, LAG, LEAD, ROW_NUMBER, ranks, NTILE, FIRST_VALUE, LAST_VALUE have"
        raise refused(call if isinstance(call, exp.Func) else node, "has no window here", known)
    checked(call)
    if isinstance(call.this, exp.Distinct) or call.expressions:
        raise refused(node, "is of different values, or of several arguments")
    if how == "count" and isinstance(call.this, (exp.Star, exp.Literal)):
        return how, None
    return how, call.this


def _parts(node: exp.Window) -> int:
    """Of how many parts NTILE is."""
    parts = node.this.this
    if not isinstance(parts, exp.Literal) or not parts.this.isdecimal() or int(parts.this) < 1:
        raise refused(node, "is of no number of parts that everybody knows", "write NTILE(4)")
    return int(parts.this)


def _away(node: exp.Window) -> int:
    """How many rows before or after its own LAG or LEAD means."""
    offset = node.this.args.get("offset")
    if not node.args.get("order") or node.args.get("spec"):
        raise refused(node, "is of a row in an order, without a frame", "say ORDER BY in it, and no ROWS")
    if offset is None:
        return 1
    known = isinstance(offset, exp.Literal) and not offset.is_string and offset.this.isdecimal()
    if not known or int(offset.this) < 1:
        raise refused(
            node, "is of no number of rows from 1 on that everybody knows", "LAG and LEAD look in either way"
        )
    return int(offset.this)


def _frame(node: exp.Window) -> tuple[str | Frame, bool]:
    """Which rows a window looks at, and whether those that are equal to its own are among them.

    Raises:
        ProgramTypeError: They aren't said by numbers of rows.
    """
    before: Frame = None, 0
    spec = node.args.get("spec")
    if spec is None:
        return (before, True) if node.args.get("order") else ("all", False)
    checked(spec)
    frame = _end(node, "start", "PRECEDING"), _end(node, "end", "FOLLOWING")
    if frame == (None, None):
        return "all", False
    if spec.args["kind"].upper() == "RANGE" and frame == before:
        return (before, True) if node.args.get("order") else ("all", False)
    first, last = frame
    if spec.args["kind"].upper() != "ROWS" or (first is not None and last is not None and first > last):
        raise refused(node, "looks at rows that are not known here", _FRAMES)
    return frame, False


def _end(node: exp.Window, name: str, side: str) -> int | None:
    """An end of a window's frame, from its own row; `None` for all rows on this side."""
    spec = node.args["spec"]
    end, given = spec.args.get(name) or "CURRENT ROW", str(spec.args.get(f"{name}_side") or "").upper()
    if end == "CURRENT ROW":
        return 0
    if end == "UNBOUNDED" and given == side:
        return None
    if not isinstance(end, exp.Literal) or end.is_string or not end.this.isdecimal():
        raise refused(node, "looks at rows that are not known here", _FRAMES)
    return int(end.this) * (-1 if given == "PRECEDING" else 1)
