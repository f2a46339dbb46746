"""Tables of secrets: typed columns, nulls, filters, joins, groups; from pandas, Arrow, Parquet and CSV.

    from tacit import tables

    patient = tables.integer(0, 99_999)
    born = tables.date("1900-01-01", "2025-12-31")
    stays = tacit.table("clinic", {"patient": patient, "days": tables.integer(0, 365)}, rows=500)
    people = tacit.table("registry", {"patient": patient, "born": born}, rows=1000, unique="patient")

    @tacit.function
    def days_by_year(stays, people):
        both = stays.join(people, on="patient").assign(year=lambda t: t["born"].year())
        return tacit.reveal(both.group_by("year").agg(days=("days", "sum")))

`tacit.table` declares a table, the functions here the types of its columns. What a program does with it are
methods of `Table` and operators of `Column`. `tacit.sql` makes programs of queries.
"""

from tacit.tables.alignment import choose as when
from tacit.tables.column import Column
from tacit.tables.groups import Grouped
from tacit.tables.schema import Schema, SecretTable, table
from tacit.tables.table import Table
from tacit.tables.types import (
    ColumnType,
    boolean,
    category,
    date,
    decimal,
    hash_of,
    integer,
    like,
    number,
    text,
)

__all__ = [
    "Column",
    "ColumnType",
    "Grouped",
    "Schema",
    "SecretTable",
    "Table",
    "boolean",
    "category",
    "date",
    "decimal",
    "hash_of",
    "integer",
    "like",
    "number",
    "table",
    "text",
    "when",
]
