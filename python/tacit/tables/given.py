"""From tables that owners give to the inputs of a plan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tacit._plan import ALL
from tacit._values import public
from tacit.errors import InputError
from tacit.tables.encode import encoded
from tacit.tables.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tacit._plan import Input
    from tacit._values import Public


def with_tables(inputs: Sequence[Input], tables: Sequence[Schema], given: dict[str, Any]) -> dict[str, Any]:
    """What is given, with inputs by name in the place of tables, owner by owner.

    Raises:
        InputError: A table doesn't fit its schema, or it isn't clear which one is meant.
    """
    made: dict[str, Any] = {}
    columns = {name: schema for schema in tables for name in schema.inputs()}
    for key, value in given.items():
        if key in columns:
            # Rows are checked and put in order as wholes.
            name = columns[key].name
            raise InputError(f"{key} is an array of the table {name}: give the table, {name}=frame")
        others = [one for one in inputs if one.name == key and one.owner != key]
        is_elsewhere = any(schema.name == key and schema.owner != key for schema in tables)
        own = [schema for schema in tables if schema.owner == key and not is_elsewhere]
        named = [schema for schema in tables if schema.name == key]
        if own and len(others) == 1:
            _merge(made, others[0].owner, {key: value})
        elif own:
            _merge(made, key, _of_owner(inputs, own, key, value))
        elif len(named) == 1:
            _merge(made, named[0].owner, encoded(named[0], value))
        elif named:
            owners = " and ".join(schema.owner for schema in named)
            raise InputError(f"{owners} each give a table called {key!r}: pass them by owner")
        else:
            made[key] = value
    return made


def titles(inputs: Sequence[Input], tables: Sequence[Schema]) -> list[str]:
    """What inputs are called, with tables as wholes."""
    table_of = {name: schema for schema in tables for name in schema.inputs()}
    names = (
        f"table {table_of[one.name].name} of {one.owner}"
        if one.name in table_of
        else f"{one.name} of {'all parties' if one.owner == ALL else one.owner}"
        for one in inputs
    )
    return list(dict.fromkeys(names))


def read_for(structure: str, name: str, path: Path) -> list[tuple[str, Public]]:
    """The inputs that a table of a saved plan is given by, by owner and name, from a file.

    Raises:
        InputError: The plan has no such table, or what is in the file doesn't fit it.
    """
    try:
        schemas = [Schema.from_json(known) for known in json.loads(structure).get("tables", ())]
    except (ValueError, AttributeError) as error:
        raise InputError(f"the plan's tables are damaged: {error}") from None
    found = [schema for schema in schemas if name in (schema.name, f"{schema.owner}.{schema.name}")]
    if len(found) != 1:
        known = ", ".join(f"{schema.owner}.{schema.name}" for schema in schemas) or "none"
        why = "several tables" if found else "no table"
        hint = "" if found else "; an array is read from a NumPy file (.npy, np.save)"
        raise InputError(f"{path}: the plan has {why} called {name!r}; its tables are: {known}{hint}")
    (schema,) = found
    arrays = encoded(schema, path)
    return [(f"{schema.owner}.{one}", public(array)) for one, array in arrays.items()]


def _merge(made: dict[str, Any], owner: str, more: dict[str, Any]) -> None:
    known = made.setdefault(owner, {})
    twice = [name for name in more if name in known]
    if twice:
        raise InputError(f"{twice[0].partition('#')[0]} of {owner} is given twice")
    known.update(more)


def _of_owner(inputs: Sequence[Input], own: Sequence[Schema], owner: str, value: Any) -> dict[str, Any]:
    """The inputs that an owner of tables gives, by name."""
    of_tables = {name for schema in own for name in schema.inputs()}
    plain = [one.name for one in inputs if one.owner == owner and one.name not in of_tables]
    schemas = {schema.name: schema for schema in own}
    order = _order(inputs, own, owner)
    if type(value) is dict and value and all(name in schemas or name in plain for name in value):
        items = value
    elif type(value) in (list, tuple):
        if len(value) != len(order):
            raise InputError(
                f"{owner} gives {', '.join(order)}, and the list has {len(value)}: one for each is needed"
            )
        items = dict(zip(order, value, strict=True))
    elif len(order) == 1:
        items = {order[0]: value}
    else:
        raise InputError(f"{owner} gives several: pass {owner}=[{', '.join(order)}], or each by its name")
    made: dict[str, Any] = {}
    for name, one in items.items():
        made.update(encoded(schemas[name], one) if name in schemas else {name: one})
    return made


def _order(inputs: Sequence[Input], own: Sequence[Schema], owner: str) -> list[str]:
    """Tables and other inputs of an owner, as they come in."""
    table_of = {name: schema.name for schema in own for name in schema.inputs()}
    names = [table_of.get(one.name, one.name) for one in inputs if one.owner == owner]
    return list(dict.fromkeys(names))
