"""`tacit.sql`: queries on secret tables, read and put in order by sqlglot."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tacit._location import caller, fault, said
from tacit.errors import ProgramError, ProgramTypeError
from tacit.tables.orders import Wishes
from tacit.tables.orders import noted as note_wishes
from tacit.tables.schema import SecretTable
from tacit.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit._plan import Plan
    from tacit.tables.types import ColumnType

_SQL_TYPES = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "category": "VARCHAR",
    "text": "VARCHAR",
}


def sql(
    query: str,
    *,
    to: str | Sequence[str] = "all",
    matches: Mapping[str, int] | None = None,
    **tables: Any,
) -> Any:
    """A query as a program: a plan for tables that are declared, a table for those of a traced function.

        plan = tacit.sql("select sum(x) as x from bank group by k", bank=tacit.table("bank", {...}, rows=100))

    Args:
        query: A SELECT, in DuckDB's dialect. docs/tables.md says what works.
        to: Who learns the result of a plan, as for `tacit.reveal`.
        matches: By alias, how many rows of a table match one row of those before it at most, where a join
            needs to know and no `unique` says so.
        tables: The tables, by the names that the query calls them.

    Raises:
        ProgramError: The query isn't SQL, or has something that isn't supported, which is named.
    """
    if not tables:
        raise fault(
            ProgramError, "tacit.sql takes the tables of its query", "say tacit.sql(query, bank=table)"
        )
    if all(isinstance(one, Table) for one in tables.values()):
        return _computed(query, tables, matches or {})
    for name, one in tables.items():
        if not isinstance(one, SecretTable):
            raise fault(
                ProgramTypeError, f"{name} is a {type(one).__name__}", "declare it with tacit.table(...)"
            )
    from tacit._trace import function, reveal

    noted: list[Wishes] = []

    def asked(**given: Table) -> Any:
        with note_wishes(given) as wishes:
            noted.append(wishes)
            return reveal(_computed(query, given, matches or {}), to)

    asked.__name__ = "sql"
    plan: Plan = function(asked).trace(**tables)
    better = noted[0].better(tables)
    return function(asked).trace(**{**tables, **better}) if better else plan


def _computed(query: str, tables: Mapping[str, Table], matches: Mapping[str, int]) -> Table:
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
        from sqlglot.optimizer.optimizer import RULES, optimize
        from sqlglot.optimizer.unnest_subqueries import unnest_subqueries
    except ImportError:
        raise fault(ProgramError, "tacit.sql needs sqlglot", 'pip install "sqlglot>=30,<31"') from None
    from tacit.tables.constructs import checked_clauses
    from tacit.tables.query import Query, check_tables
    from tacit.tables.written import (
        of_order,
        of_some_rows,
        with_bare_exists,
        with_counted_exists,
        with_joins_turned,
        with_names,
        with_rows_in_brackets,
        with_rows_of_conditions,
        written_out,
    )

    schema: dict[str, object] = {name: _schema(table.schema) for name, table in tables.items()}
    try:
        read = sqlglot.parse_one(query, read="duckdb")
        check_tables(read, tables)
        with said(caller()):  # What transforms would be the caller of what is refused.
            read = with_bare_exists(with_names(read)).transform(of_order)
            read = read.transform(of_some_rows).transform(written_out)
            # The optimiser leaves some parts out.
            checked_clauses(read)
            before = RULES.index(unnest_subqueries)
            # The first says which table each column is of, and what a star stands for.
            rules = (
                *(RULES[0], with_joins_turned, with_counted_exists, *RULES[1:before], with_rows_in_brackets),
                *(RULES[before], with_rows_of_conditions, *RULES[before + 1 :]),
            )
            optimised = optimize(read, schema=schema, dialect="duckdb", rules=rules)
    except SqlglotError as error:
        # Terminals underline what it is about.
        text = re.sub(r"\x1b\[\d*m", "", str(error))
        known = "; ".join(f"{name} has {', '.join(table.columns)}" for name, table in tables.items())
        raise fault(ProgramError, f"SQL: {text}", known if "olumn" in text else None) from None
    checked_clauses(optimised)
    return Query(tables, matches, [caller()]).table(optimised)


def _schema(columns: Mapping[str, ColumnType]) -> dict[str, str]:
    """The types of columns, as SQL calls them, with those that only their owner has."""
    known = {}
    for name, kind in columns.items():
        known[name] = f"DECIMAL(18, {kind.places})" if kind.kind == "decimal" else _SQL_TYPES[kind.kind]
        if kind.source:
            known.setdefault(kind.source, "VARCHAR")
    return known
