"""Joins: both tables' rows in one order, in which a row with a key stands before all rows that look for it.

A table whose rows have different keys is put in order first. Each of its columns is then given as differences
from one row to the next, and what the other table has as 0: once the rows of both are in one order, the sums
up to each row are what the last row with a key before it has. Sums are free, so a join costs its sort, or,
where both tables are in order, its merge.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit._functions import concatenate, where
from tacit._location import fault
from tacit.errors import ProgramError
from tacit.tables.alignment import aligned, choose
from tacit.tables.column import Column, both_valid, made
from tacit.tables.facts import Facts, least
from tacit.tables.lookups import is_small, looked_up
from tacit.tables.orders import wish
from tacit.tables.rows import Rows
from tacit.tables.slots import Slots
from tacit.tables.sorting import (
    compact,
    differs_from_previous,
    either,
    merge_rows,
    packed,
    running,
    sort_rows,
)

if TYPE_CHECKING:
    from tacit._tensor import Tensor
    from tacit.tables.table import Table
    from tacit.tables.types import ColumnType

HOWS = ("inner", "left", "right", "outer", "semi", "anti", "cross")


def joined(
    left: Table,
    right: Table,
    on: str | Sequence[str] | Mapping[str, str] | None,
    how: str,
    matches: int | None,
    suffix: str,
) -> Table:
    """`Table.join`."""
    if how not in HOWS:
        raise fault(ProgramError, f"how={how!r} is no join", f"use one of {', '.join(HOWS)}")
    if how == "cross":
        return _crossed(left, right, on, suffix)
    if on is None:
        on = ()
    if isinstance(on, Column):
        raise fault(ProgramError, "a join by a condition", 'say on="id", or on={"here": "there"}')
    if not isinstance(on, Mapping):
        on = {name: name for name in ((on,) if isinstance(on, str) else on)}
    pairs = dict(on)
    for here, there in pairs.items():
        left[here], right[there]
    if not pairs:
        raise fault(
            ProgramError,
            "a join needs columns",
            'say on="id", or on={"here": "there"}; a table of one row goes beside all by how="cross"',
        )
    if len(set(pairs.values())) < len(pairs):
        return _by_copies(left, right, pairs, how, matches, suffix)
    names = _names(left, right, pairs, suffix)
    if how == "right":
        return _right(left, right, pairs, names, matches)
    if how == "outer":
        return _outer(left, right, pairs, names, matches, suffix)
    if how in ("semi", "anti") and not right.facts.is_unique(pairs.values()):
        # Whether there is a match is the same for one row of each value.
        right = right.select(*dict.fromkeys(pairs.values())).distinct()
    if right.facts.is_unique(pairs.values()):
        return _look_up(left, right, pairs, how, names)
    if left.facts.is_unique(pairs):
        return _look_up_backwards(left, right, pairs, how, names)
    if matches is None:
        raise fault(
            ProgramError,
            f"neither table is known to have a row alone for each {' and '.join(pairs)}",
            "declare the column unique=... of its table, group_by it first, or say matches=... how many rows "
            'of the right table have the same value at most (of the left one for how="right")',
        )
    return _several(left, right, pairs, how, names, matches)


def _by_copies(
    left: Table, right: Table, pairs: dict[str, str], how: str, matches: int | None, suffix: str
) -> Table:
    """A join of several columns with one, by a copy of it for each but the first."""
    there: dict[str, str] = {}
    copies: dict[str, str] = {}
    for here, name in pairs.items():
        there[here] = name if name not in there.values() else f"{name} beside {here}"
        if there[here] != name:
            copies[there[here]] = name
    right = right.assign(**{copy: right[name] for copy, name in copies.items()})
    result = joined(left, right, there, how, matches, suffix)
    return result.drop(*(copy for copy in copies if copy in result.columns))


def _crossed(left: Table, right: Table, on: Any, suffix: str) -> Table:
    """One row beside all others."""
    if len(right) > 1 or on is not None:
        raise fault(
            ProgramError,
            f"a cross join of up to {len(right)} rows" if on is None else 'how="cross" takes no columns',
            "a table of one row goes beside all others: group_by().agg(...) makes one; else say on=...",
        )
    names = _names(left, right, {}, suffix)
    return spread(left, right.rename(names), "inner")


def spread(table: Table, one: Table, how: str) -> Table:
    """The columns of a table's one row in all rows of another; nulls in a left join if it doesn't count."""
    columns = dict(table.columns)
    for name, column in one.columns.items():
        if how == "left":
            column = choose(made("boolean", one.valid), column, None)
        tensors = [tensor.broadcast_to((len(table),)) for tensor in column.tensors()]
        columns[name] = column.with_tensors(tensors)
    valid = table.valid if how == "left" else table.valid & one.valid.broadcast_to((len(table),))
    # The one row may not count: then no row has its columns.
    rows = Rows.here(table._rows)
    return table._with(columns=columns, valid=valid, faults=table.faults + one.faults, rows=rows)


def _names(left: Table, right: Table, pairs: Mapping[str, str], suffix: str) -> dict[str, str]:
    """What columns of the right table are called in the result; a key of the same name is there once."""
    names = {}
    for name in right.columns:
        if pairs.get(name) == name:
            continue
        names[name] = name if name not in left.columns else name + suffix
        if name in left.columns and names[name] in left.columns:
            raise fault(ProgramError, f"both tables have {name!r}, and {names[name]!r} too", "rename one")
    return names


@dataclass
class _Merged:
    """Rows of both tables in one order: those with a key alone first among those with the same key."""

    order: list[tuple[str, str]]
    """The columns of keys, of both tables, in the order in which they count."""
    ascends: bool
    """Whether rows of the second table ascend by these columns, those that don't count too."""
    ends_with_one: bool
    """Whether of its rows with the same values in them the last one counts, if any does."""
    keys: list[Tensor]
    seeks: Tensor
    """Whether a row is one of those that look for a key."""
    last: Tensor
    """Whether a row is one with a key, and the last of them."""
    found: Tensor
    """Whether a row that counts has the key of this one, which looks for it."""
    starts: Tensor
    alone: dict[str, Column]
    """What the table of different keys has at this row or the last of its rows before."""
    alone_valid: Tensor
    many: dict[str, Column]
    """What the other table has, at its rows."""
    many_valid: Tensor


def _look_up(left: Table, right: Table, pairs: dict[str, str], how: str, names: dict[str, str]) -> Table:
    """Each row of the left table with the one of the right that has its key."""
    back = {there: here for here, there in pairs.items()}
    needed = [name for name in names if name not in back] if how in ("inner", "left") else []
    if is_small(right, left):
        return _compared(left, right, pairs, how, names, needed)
    merged = _merge(right, left, back, needed, list(left.columns), how)
    columns = dict(merged.many)
    found = merged.found
    valid = merged.many_valid
    valid = valid & found if how in ("inner", "semi") else valid & ~found if how == "anti" else valid
    if how in ("inner", "left"):
        for name, called in names.items():
            # A key of a match is the same here.
            column = merged.alone[name] if name in merged.alone else merged.many[back[name]]
            columns[called] = _where_found(column, found) if how == "left" else column
    facts = _facts(left, right, pairs, how, names, alone_is_left=False)
    result = type(left)(columns, valid, facts, left.faults + right.faults)
    return _narrowed(result, merged, [here for _, here in merged.order], len(left))


def _compared(
    left: Table, right: Table, pairs: dict[str, str], how: str, names: dict[str, str], needed: list[str]
) -> Table:
    """The same by comparing all with all, where the right table has few rows; those of the left stay."""
    order = list(pairs.items())
    second, first = _common(left, right, order)
    found, chosen = looked_up(right, first, second, needed)
    back = {there: here for here, there in pairs.items()}
    columns = dict(left.columns)
    if how in ("inner", "semi"):
        # A key that is found isn't null.
        for here in pairs:
            columns[here] = columns[here].bare()
    if how in ("inner", "left"):
        for name, called in names.items():
            column = chosen[name] if name in chosen else left[back[name]]
            if name not in chosen and how == "inner":
                column = columns[back[name]]
            columns[called] = _where_found(column, found) if how == "left" else column
    valid = left.valid & (~found if how == "anti" else found) if how != "left" else left.valid
    facts = _facts(left, right, pairs, how, names, alone_is_left=False)
    nulls = any(left[name].valid is not None for name in pairs)
    ascends = not nulls or how in ("left", "anti")
    kept = replace(facts, order=left.facts.order if ascends else (), last=left.facts.last)
    result = type(left)(columns, valid, kept, left.faults + right.faults)
    if left.blocks is not None and all(columns[name] is left.columns[name] for name in left.blocks[0]):
        result.blocks = left.blocks
    return result


def _look_up_backwards(
    left: Table, right: Table, pairs: dict[str, str], how: str, names: dict[str, str]
) -> Table:
    """Each row of the right table with the one of the left that has its key, and left rows without any."""
    if how == "inner" and is_small(left, right):
        return _turned(left, right, pairs, names)
    kept = [name for name in left.columns if name not in pairs or how == "left"]
    merged = _merge(left, right, pairs, kept, list(right.columns), how, keeps=how == "left")
    found = merged.many_valid & merged.found
    columns = {}
    for name in left.columns:
        columns[name] = merged.alone[name] if name in merged.alone else merged.many[pairs[name]]
    for name, called in names.items():
        column = merged.many[name]
        columns[called] = _where_found(column, found) if how == "left" else column
    facts = _facts(left, right, pairs, how, names, alone_is_left=True)
    order = [here for here, _ in merged.order]
    if how == "inner":
        result = type(left)(columns, found, facts, left.faults + right.faults)
        order = [here if here not in kept else there for here, there in merged.order]
        return _narrowed(result, merged, order, len(right))
    # A row of the left table has a match if one comes after it before another key does. Of several rows with
    # the same key the last one counts, if one does.
    after = running(differs_from_previous([key[::-1] for key in merged.keys]), found[::-1], either)[::-1]
    alone = merged.last & merged.alone_valid
    result = type(left)(columns, found | (alone & ~after), facts, left.faults + right.faults)
    result.blocks = tuple(order), merged.starts
    return result


def _turned(left: Table, right: Table, pairs: dict[str, str], names: dict[str, str]) -> Table:
    """An inner join the other way round, with columns called and standing as they would."""
    back = {there: here for here, there in pairs.items()}
    # What the left table's columns are called among those of the right.
    called = {name: f"{name} on the left" for name in left.columns if pairs.get(name) != name}
    joined_back = _look_up(right, left, back, "inner", called)
    result = {}
    for name in left.columns:
        result[called.get(name, name)] = name
    for name, new in names.items():
        result[name] = new
    chosen = joined_back.select(*result)
    return chosen.rename(result)


def _right(left: Table, right: Table, pairs: dict[str, str], names: dict[str, str], matches: Any) -> Table:
    """A left join with the tables the other way round, and columns called and standing as they would."""
    called = {name: f"{name} on the left" for name in left.columns}
    back = {there: called[here] for here, there in pairs.items()}
    found = joined(right, left.rename(called), back, "left", matches, "")
    # Keys of one name are there once, and the right table has them in all rows.
    result = {name if pairs.get(name) == name else called[name]: name for name in left.columns} | names
    return found.select(*result).rename(result)


def _outer(
    left: Table, right: Table, pairs: dict[str, str], names: dict[str, str], matches: Any, suffix: str
) -> Table:
    """The rows of a left join, and those of the right table that match none."""
    found = joined(left, right, pairs, "left", matches, suffix)
    back = {there: here for here, there in pairs.items()}
    rest = joined(right, left.select(*pairs), back, "anti", None, "")
    called = {name: name for name, here in back.items() if name == here} | names
    return found.union(_with_nulls(rest.select(*called).rename(called), found))


def _with_nulls(table: Table, like: Table) -> Table:
    """A table with nulls in the columns of another one that it hasn't."""
    columns = dict(table.columns)
    for name, column in like.columns.items():
        if name not in columns:
            parts = tuple(table.constant(_least(column.type, part)) for part in column.parts)
            columns[name] = Column(column.type.nullable(), parts, table.valid & False)
    return table._with(columns=columns)


def _where_found(column: Column, found: Tensor) -> Column:
    """A column that is null where nothing was found."""
    there = found if column.valid is None else found & column.valid
    return Column(column.type.nullable(), column.parts, there)


def _several(
    left: Table, right: Table, pairs: dict[str, str], how: str, names: dict[str, str], matches: int
) -> Table:
    """Each row of the left table as many times as rows of the right may match, for each place among these."""
    from tacit.tables.windows import windowed

    if type(matches) is not int or matches < 1:
        raise fault(ProgramError, f"matches={matches!r}: a number of rows is needed")
    place = "place among matches"
    # Nulls match nothing.
    right = right.drop_nulls(*pairs.values())
    numbered = windowed(right, place, None, "count", tuple(pairs.values()), (), False, None, any_order=True)
    column = numbered[place]
    excess = ((column.value > matches) & numbered.valid).any().reshape(1)
    message = f"more than matches={matches} rows have the same {' and '.join(pairs.values())}"
    numbered = numbered.filter(column <= matches)
    keys = frozenset((*pairs.values(), place))
    unique = replace(numbered.facts, unique=numbered.facts.unique | {keys})
    numbered = numbered._with(facts=unique, faults=(*numbered.faults, (message, excess)))
    copies = [left.assign(**{place: number}) for number in range(1, matches + 1)]
    many = copies[0]
    for copy in copies[1:]:
        many = many.union(copy)
    result = _look_up(many, numbered, {**pairs, place: place}, how if how != "left" else "inner", names)
    result = result.select(*(name for name in result.columns if name != place))
    if how != "left":
        return result
    rest = _unmatched(left, pairs, result)
    return result.select(*rest.columns).union(rest)


def _unmatched(left: Table, pairs: dict[str, str], result: Table) -> Table:
    """Left rows without a match, with nulls."""
    keys = result.select(*pairs).rename({here: there for here, there in pairs.items() if here != there})
    return _with_nulls(joined(left, keys, pairs, "anti", None, ""), result)


def _least(kind: ColumnType, part: Tensor) -> Any:
    if kind.kind == "boolean":
        return False
    return part.range[0] if kind.kind == "number" else part._kind.low


def _merge(
    alone: Table,
    many: Table,
    pairs: dict[str, str],
    alone_needs: list[str],
    many_needs: list[str],
    how: str,
    *,
    keeps: bool = False,
) -> _Merged:
    """Rows of a table with different keys and of another in the order of keys; `keeps` if the first stay."""
    order, sorted_alone = _pair_order(alone, many, pairs)
    first, second = _common(alone, many, order)
    matched = how in ("inner", "semi")
    nulls = [any(column.valid is not None for column in columns) for columns in (first, second)]
    # Rows whose keys are null may stand anywhere, if they don't count in the result.
    nullable = nulls[0] or (nulls[1] and not matched)
    theirs = [there for _, there in order]
    wish(many, theirs)
    wish(alone, [here for here, _ in order])
    sorted_many = list(many.facts.order[: len(theirs)]) == theirs
    if nulls[1] and not nullable:
        sorted_many = False
    words = _same_spans(_key_words(first, nullable), _key_words(second, nullable))
    # With the same key, rows that have it come before those that look for it, and where only one of these
    # counts, it is the last.
    unique = many.facts.is_unique(theirs) and (not sorted_many or many.facts.ends_with_one(len(theirs)))
    sides = (alone.constant(0), many.valid + 1 if unique else many.constant(1))
    keys = [packed([*one, (side, 3)]) for one, side in zip(words, sides, strict=True)]
    valid_key, seeking = both_valid(*first), both_valid(*second)
    alone_valid = alone.valid if valid_key is None else alone.valid & valid_key
    if not sorted_alone:
        # Rows that count come last among those with the same key.
        again = [(key, key._kind.high + 1) for key in keys[0]]
        extra = [alone.valid] if valid_key is None else [alone.valid, alone_valid]
        needed = alone.select(*alone_needs)
        _, moved = sort_rows(
            packed([*again, (alone_valid + 0, 2)]), [*keys[0], *extra, *needed.tensors()[1:]]
        )
        keys[0], moved = moved[: len(keys[0])], moved[len(keys[0]) :]
        alone_valid = moved[len(extra) - 1]
        alone = needed.with_tensors([moved[0], *moved[len(extra) :]], Facts())
    slots = Slots(len(alone), len(many))
    alone_places = {name: [slots.differences(one) for one in alone[name].tensors()] for name in alone_needs}
    counts = slots.differences(alone.valid)
    has_key = counts if valid_key is None else slots.differences(alone_valid)
    many_places = {name: [slots.values(one) for one in many[name].tensors()] for name in many_needs}
    valid_place = slots.values(many.valid)
    seek_place = valid_place if seeking is None else slots.values(many.valid & seeking)
    rows = slots.rows()
    rows[0].append(alone.constant(False))
    rows[1].append(many.constant(True))
    if sorted_many:
        merged_keys, merged = merge_rows((keys[0], keys[1]), rows)
    else:
        merged_keys, merged = sort_rows(_above(keys[0], keys[1]), _above(*rows))
    seeks = merged.pop()
    side = seeks + slots.flag(valid_place, merged, seeks) if unique else seeks
    plain = [*merged_keys[:-1], merged_keys[-1] - side]
    starts = differs_from_previous(plain)
    # Of rows that have the same key, which stand in any order, the last one has summed up all differences.
    followed = ~seeks[1:] & ~starts[1:]
    last = ~(seeks | concatenate([followed, seeks[:1] & False]))
    known = slots.taken_apart(merged, seeks, seeks | last if keeps else seeks)
    # The last row that has a key is of this key if one is, and what it has is summed up by now.
    found = running(starts, ~seeks, either) & known.sums[has_key] & known.values[seek_place]
    arrived = {
        name: many[name].with_tensors([known.values[place] for place in places])
        for name, places in many_places.items()
    }
    if matched:
        # A key that is found isn't null.
        for name in theirs:
            arrived[name] = arrived[name].bare()
    return _Merged(
        order=order,
        ascends=not any(nulls),
        ends_with_one=unique,
        keys=plain,
        seeks=seeks,
        last=last,
        found=found,
        starts=starts,
        alone={
            name: alone[name].with_tensors([known.sums[place] for place in places])
            for name, places in alone_places.items()
        },
        alone_valid=known.sums[counts],
        many=arrived,
        many_valid=known.values[valid_place],
    )


def _above(first: list[Tensor], second: list[Tensor]) -> list[Tensor]:
    return [concatenate([a, b]) for a, b in zip(first, second, strict=True)]


def _pair_order(alone: Table, many: Table, pairs: dict[str, str]) -> tuple[list[tuple[str, str]], bool]:
    """The pairs of columns in the order that they are sorted by, and whether the first table is in it."""
    order = [(name, pairs[name]) for name in _prefix(alone.facts.order, pairs)]
    # A row that doesn't count may have another value in what comes behind.
    if len(order) == len(pairs) and alone.facts.ends_with_one(len(order)):
        return order, True
    back = {there: here for here, there in pairs.items()}
    order = [(back[name], name) for name in _prefix(many.facts.order, back)]
    return [*order, *(pair for pair in pairs.items() if pair not in order)], False


def _prefix(order: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """The first columns of an order that are among some."""
    return list(itertools.takewhile(lambda name: name in names, order))


def _common(alone: Table, many: Table, order: list[tuple[str, str]]) -> tuple[list[Column], list[Column]]:
    """Key columns of both tables in common types."""
    first: list[Column] = []
    second: list[Column] = []
    for here, there in order:
        a, b = alone[here], many[there]
        x, y, kind, places, words = aligned("a join", a, b)
        for columns, own, parts in ((first, a, x), (second, b, y)):
            if kind == "text":
                columns.append(Column(own.type, parts, own.valid))
            else:
                columns.append(made(kind, parts[0], places=places, valid=own.valid, words=words))
    return first, second


def _key_words(columns: list[Column], nullable: bool) -> list[tuple[Tensor, int, int]]:
    """What keys are ordered by, with its range; where there may be nulls, a null is a key of its own."""
    words = []
    for column in columns:
        beside = column.parts[0]
        if nullable:
            null = beside != beside if column.valid is None else ~column.valid
            words.append((null + 0, 0, 1))
        for part in column.parts:
            raw = part + 0 if part.dtype.kind == "bool" else part._made(part._at().raw_as(part._id, 0))
            low, high = raw._kind.low, raw._kind.high
            filled = raw if not nullable or column.valid is None else where(column.valid, raw, low)
            words.append((filled, low, high))
    return words


def _same_spans(first: Any, second: Any) -> tuple[list[Any], list[Any]]:
    """Words from 0 on, and how many there are, the same in both tables."""
    results: tuple[list[Any], list[Any]] = ([], [])
    for (a, a_low, a_high), (b, b_low, b_high) in zip(first, second, strict=True):
        low, high = min(a_low, b_low), max(a_high, b_high)
        for result, word in zip(results, (a, b), strict=True):
            result.append((word - low, high - low + 1))
    return results


def _narrowed(table: Table, merged: _Merged, order: list[str], rows: int) -> Table:
    """Without the places that the table of different keys took, where they are worth it."""
    if 4 * (len(table) - rows) <= len(table):
        table.blocks = tuple(order), merged.starts
        return table
    _, kept = compact(merged.seeks, table.tensors(), rows)
    facts = replace(
        table.facts,
        order=tuple(order) if merged.ascends else (),
        last=len(order) if merged.ends_with_one else None,
    )
    return table.with_tensors(kept, facts)


def _facts(
    left: Table, right: Table, pairs: dict[str, str], how: str, names: dict[str, str], *, alone_is_left: bool
) -> Facts:
    """What is known of the result."""
    same = {there: here for here, there in pairs.items() if there == here}
    there = {**names, **same} if how in ("inner", "left") else {}
    other = right.facts.renamed(there)
    mine = left.facts
    # Nulls are one more value.
    more = [(key, count + (how == "left")) for key, count in other.bounds.items()]
    bounds = least([*mine.bounds.items(), *more])
    determines, equal = mine.determines, mine.equal
    if how in ("inner", "left"):
        equal += other.equal
        if how == "inner":
            # With nulls where nothing matches, what follows from a null may be anything.
            determines += other.determines
            equal += tuple(frozenset((here, names[name])) for here, name in pairs.items() if name in names)
        if not alone_is_left:
            then = frozenset(there[name] for name in right.columns if name in there)
            determines += ((frozenset(pairs), then),)
    if how in ("inner", "left") and alone_is_left:
        unique = other.unique if how == "inner" else frozenset()
    else:
        unique = mine.unique
    return Facts(unique=unique, bounds=bounds, determines=determines, equal=equal)
