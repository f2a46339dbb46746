"""Queries on secret tables: what sqlglot's optimiser leaves of SELECT, join by join."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from tacit._location import Location, fault, said
from tacit.errors import ProgramError
from tacit.tables.column import Column, column_of, made
from tacit.tables.conditions import (
    equality,
    how_of,
    in_all_branches,
    is_one_row,
    is_ready,
    keeps_rows,
    less_than_left,
    needed,
    not_null,
)
from tacit.tables.constructs import (
    OF_CONDITION,
    conjuncts,
    in_subquery,
    name_of,
    ordered_by,
    refused,
    sources_of,
)
from tacit.tables.expressions import Expressions
from tacit.tables.grouping import aggregated
from tacit.tables.joins import spread
from tacit.tables.late import fetched, late_columns
from tacit.tables.over import with_windows
from tacit.tables.sorting import refuse_texts

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Collection, Mapping, Sequence

    from tacit.tables.table import Table


_KEY = "make a key of it that is null elsewhere: ON b.k = CASE WHEN a.x > 3 THEN a.k END"


@dataclass
class Query:
    """A query in the making.

    Attributes:
        tables: Tables by name.
        matches: How many rows of a table, by alias, match one of those before it at most.
        clauses: Where the query is, and each of its clauses that was computed.
    """

    tables: Mapping[str, Table]
    matches: Mapping[str, int]
    clauses: list[Location]

    def table(self, node: exp.Expr) -> Table:
        """The result of a query.

        Raises:
            ProgramError: It can't be computed, or only with a bound that isn't there.
        """
        if not isinstance(node, (exp.Select, exp.SetOperation, exp.Subquery)):
            known = isinstance(node, (exp.Pivot, exp.Lateral, exp.Values))
            raise refused(node, hint=None if known else "write SELECT ... FROM ...")
        inner = Query({**self.tables}, self.matches, self.clauses)
        for one in node.ctes:
            inner.tables = {**inner.tables, one.alias: inner.table(one.this)}
        if isinstance(node, exp.Subquery):
            return inner.table(node.this)
        if isinstance(node, exp.SetOperation):
            return inner._united(node)
        return inner._select(node)

    def _united(self, node: exp.SetOperation) -> Table:
        left, right = self.table(node.left), self.table(node.right)
        names = list(left.columns)
        right = right.rename(dict(zip(right.columns, names, strict=False))).select(*names)
        if isinstance(node, exp.Union):
            both = left.union(right)
            both = both.distinct() if node.args.get("distinct") else both
        elif not node.args.get("distinct"):
            raise refused(node, "counts how often rows are there", "leave ALL out, or GROUP BY both and join")
        else:
            # In groups nulls are equal, as here. Of how many rows of each side a group is, tells.
            here, there = (f"{side} {names}" for side in ("left", "right"))
            both = left.assign(**{here: 1, there: 0}).union(right.assign(**{here: 0, there: 1}))
            both = both.group_by(*names).agg(**{side: (side, "sum") for side in (here, there)})
            also = both[there] > 0
            also = also if isinstance(node, exp.Intersect) else ~also
            both = both.filter((both[here] > 0) & also).select(*names)
        order = [_output_name(one.this) for one in ordered_by(node)]
        return self._ended(both, node, order)

    def _select(self, node: exp.Select) -> Table:
        if node.args.get("from_") is None:
            raise fault(
                ProgramError, "SQL: a query without FROM", "numbers that everybody knows need no query"
            )
        given = {
            one.alias_or_name: self._source(one)
            for one in [node.args["from_"].this, *(join.this for join in node.args.get("joins") or ())]
            if isinstance(one, exp.Table)
        }
        late = late_columns(node, given)
        joined = self._from(node, {name for one in late for name in one.columns})
        return self._grouped(joined, node, lambda groups: fetched(groups, late, given))

    def _clause(self, node: exp.Expr) -> contextlib.AbstractContextManager[None]:
        """While what is computed comes from a clause: errors and costs are said to be its."""
        text = " ".join(node.sql(dialect="duckdb", identify=False).replace('"', "").split())
        first = self.clauses[0]
        self.clauses.append(Location(f"{first.file}:{first.line}, clause", len(self.clauses), text))
        return said(self.clauses[-1])

    # Tables and joins.

    def _source(self, node: exp.Expr) -> Table:
        """A table whose columns are called `alias.column`."""
        if isinstance(node, exp.Table):
            if node.name not in self.tables:
                raise _no_table(node, self.tables)
            table = self.tables[node.name]
        else:
            table = self.table(node)
        if not table.facts.settled:
            # An order is asked for where rows are shown.
            table = table._with(facts=replace(table.facts, settled=None))
        alias = node.alias_or_name
        return table.rename({name: f"{alias}.{name}" for name in table.columns})

    def _from(self, node: exp.Select, late: set[str]) -> Table:
        first = node.args["from_"].this
        pending: list[exp.Join] = list(node.args.get("joins") or ())
        # Conditions of inner joins are as good as those of WHERE.
        where = conjuncts(getattr(node.args.get("where"), "this", None))
        for join in pending:
            if how_of(join) == "inner":
                where += conjuncts(join.args.get("on"))
        where += [one for condition in where for one in in_all_branches(condition)]
        rest: list[exp.Expr] = [
            *node.expressions,
            *(node.args.get("group") or exp.Group()).expressions,
            *(one.this for one in ordered_by(node)),
            *(node.args[part].this for part in ("having", "qualify") if node.args.get(part)),
        ]
        there = {first.alias_or_name}
        # Rows of either side of a FULL JOIN are there, whatever is said of them later.
        full = [one for one in pending if how_of(one) == "outer"]
        with self._clause(node.args["from_"]):
            table = _but(self._source(first), late)
            if not full:
                table, where = self._filtered(table, where, there)
        sources = {join.this.alias_or_name: _but(self._source(join.this), late) for join in pending}
        conditions = [on for one in pending for on in conjuncts(one.args.get("on"))]
        table = needed(table, [*rest, *where, *conditions])
        while pending:
            ready = full or [one for one in pending if is_ready(one, sources, where, there)] or pending
            # What leaves the bound on rows as it is comes before what raises it.
            join = next((one for one in ready if keeps_rows(one, sources, where, there)), ready[0])
            pending.remove(join)
            full = []
            name = join.this.alias_or_name
            later = [*rest, *(on for one in pending for on in conjuncts(one.args.get("on")))]
            with self._clause(join):
                table, where = self._joined(table, sources[name], join, where, there, later)
                there.add(name)
                table, where = self._filtered(table, where, there)
            table = needed(table, [*later, *where])
        for condition in where:
            with self._clause(condition):
                table = self._by_subquery(table, condition)
        return table

    def _filtered(self, table: Table, where: list[exp.Expr], there: set[str]) -> tuple[Table, list[exp.Expr]]:
        """With the conditions on tables that are there; and those that are left."""
        left = []
        for condition in where:
            if condition.find(exp.Subquery, exp.Select) or not sources_of(condition) <= there:
                left.append(condition)
                continue
            name = not_null(condition)
            if name in table.columns:
                table = table.drop_nulls(name)
            else:
                table = table.filter(self._expressions(table).column(condition))
        return table, left

    def _expressions(self, table: Table) -> Expressions:
        """Expressions that know of the least and largest values that stand for arrays."""
        known = {}
        for name in table.columns:
            before, _, of = name.rpartition(" of ")
            alias, _, end = before.rpartition(".")
            if end in ("min", "max"):
                known[f"{end} of {exp.column(of, table=alias, quoted=True).sql()}"] = name
        return Expressions(table, known)

    def _joined(
        self,
        table: Table,
        other: Table,
        join: exp.Join,
        where: list[exp.Expr],
        there: set[str],
        later: Sequence[exp.Expr],
    ) -> tuple[Table, list[exp.Expr]]:
        """With another table; and the conditions that are left."""
        name, how = join.this.alias_or_name, how_of(join)
        if how == "inner":
            conditions, where = where, []
        else:
            conditions = conjuncts(join.args.get("on"))
        if how == "left":
            self._check_known(table, other, conditions, [*where, *later])
            how, where = less_than_left(name, where, conditions, later)
        keys: dict[str, str] = {}
        # One row is put beside all others, whatever is compared then.
        alone = how == "inner" and is_one_row(other)
        # A subquery of a condition, which the optimiser joins by such a name, is null if it has no row.
        null = alone and name.startswith(OF_CONDITION)
        own, left = [], []
        temporary: list[str] = []
        for condition in conditions:
            pair = equality(condition, name)
            of_it_alone = sources_of(condition) == {name} and not condition.find(exp.Select)
            if of_it_alone and not null and how != "outer":
                own.append(condition)
            elif pair is not None and sources_of(condition) <= there | {name} and not alone:
                table, first = self._key(table, pair[0], temporary)
                other, second = self._key(other, pair[1], temporary)
                if first in keys and how != "inner":
                    # The same column again, by another name.
                    temporary.append(f"key {len(temporary)}")
                    table = table.assign(**{temporary[-1]: table[first]})
                    first = temporary[-1]
                if first in keys:
                    left.append(condition)
                else:
                    keys[first] = second
            else:
                left.append(condition)
        if how == "inner":
            where += left
        elif left:
            raise refused(
                left[0],
                "is a condition of a join that isn't INNER JOIN",
                "write it in WHERE" if how == "semi" else _KEY,
            )
        other, _ = self._filtered(other, own, {name})
        other = needed(other, [*later, *where], keys.values())
        if not keys:
            return self._beside(table, other, join, "left" if null else how), where
        try:
            result = table.join(other, on=keys, how=how, matches=self.matches.get(name))
        except ProgramError as error:
            if "neither table" not in str(error):
                raise
            raise fault(
                ProgramError,
                f"SQL: many rows of {name} may match many before, by {', '.join(keys.values())}",
                f"declare unique=... of one of the tables, or say matches={{{name!r}: 10}}, how many rows of "
                f"{name} match one row at most",
            ) from None
        return result.select(*(one for one in result.columns if one not in temporary)), where

    def _check_known(
        self, table: Table, other: Table, conditions: Sequence[exp.Expr], uses: Sequence[exp.Expr]
    ) -> None:
        """Refuses `x IN (SELECT y ...)` where it may be null, and null isn't as good as false."""
        for one in conditions:
            keys = in_subquery(one, uses)
            if keys is not None and any(
                self._expressions(side).column(key).valid is not None
                for side, key in zip((table, other), keys, strict=True)
            ):
                raise fault(
                    ProgramError,
                    "SQL: x IN (SELECT y ...) may be null, which stands here beside true and false",
                    "leave nulls out, by WHERE x IS NOT NULL and in the subquery WHERE y IS NOT NULL",
                )

    def _key(self, table: Table, node: exp.Expr, temporary: list[str]) -> tuple[Table, str]:
        """A column to join by, which is a new one for an expression."""
        if isinstance(node, exp.Column):
            return table, name_of(node)
        name = f"key {len(temporary)}"
        temporary.append(name)
        return table.assign(**{name: self._expressions(table).column(node)}), name

    def _beside(self, table: Table, other: Table, join: exp.Join, how: str) -> Table:
        """A join without a condition: of one row with all others."""
        if is_one_row(other) and how in ("inner", "left"):
            return spread(table, other, how)
        if is_one_row(table) and how == "inner":
            return spread(other, table, how)
        raise refused(join, "joins each row with each", "say ON a.x = b.y")

    def _by_subquery(self, table: Table, condition: exp.Expr) -> Table:
        """A condition with a subquery that the optimiser has left: IN, NOT IN."""
        negated = isinstance(condition, exp.Not)
        inner = (condition.this if negated else condition).unnest()
        query = inner.args.get("query") if isinstance(inner, exp.In) else None
        if query is None:
            raise refused(
                condition, hint="write x IN (SELECT y FROM ...), a join, or x > (SELECT MAX(y) FROM ...)"
            )
        assert isinstance(inner, exp.In)
        other = self.table(query)
        value = self._expressions(table).column(inner.this)
        (name,) = other.columns
        if negated and other[name].valid is not None:
            raise refused(
                condition, "is never true if the subquery has a null", "say WHERE ... IS NOT NULL in it"
            )
        if negated and value.valid is not None:
            # Null is not in no rows at all, and it isn't known whether it is in others.
            none = (~other.valid.any()).broadcast_to((len(table),))
            table = table.filter(value.not_null() | made("boolean", none))
        key = "key of IN"
        found = table.assign(**{key: value}).join(
            other.rename({name: "value of IN"}), on={key: "value of IN"}, how="anti" if negated else "semi"
        )
        return found.select(*(one for one in found.columns if one != key))

    # Groups, and what comes out.

    def _grouped(self, table: Table, node: exp.Select, fetch: Callable[[Table], Table]) -> Table:
        outputs: list[exp.Expr] = list(node.expressions)
        having, qualify = (getattr(node.args.get(part), "this", None) for part in ("having", "qualify"))
        group = list((node.args.get("group") or exp.Group()).expressions)
        ordered = ordered_by(node)
        names = {one.alias_or_name for one in outputs}
        hidden = [one.this for one in ordered if _output_name(one.this) not in names]
        calls: dict[str, exp.Expr] = {}
        after = [*outputs, *hidden, *([qualify] if qualify is not None else [])]
        for part in [*after, *([having] if having is not None else [])]:
            if (inner := part.find(exp.Query)) is not None:
                raise refused(inner, "is no table here", "join it: CROSS JOIN (SELECT ...); IN is of WHERE")
            for call in part.find_all(exp.AggFunc):
                if not isinstance(call.parent, (exp.Window, exp.IgnoreNulls, exp.RespectNulls)):
                    calls[call.sql()] = call
        expressions = self._expressions(table)
        known: dict[str, str] = {}
        if group or calls:
            with self._clause(node.args.get("group") or outputs[0]):
                table, known = aggregated(table, expressions, group, calls)
                table = fetch(table)
            expressions = Expressions(table, {**known})
        if having is not None:
            table = table.filter(expressions.column(having))
            expressions = Expressions(table, {**expressions.known})
        windows = [one for part in after for one in part.find_all(exp.Window)]
        expressions = with_windows(expressions, windows, self._clause)
        if qualify is not None:
            with self._clause(node.args["qualify"]):
                table = expressions.table.filter(expressions.column(qualify))
            expressions = replace(expressions, table=table)
        table = expressions.table
        columns: dict[str, Any] = {}
        for one in outputs:
            name = one.alias_or_name
            if isinstance(one.unalias(), exp.Star):
                raise refused(one)
            array = one.unalias()
            if isinstance(array, exp.ArrayAgg):
                ends = {end: table[known[f"{end} of {array.sql()}"]] for end in ("min", "max")}
                found = {f"{end} of {name}": column for end, column in ends.items()}
            else:
                found = _compared_by_owner(table, array) or {name: expressions.column(one)}
            if not found.keys().isdisjoint(columns):
                raise refused(one, "has the name of another column", "call it otherwise, by AS")
            columns.update(found)
        shown = list(columns)
        order: list[str] = []
        for one in ordered:
            name = _output_name(one.this)
            if name not in columns:
                text, name = name.replace('"', ""), f"{shown} {len(order)}"
                columns[name] = expressions.column(one.this)
                refuse_texts(text, columns[name])
            order.append(name)
        result = _with_columns(table, columns)
        if node.args.get("distinct"):
            if len(columns) > len(shown):
                raise refused(node.args["order"], "is by what DISTINCT leaves out", "select it, too")
            result = result.distinct()
        return self._ended(result, node, order).select(*shown)

    def _ended(self, table: Table, node: exp.Expr, order: Sequence[str]) -> Table:
        """In the order that is asked for, and no more rows than are."""
        names, ordered = list(table.columns), ordered_by(node)
        keys: list[str] = []
        down = []
        for name, one in zip(order, ordered, strict=True):
            if one.args.get("nulls_first"):
                # Whether there is a value, first where there is none.
                keys.append(f"{len(keys)} {names}")
                down.append(False)
                table = table.assign(**{keys[-1]: table[name].not_null()})
            keys.append(name)
            down.append(bool(one.args.get("desc")))
        if ordered:
            with self._clause(node.args["order"]):
                table = table.order_by(*keys, descending=down).select(*names)
        limit, offset = (_number_of(node.args.get(part)) for part in ("limit", "offset"))
        if limit is not None or offset:
            with self._clause(node.args["offset" if limit is None else "limit"]):
                table = table.limit(len(table) if limit is None else limit, offset=offset or 0)
        return table


def _number_of(node: exp.Expr | None) -> int | None:
    """How many rows LIMIT or OFFSET names."""
    if node is None:
        return None
    count = node.args["count" if isinstance(node, exp.Fetch) else "expression"]
    options = node.args.get("limit_options")
    if options is not None and (options.args.get("with_ties") or options.args.get("percent")):
        raise refused(node, "is of no number of rows", "say FETCH FIRST 3 ROWS ONLY, or LIMIT 3")
    if not isinstance(count, exp.Literal) or not count.this.isdecimal():
        raise refused(node, "has no whole number that everybody knows")
    return int(count.this)


def check_tables(query: exp.Expr, known: Collection[str]) -> None:
    """Refuses a query of a table that nobody gave."""
    there = {name.lower() for name in (*known, *(one.alias for one in query.find_all(exp.CTE)))}
    for one in query.find_all(exp.Table):
        if one.name and one.name.lower() not in there:
            raise _no_table(one, known)


def _no_table(node: exp.Table, known: Collection[str]) -> ProgramError:
    return fault(ProgramError, f"SQL: there is no table {node.name!r}", f"there are {', '.join(known)}")


def _output_name(node: exp.Expr) -> str:
    """What a column of the result is called in ORDER BY."""
    return node.name if isinstance(node, exp.Column) and not node.table else node.sql()


def _but(table: Table, names: Collection[str]) -> Table:
    """A table without some columns."""
    return table.select(*(name for name in table.columns if name not in names))


def _compared_by_owner(table: Table, node: exp.Expr) -> dict[str, Column]:
    """What owners say of a column that only they have: whether it matches patterns."""
    if not isinstance(node, exp.Column) or name_of(node) in table.columns:
        return {}
    return {
        name.removeprefix(f"{node.table}."): column
        for name, column in table.columns.items()
        if column.type.source == node.name and name.startswith(f"{node.table}.")
    }


def _with_columns(table: Table, columns: Mapping[str, Any]) -> Table:
    """A table of other columns, some of which are there under other names."""
    names: dict[str, str] = {}
    for new, column in columns.items():
        old = next((old for old, one in table.columns.items() if one is column), None)
        if old is not None and old not in names:
            names[old] = new
    filled = {new: table.filled(column_of(column)) for new, column in columns.items()}
    return table._with(columns=filled, facts=table.facts.renamed(names))
