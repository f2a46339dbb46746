"""Declarations of tables: columns, bounds, and what makes rows different."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from tacit._handles import Handle, Secret
from tacit._location import fault
from tacit.errors import ProgramError, SecretError
from tacit.tables.types import KINDS, MAX_PLACES, ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_ROWS = 1 << 28
"""Rows that a table may have: as many as elements of a tensor."""

MARK = "#"
"""What stands between a table's name and the digest of its schema, in the name of the input of its rows."""


MARKS = (MARK, "?")
"""What marks inputs of one column: its further parts, and where it isn't null."""


@dataclass(frozen=True, slots=True)
class Schema:
    """What everybody knows of a table: all but its values, and how many rows it has.

    Attributes:
        name: What its owner calls it.
        owner: Who gives it.
        columns: Names and types.
        rows: How many rows it may have.
        unique: Sets of columns of which no two rows have the same values.
        order: Columns by which its owner puts the rows in ascending order.
    """

    name: str
    owner: str
    columns: dict[str, ColumnType]
    rows: int
    unique: tuple[tuple[str, ...], ...] = ()
    order: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As plans hold it."""
        columns = columns_to_json(self.columns)
        return {
            "name": self.name,
            "owner": self.owner,
            "columns": columns,
            "rows": self.rows,
            "unique": [list(key) for key in self.unique],
            "order": list(self.order),
        }

    @staticmethod
    def from_json(known: Any) -> Schema:
        """What `to_json` made.

        Raises:
            ValueError: It is nothing of the kind.
        """
        try:
            rows = known["rows"]
            if type(rows) is not int or not 1 <= rows <= MAX_ROWS:
                raise TypeError("a table has room for some number of rows")
            return Schema(
                str(known["name"]),
                str(known["owner"]),
                columns_from_json(known["columns"]),
                rows,
                tuple(tuple(map(str, key)) for key in known["unique"]),
                tuple(map(str, known["order"])),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"the schema of a table is damaged: {error}") from None

    @property
    def digest(self) -> str:
        """The first 128 bits of the SHA-256 of all this; a part of the program, so that all agree on it."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:32]

    def inputs(self) -> dict[str, tuple[str, int] | None]:
        """The inputs of a plan that the table is given by, and of which column and part each is.

        `None` stands for which rows there are, and part -1 for where a column isn't null.
        """
        names: dict[str, tuple[str, int] | None] = {f"{self.name}{MARK}{self.digest}": None}
        for column, kind in self.columns.items():
            for part in range(kind.parts):
                names[f"{self.name}.{column}" + MARK * part] = column, part
            if kind.null:
                names[f"{self.name}.{column}?"] = column, -1
        return names

    def in_words(self, most: int | None = None) -> list[str]:
        """Lines on all that is declared; of categories so many words at most."""
        facts = [f"up to {self.rows} rows"]
        facts += [f"{', '.join(key)} different in all rows" for key in self.unique]
        if self.order:
            facts.append(f"in ascending order of {', '.join(self.order)}")
        columns = [f"  {name}: {kind.in_words(most)}" for name, kind in self.columns.items()]
        return [f"table {self.name} of {self.owner}: {'; '.join(facts)}", *columns]

    def declared(self) -> dict[str, Secret]:
        """A declaration for each of these inputs."""
        made = {}
        for name, place in self.inputs().items():
            kind = None if place is None or place[1] < 0 else self.columns[place[0]]
            dtype = ColumnType("boolean").dtype if kind is None else kind.dtype
            limits = None if kind is None else kind.range
            made[name] = Secret(self.owner, (self.rows,), dtype, limits, name)
        return made


def hold(schemas: Iterable[Schema], shapes: Mapping[tuple[str, str], tuple[int, ...]]) -> None:
    """Holds schemas that stand beside a program against its inputs, which have their digests in their names.

    Raises:
        ValueError: The program was made for others.
    """
    for schema in schemas:
        if any(shapes.get((schema.owner, name)) != (schema.rows,) for name in schema.inputs()):
            raise ValueError(f"the schema of {schema.name} isn't the one that the program was made for")


class SecretTable(Handle):
    """The declaration of a table, made by `tacit.table`: an argument for `trace`."""

    __slots__ = ("schema",)

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def _refuse(self, use: str) -> NoReturn:
        raise fault(
            SecretError,
            f"tacit.table only declares an input; it can't be used for {use}",
            "pass it to .trace(...) of a @tacit.function, or to tacit.sql",
        )

    def __repr__(self) -> str:
        schema = self.schema
        columns = ", ".join(f"{name}: {kind}" for name, kind in schema.columns.items())
        return f"tacit.table({schema.owner!r}, {schema.name!r}, up to {schema.rows} rows of {columns})"


def table(
    owner: str,
    schema: Mapping[str, ColumnType],
    *,
    rows: int,
    name: str | None = None,
    unique: str | Sequence[str] | Sequence[Sequence[str]] = (),
    order: str | Sequence[str] = (),
) -> SecretTable:
    """Declares a table that `owner` will give: an argument for `trace`, or for `tacit.sql`.

    Args:
        owner: A party of the deployment by its name, or a client.
        schema: Names and types of the columns: `{"id": tables.integer(0, 9999), ...}`.
        rows: How many rows it may have. Everybody knows this bound, and nobody how many there are.
        name: What the owner calls it; if not given, the owner's name.
        unique: A column, or columns, whose values are together different in all rows, as a primary key's;
            or several such. Joins need one. The owner's client refuses a table that breaks it before it is
            sent; nobody else checks it.
        order: Columns by which the owner puts the rows in order before they are shared, so that joins and
            groups by them need no sort. If not given, the first of `unique`.

    Raises:
        ProgramError: A name or a bound won't do.
    """
    name = owner if name is None else name
    for word in (owner, name):
        if not isinstance(word, str) or not word or not word.replace("_", "").replace("-", "").isalnum():
            raise fault(ProgramError, f"{word!r} can't be the name of a table or its owner", "use letters")
    if owner == "all":
        raise fault(ProgramError, "'all' can't be an owner", "name a party or a client: 'alice'")
    if type(rows) is not int or not 1 <= rows <= MAX_ROWS:
        raise fault(ProgramError, f"rows={rows!r}: a table has room for some number of rows")
    columns = dict(schema)
    if not columns:
        raise fault(ProgramError, f"the table {name} has no columns")
    for column, kind in columns.items():
        if not isinstance(column, str) or not column:
            raise fault(ProgramError, f"{column!r} can't be the name of a column")
        if set(column) & set(MARKS):
            raise fault(
                ProgramError,
                f"{name}.{column} has one of {' and '.join(MARKS)} in its name, which mark parts of columns",
                "rename the column",
            )
        if not isinstance(kind, ColumnType):
            raise fault(
                ProgramError,
                f"{kind!r} is no type of a column",
                "use integer(0, 99), decimal(2, 0, 1e6), boolean(), date(...), category([...]) or text()",
            )
    keys = _keys(unique)
    ordered = (order,) if isinstance(order, str) else tuple(order)
    ordered = ordered or (keys[0] if keys else ())
    for column in [*(column for key in keys for column in key), *ordered]:
        if column not in columns:
            raise fault(
                ProgramError, f"the table {name} has no column {column!r}", f"it has {_list(columns)}"
            )
        if columns[column].null:
            raise fault(
                ProgramError,
                f"{name}.{column} may be null, and rows are told apart or ordered by it",
                "leave null=True out if there is a value in each row, or leave the column out of unique= and "
                "order=",
            )
    return SecretTable(Schema(name, owner, columns, rows, keys, ordered))


def _keys(unique: Any) -> tuple[tuple[str, ...], ...]:
    if isinstance(unique, str):
        return ((unique,),)
    if all(isinstance(column, str) for column in unique):
        return (tuple(unique),) if unique else ()
    return tuple(tuple(key) for key in unique)


def _list(names: Any) -> str:
    return ", ".join(map(str, names))


def columns_to_json(columns: Mapping[str, ColumnType]) -> list[Any]:
    """Names and types of columns, as JSON gives them back."""
    return [[name, {**asdict(kind), "words": list(kind.words)}] for name, kind in columns.items()]


def columns_from_json(columns: Any) -> dict[str, ColumnType]:
    """Names and types of columns, as `columns_to_json` wrote them. A file may hold anything.

    Raises:
        TypeError: They aren't.
    """
    return {str(name): _type_from_json(**kind) for name, kind in columns}


def _type_from_json(
    *,
    kind: Any,
    low: Any,
    high: Any,
    places: Any,
    words: Any,
    null: Any,
    source: Any,
    pattern: Any,
) -> ColumnType:
    numbers = all(type(one) is int and abs(one) < 1 << 63 for one in (low, high, places))
    texts = type(words) is list and all(type(one) is str for one in (*words, source, pattern))
    fits = kind in KINDS and numbers and texts and type(null) is bool and 0 <= places <= MAX_PLACES
    if not fits or low > high or (kind == "category" and (low, high) != (0, len(words) - 1)):
        raise TypeError("the type of a column is damaged")
    return ColumnType(kind, low, high, places, tuple(words), null, source, pattern)
