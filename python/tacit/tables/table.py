"""Secret tables: rows that count or don't, which nobody knows, up to a bound that everybody knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Never, NoReturn, TypeAlias, overload

from tacit._functions import concatenate
from tacit._handles import Unknown
from tacit._location import at_one_line, fault
from tacit._tensor import Tensor
from tacit.errors import ProgramError, ProgramTypeError, SecretError
from tacit.tables import words as _words
from tacit.tables.alignment import scaled
from tacit.tables.column import Column, column_of, constant, in_each_row, is_public, made
from tacit.tables.facts import Facts
from tacit.tables.instead import OF_TABLES, no_attribute
from tacit.tables.rows import Rows, refuse_other_rows
from tacit.tables.sorting import compact, packed, refuse_texts, sort_rows, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from tacit.tables.groups import Grouped
    from tacit.tables.schema import Schema
    from tacit.tables.types import ColumnType

Value: TypeAlias = "Column | Callable[[Table], Any] | Any"

Fault: TypeAlias = tuple[str, Tensor]
"""What went wrong where a bool holds, which is revealed with the rows."""


class Table(Unknown):
    """A table of a program that is being traced. It can't be changed: all methods make another one.

    Everybody knows the columns, and how many rows there may be (`len(table)`). Which of them count, nobody
    knows: a filter leaves rows out without moving any, so it is free but for its condition. `print(table)`
    says the bound.
    """

    __slots__ = ("_rows", "blocks", "columns", "facts", "faults", "valid")

    def __init__(
        self,
        columns: Mapping[str, Column],
        valid: Tensor,
        facts: Facts,
        faults: tuple[Fault, ...] = (),
        rows: Rows | None = None,
    ) -> None:
        # Unless it is said that rows stand where those of another table do, they are others.
        self._rows = Rows.here() if rows is None else rows
        self.columns = {name: column.among(self._rows) for name, column in columns.items()}
        self.valid = valid
        self.facts = facts
        self.faults = faults
        # Columns, and where among rows that stand together if they have the same values others begin.
        self.blocks: tuple[tuple[str, ...], Tensor] | None = None

    # What it is.

    @property
    def schema(self) -> dict[str, ColumnType]:
        """Names and types of the columns."""
        return {name: column.type for name, column in self.columns.items()}

    def __len__(self) -> int:
        """How many rows there may be."""
        return len(self.valid)

    def __iter__(self) -> NoReturn:
        self._refuse("a loop over its rows")

    def __contains__(self, name: object) -> bool:
        if isinstance(name, Column):
            self._refuse("in")
        return name in self.columns

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}: {column.type}" for name, column in self.columns.items())
        return f"<secret table of up to {len(self)} rows of {columns}>"

    @overload
    def __getitem__(self, key: str) -> Column: ...

    @overload
    def __getitem__(self, key: Column | list[str]) -> Table: ...

    def __getitem__(self, key: Any) -> Column | Table:
        """A column by its name, several by a list of names, or the rows where a condition holds."""
        if isinstance(key, Column):
            return self.filter(key)
        if isinstance(key, list):
            return self.select(*key)
        if isinstance(key, tuple):
            raise fault(ProgramError, f"{key!r} is no column", f"write t[{list(key)!r}] for several")
        if isinstance(key, slice):
            raise fault(
                ProgramError,
                "rows have no numbers that everybody knows",
                f'use order_by("column").limit({key.stop or 5}), and offset= for those before',
            )
        if isinstance(key, bool):
            raise fault(
                ProgramError,
                f"{key} is no condition on columns",
                "use x.is_null() in the place of pd.isna(x)",
            )
        if key not in self.columns:
            raise fault(ProgramError, f"there is no column {key!r}", f"there are {', '.join(self.columns)}")
        column = self.columns[key]
        column.name = key
        return column

    def __getattr__(self, name: str) -> Column:
        """A column by its name, unless a method has it: `t.days` is `t["days"]`."""
        if not name.startswith("_") and name not in Table.__slots__ and name in self.columns:
            return self[name]
        hints = {name: f"there are the columns {', '.join(self.columns)}"} if not name.startswith("_") else {}
        raise no_attribute("table", name, {**hints, **OF_TABLES})

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise fault(
            ProgramTypeError,
            "a table can't be changed",
            f"make another: t = t.assign({key if isinstance(key, str) else 'x'}=...), in which "
            "np.where(condition, a, b) is a column that differs in some rows",
        )

    # Columns.

    def select(self, *names: str | Sequence[str]) -> Table:
        """These columns alone. Free."""
        names = flattened(names)
        return self._renamed({name: self[name] for name in names}, {name: name for name in names})

    def drop(self, *names: str | Sequence[str], columns: str | Sequence[str] = (), **others: Never) -> Table:
        """All columns but these. Free."""
        _refuse_others("drop", others, 'drop("a", "b") leaves columns out; a filter leaves out rows')
        gone = flattened((*names, columns))
        for name in gone:
            self[name]
        return self.select(*(name for name in self.columns if name not in gone))

    def rename(self, names: Mapping[str, str] | None = None, **others: Never) -> Table:
        """Columns called otherwise: `{"old": "new"}`. Free."""
        names = names if others.keys() != {"columns"} else others["columns"]
        if not isinstance(names, Mapping) or others.keys() - {"columns"}:
            raise fault(ProgramTypeError, "rename takes a dict of names", 'use rename({"old": "new"})')
        for name in names:
            self[name]
        changed = {name: names.get(name, name) for name in self.columns}
        if len(set(changed.values())) < len(changed):
            raise fault(ProgramError, "two columns of one name", "rename to names that aren't there")
        return self._renamed({changed[name]: column for name, column in self.columns.items()}, changed)

    def assign(self, *unnamed: Never, **values: Value) -> Table:
        """More columns, or others in the place of those that there are.

        Each is a column, a public value for all rows, or a function that is given the table.
        """
        if unnamed:
            raise fault(
                ProgramTypeError, "assign takes names", 'write assign(x=...), or assign(**{"a b": ...})'
            )
        table = self
        for name, given in values.items():
            value = given(table) if callable(given) else given
            column = table.filled(column_of(value))
            facts = table.facts
            if name in table.columns:
                facts = facts.without([name], table.columns)
            sources = [known for known, one in table.columns.items() if one is value]
            if sources:
                twins = tuple(frozenset((one, name)) for one in sources)
                facts = replace(facts, equal=facts.equal + twins)
            table = table._with(columns={**table.columns, name: column}, facts=facts)
        return table

    def filled(self, column: Column) -> Column:
        """A column with an element for each row: a public value in all of them."""
        self._check_rows(column)
        return in_each_row(column, self.valid).among(self._rows)

    def _check_rows(self, column: Column) -> None:
        """Refuses a column of other rows."""
        if not is_public(column):
            refuse_other_rows(column.said(), column.rows, self._rows)

    def constant(self, value: Any, rows: int | None = None) -> Tensor:
        """A tensor of a public value in every row, or of an array of them."""
        return constant(self.valid, value, len(self) if rows is None else rows)

    # Rows.

    @at_one_line
    def filter(self, condition: Any) -> Table:
        """The rows where a condition holds: a column of bools, or a function that is given the table.

        Rows where it is null don't count. What rows there are stays unknown, and so does the bound.
        """
        if isinstance(condition, str):
            raise fault(
                ProgramTypeError,
                f"{condition!r} is a text and no condition",
                't[t["x"] > 3] compares a column; tacit.sql(query, t=t) takes SQL',
            )
        column = column_of(condition(self) if callable(condition) else condition)
        holds = column.holds()
        if holds is True:
            return self
        self._check_rows(column)
        valid = self.valid & holds if isinstance(holds, Tensor) else self.valid & False
        return self._with(valid=valid, facts=replace(self.facts, leading=False))

    @at_one_line
    def drop_nulls(self, *names: str | Sequence[str]) -> Table:
        """The rows where none of these columns is null; of all columns, if none is named."""
        chosen = [name for name in flattened(names) or self.columns if self[name].valid is not None]
        table = self
        for name in chosen:
            table = table.filter(self[name].not_null())
        columns = {name: one.bare() if name in chosen else one for name, one in table.columns.items()}
        # What isn't null was in order among nulls.
        order = () if set(chosen) & set(table.facts.order) else table.facts.order
        # Nobody knows what stands in the place of a null.
        rows = Rows.here(self._rows)
        return table._with(columns=columns, facts=replace(table.facts, order=order), rows=rows)

    @at_one_line
    def union(self, other: Table) -> Table:
        """The rows of both, which have columns of the same names and types. Free."""
        if not isinstance(other, Table):
            raise fault(
                ProgramTypeError, f"a union with a {type(other).__name__}", "write a.union(b).union(c)"
            )
        if set(self.columns) != set(other.columns):
            raise fault(
                ProgramError,
                f"a union of {', '.join(self.columns)} with {', '.join(other.columns)}",
                "both tables need columns of the same names: use select and rename",
            )
        columns = {name: _stacked(self, self[name], other, other[name]) for name in self.columns}
        bounds = {
            key: count + other.facts.bounds[key]
            for key, count in self.facts.bounds.items()
            if key in other.facts.bounds
        }
        valid = concatenate([self.valid, other.valid])
        return Table(columns, valid, Facts(bounds=bounds), self.faults + other.faults)

    @at_one_line
    def join(
        self,
        other: Table,
        on: str | Sequence[str] | Mapping[str, str] | None = None,
        how: str = "inner",
        *,
        matches: int | None = None,
        suffix: str = "_right",
        **others: Never,
    ) -> Table:
        """Rows of two tables that have the same values in some columns.

        One of the tables has at most one row for each value (`unique` of its declaration, or a group's keys),
        or `matches` says how many rows of `other` a value has at most. Nulls are equal to nothing.

        Args:
            other: The other table.
            on: Columns that both have, or `{"here": "there"}`.
            how: "inner"; "left", with nulls where `other` has no row; "right", with nulls where there is none
                here; "outer", with both; "semi" for the rows here that have a match, "anti" for those that
                have none; "cross", without `on`, to put the one row of `other` beside all rows.
            matches: A bound on how many rows of `other` have the same value, or for "right" of those here. If
                there are more, the run says so instead of giving a result.
            suffix: What is added to names of `other` that are here, too.
            others: Nothing: pandas has more.
        """
        from tacit.tables.joins import joined

        by_name = 'on={"id": "cust"} joins by keys of two names, as other.rename({"cust": "id"}) does first'
        apart = 'suffix="_b" is added to names of the other table that are here, too'
        _refuse_others("join", others, apart if any("suffix" in name for name in others) else by_name)
        return joined(self, other, on, how, matches, suffix)

    def group_by(self, *keys: str | Sequence[str], groups: int | None = None, **others: Never) -> Grouped:
        """Groups of rows with the same values in some columns, for `agg`; nulls are a group.

        Args:
            keys: The columns; none for all rows together.
            groups: A bound on how many groups there are, if you know one less than what follows from the
                columns' types. If there are more, the run says so instead of giving a result.
            others: Nothing: pandas has more.
        """
        from tacit.tables.groups import Grouped

        _refuse_others(
            "group_by", others, "keys are columns of the result, nulls are a group, nothing is in order"
        )
        return Grouped(self, flattened(keys), groups)

    @at_one_line
    def distinct(self, *names: str, rows: int | None = None) -> Table:
        """The different rows; `rows` is a bound on how many there are, as `groups` of `group_by`."""
        if names:
            raise fault(
                ProgramTypeError,
                "distinct is of whole rows",
                f"use select({', '.join(map(repr, names))}).distinct(), or group_by and aggregates",
            )
        return self.group_by(*self.columns, groups=rows).agg()

    @at_one_line
    def order_by(
        self, *names: str | Sequence[str], descending: bool | Sequence[bool] = False, **others: Never
    ) -> Table:
        """The rows in order of some columns, those that count first; nulls last. A sort.

        Rows with the same values in these are in order of the others that there are.
        """
        _refuse_others("order_by", others, "use descending=True, or one for each: descending=[False, True]")
        columns = flattened(names)
        if not columns:
            raise fault(ProgramError, "order_by takes columns")
        down = [descending] * len(columns) if isinstance(descending, bool) else list(descending)
        if len(down) != len(columns):
            raise fault(
                ProgramError,
                f"{len(down)} directions for {len(columns)} columns",
                "say descending=True for all, or one for each: descending=[False, True]",
            )
        words = [(1 - self.valid, 2)]
        for name, falls in zip(columns, down, strict=True):
            refuse_texts(name, self[name])
            words += words_of(self[name], descending=falls)
        line = tuple(zip(columns, down, strict=True))
        if self.facts.is_settled_by(self.columns) and self.facts.is_in_line((), line):
            table = self.leading()
            return table._with(facts=replace(table.facts, settled=frozenset()), rows=None)
        rest = self.facts.tell_apart(columns, self.columns)
        for name in rest:
            words += words_of(self[name])
        line += tuple((name, False) for name in rest)
        return self.sorted_by(packed(words), Facts(leading=True, settled=frozenset(), line=line))

    @at_one_line
    def limit(self, rows: int, *, offset: int = 0) -> Table:
        """The first so many rows that count; after `order_by`, of its order. The bound is theirs.

        With `offset` as many are left out before them.
        Without an order they are first by what is in them, as far as an order isn't known: a sort.
        """
        if type(rows) is not int or rows < 0:
            raise fault(ProgramError, f"limit({rows!r}): a number of rows is needed", "write limit(10)")
        if type(offset) is not int or offset < 0:
            raise fault(ProgramError, f"offset={offset!r}: a number of rows from 0 on is needed")
        if not rows or offset >= len(self):
            # No row of it counts, but it has columns.
            none = self.with_tensors([tensor[:1] for tensor in self.tensors()], self.facts)
            return none._with(valid=none.valid & False)
        if rows >= len(self) and not offset:
            return self._with(rows=None)
        table = self.settled()
        cut = [tensor[offset : offset + rows] for tensor in table.tensors()]
        return table.with_tensors(cut, table.facts)

    @at_one_line
    def window(
        self,
        name: str,
        column: str | None,
        how: str = "sum",
        *,
        partition_by: str | Sequence[str] = (),
        order_by: str | Sequence[str] = (),
        descending: bool | Sequence[bool] = False,
        rows: int | Literal["all"] | tuple[int | None, int | None] | None = None,
    ) -> Table:
        """One more column: an aggregate of the rows before each one and itself, or others beside.

        Args:
            name: What the new column is called.
            column: The column that is summed up or compared; `None` for "count", which numbers the rows, and
                for ranks.
            how: "sum", "count", "mean", "min" or "max"; "rank", how many rows are before those that are equal
                in `order_by`, and one; "dense_rank", how many different ones are, and one; "lag" and "lead",
                what the row before or after has, `rows` places away: null, if there is none; "first",
                what the first row has; "last", what the last one has; "ntile", in which of `rows` parts of
                about one length a row is, from 1.
            partition_by: Columns; only rows with the same values are looked at.
            order_by: Columns by which rows come before others.
            descending: Whether they do so from the largest value on, for all of these columns or each.
            rows: How many rows are looked at, this one included; "all" for those after it, too; or the first
                and the last of them, from this one: (-2, 2) for two on each side, `None` for all there. If
                not given, all before.
        """
        from tacit.tables.windows import windowed

        return windowed(self, name, column, how, partition_by, order_by, descending, rows)

    # How it is done.

    def tensors(self) -> list[Tensor]:
        """All tensors that it is made of: which rows count, and the columns' own."""
        return [self.valid, *(tensor for column in self.columns.values() for tensor in column.tensors())]

    def with_tensors(self, tensors: Sequence[Tensor], facts: Facts) -> Table:
        """The same columns of other tensors, in the order of `tensors`."""
        valid, *others = tensors
        columns = {}
        for name, column in self.columns.items():
            count = len(column.tensors())
            columns[name] = column.with_tensors(list(others[:count]))
            others = others[count:]
        return Table(columns, valid, facts, self.faults)

    def sorted_by(self, keys: list[Tensor], facts: Facts) -> Table:
        """The rows in ascending order of keys; facts of their order are those given."""
        _, tensors = sort_rows(keys, self.tensors())
        kept = replace(
            self.facts, order=facts.order, leading=facts.leading, settled=facts.settled, line=facts.line
        )
        return self.with_tensors(tensors, kept)

    @at_one_line
    def leading(self) -> Table:
        """The rows that count first, in their order."""
        if self.facts.leading:
            return self
        valid, rest = compact(self.valid, self.tensors()[1:], len(self))
        line = self.facts.line or tuple((name, False) for name in self.facts.order)
        return self.with_tensors([valid, *rest], replace(self.facts, leading=True, order=(), line=line))

    @at_one_line
    def settled(self) -> Table:
        """The rows that count first, in an order that says no more than what is in them, or was asked for."""
        if self.facts.settled is not None:
            return self.leading()
        by = self.facts.tell_apart((), self.columns)
        words = [(1 - self.valid, 2), *(word for name in by for word in words_of(self[name]))]
        line = tuple((name, False) for name in by)
        return self.sorted_by(packed(words), Facts(leading=True, settled=frozenset(by), line=line))

    def _renamed(self, columns: Mapping[str, Column], names: Mapping[str, str]) -> Table:
        """Some of the columns, under other names."""
        made = Table(columns, self.valid, self.facts.renamed(names), self.faults, self._rows)
        if self.blocks is not None:
            placed = [self.facts.alias(name, names) for name in self.blocks[0]]
            if all(name is not None for name in placed):
                made.blocks = tuple(names[name] for name in placed if name is not None), self.blocks[1]
        return made

    def _with(self, **changes: Any) -> Table:
        """A table of which rows stand where they do here; with `rows=None` others may not use that."""
        known = {name: getattr(self, name) for name in ("columns", "valid", "facts", "faults")}
        known = {**known, "rows": self._rows, **changes}
        made = Table(**known)
        placed = [] if self.blocks is None else self.blocks[0]
        if all(known["columns"].get(name) is self.columns[name] for name in placed):
            made.blocks = self.blocks
        return made

    def _refuse(self, use: str) -> NoReturn:
        raise fault(
            SecretError,
            f"nobody knows the rows of this table while the program runs, so it can't be used for {use}",
            "use its methods, and tacit.reveal(table, to=...) for what somebody is to learn",
        )


def of_inputs(schema: Schema, tensors: Mapping[str, Tensor]) -> Table:
    """A table of the inputs of its schema."""
    parts: dict[str, dict[int, Tensor]] = {name: {} for name in schema.columns}
    valid: Tensor | None = None
    for name, place in schema.inputs().items():
        if place is None:
            valid = tensors[name]
        else:
            parts[place[0]][place[1]] = tensors[name]
    columns = {
        name: Column(kind, tuple(parts[name][part] for part in range(kind.parts)), parts[name].get(-1))
        for name, kind in schema.columns.items()
    }
    unique = frozenset(map(frozenset, schema.unique))
    everything = frozenset(schema.columns)
    facts = Facts(
        unique=unique,
        order=schema.order,
        # What fills a table up are copies of its first row, before it.
        last=next(
            (n for n in range(len(schema.order) + 1) if any(key <= {*schema.order[:n]} for key in unique)),
            None,
        ),
        bounds=dict.fromkeys(unique, schema.rows),
        determines=tuple((key, everything) for key in unique),
    )
    if valid is None:
        raise ValueError("a schema has an input for its rows")
    return Table(columns, valid, facts, rows=Rows(f"the table {schema.name}"))


def _stacked(first: Table, a: Column, second: Table, b: Column) -> Column:
    """One column above another."""
    kinds = {a.type.kind, b.type.kind}
    if kinds == {"category"}:
        words = tuple(sorted({*a.type.words, *b.type.words}))
        a, b = _words.recoded(a, words), _words.recoded(b, words)
    elif kinds == {"integer", "decimal"} or (kinds == {"decimal"} and a.type.places != b.type.places):
        places = max(a.type.places, b.type.places)
        a, b = (made("decimal", scaled(one, places), places=places, valid=one.valid) for one in (a, b))
    elif len(kinds) > 1 or a.type.places != b.type.places:
        raise fault(ProgramTypeError, f"a union of {a.type} with {b.type}", "convert one of them first")
    valid = None
    if a.valid is not None or b.valid is not None:
        both = [
            table.constant(True) if one.valid is None else one.valid
            for table, one in ((first, a), (second, b))
        ]
        valid = concatenate(both)
    parts = tuple(concatenate([x, y]) for x, y in zip(a.parts, b.parts, strict=True))
    low, high = min(a.type.low, b.type.low), max(a.type.high, b.type.high)
    kind = replace(a.type, low=low, high=high, null=valid is not None)
    return Column(kind, parts, valid)


def flattened(names: Iterable[str | Sequence[str]]) -> tuple[str, ...]:
    """Names, some of which are in lists."""
    return tuple(name for one in names for name in names_of(one))


def names_of(given: str | Iterable[str]) -> tuple[str, ...]:
    """One name or several."""
    if isinstance(given, Column) or callable(given):
        raise fault(
            ProgramTypeError,
            "a column is asked for by its name",
            'say t.assign(year=lambda t: t.day.year()).group_by("year"), or order_by("x")',
        )
    return (given,) if isinstance(given, str) else tuple(given)


def _refuse_others(method: str, others: Collection[str], hint: str) -> None:
    """Refuses what pandas' method of another name takes."""
    if others:
        raise fault(ProgramTypeError, f"{method} takes no {', '.join(others)}", hint)
