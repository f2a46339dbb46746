"""From what a caller gives to a value for each input of a plan."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from tacit._handles import Unknown
from tacit._plan import ALL
from tacit._values import is_float, public, shape_of
from tacit.errors import InputError
from tacit.tables.given import titles, with_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit._plan import Input
    from tacit._values import Public
    from tacit.tables.schema import Schema


def assigned(
    inputs: Sequence[Input], given: dict[str, Any], tables: Sequence[Schema] = ()
) -> list[Public | None]:
    """A value for each input, or `None` where there is none. See `Runner.__call__` for the ways to give them.

    Raises:
        InputError: A name is unknown or ambiguous, an input is given twice or too many are, or a value is no
            array of the declared shape and type. Ranges are for the core to check.
    """
    if tables:
        given = with_tables(inputs, tables, given)
    values: list[Public | None] = [None] * len(inputs)
    for key, value in given.items():
        if _is_owner(inputs, key, value):
            places = _of_owner(inputs, key, value)
        else:
            places = _by_name(inputs, tables, key, value)
        for place, one in places:
            if values[place] is not None:
                raise InputError(f"{_title(inputs[place])} is given twice")
            values[place] = _fitting(inputs[place], one)
    return values


def _is_owner(inputs: Sequence[Input], key: str, value: Any) -> bool:
    """Whether a key stands for an owner. Where an input has the name too, it stands for that input.

    But a dict has the inputs of an owner by name; and where the input is the owner's, a list that has a
    fitting value for each of the owner's inputs isn't the value of one.
    """
    own = [declared for declared in inputs if declared.owner == key]
    named = [declared for declared in inputs if declared.name == key]
    if not own or not named or type(value) is dict:
        return bool(own)
    if type(value) not in (list, tuple) or len(value) != len(own) or any(one not in own for one in named):
        return False
    return all(_has_shape(one, item) for one, item in zip(own, value, strict=True))


def _has_shape(declared: Input, value: Any) -> bool:
    try:
        return shape_of(public(value)) == declared.shape
    except TypeError:
        return False


def _of_owner(inputs: Sequence[Input], owner: str, value: Any) -> list[tuple[int, Any]]:
    """The inputs that an owner gives, by place."""
    own = [place for place, declared in enumerate(inputs) if declared.owner == owner]
    names = [inputs[place].name for place in own]
    if type(value) is dict:
        unknown = [name for name in value if name not in names]
        if unknown:
            raise InputError(f"{owner} gives no {unknown[0]!r}; {owner} gives {', '.join(names)}")
        return [(place, value[inputs[place].name]) for place in own if inputs[place].name in value]
    if type(value) not in (list, tuple):
        if len(own) == 1:
            return [(own[0], value)]
        raise InputError(f"{owner} gives {len(own)} inputs: pass {owner}=[{', '.join(names)}]")
    if len(value) != len(own):
        raise InputError(
            f"{owner} gives {len(own)} input{'s' * (len(own) != 1)} ({', '.join(names)}), and the list has "
            f"{len(value)}: pass {owner}=[{', '.join(names)}], one value for each input"
        )
    return list(zip(own, value, strict=True))


def _by_name(
    inputs: Sequence[Input], tables: Sequence[Schema], name: str, value: Any
) -> list[tuple[int, Any]]:
    """The input of a name."""
    places = [place for place, declared in enumerate(inputs) if declared.name == name]
    if not places:
        known = ", ".join(titles(inputs, tables))
        raise InputError(f"the plan has no input and no owner called {name!r}; its inputs are {known}")
    if len(places) > 1:
        owners = " and ".join(inputs[place].owner for place in places)
        raise InputError(f"{owners} each give an input called {name!r}: pass them by owner")
    return [(places[0], value)]


def _fitting(declared: Input, value: Any) -> Public:
    """A value of the declared shape and kind."""
    import numpy as np

    title = _title(declared)
    if isinstance(value, (str, PurePath)):
        path = str(value)
        raise InputError(f"{title}: an array is needed here, not a path: give np.load({path!r})")
    if isinstance(value, Unknown):
        raise InputError(f"{title}: a value is needed here, not {value!r}")
    try:
        known = public(value)
    except TypeError as error:
        raise InputError(f"{title}: {error}") from None
    if shape_of(known) != declared.shape:
        raise InputError(f"{title}: the value has shape {shape_of(known)}, and {declared.shape} is declared")
    dtype = declared.dtype
    is_whole = dtype.kind in ("int", "modular", "field")
    if is_whole and is_float(known) and (missing := np.argwhere(np.isnan(known))).size:
        place = missing[0].tolist()
        raise InputError(
            f"{title}: element {place} is NaN, a missing value, and {_integers(declared)} are declared; fill "
            "them in, for example with x.fillna(0).astype(int), or leave them out with x.dropna()"
        )
    found = {"b": "bools", "f": "floating-point numbers"}.get(_kind(known), "integers")
    given = getattr(value, "dtype", None)
    found += "" if given is None else f" ({given})"
    if _kind(known) not in ("iuO" if is_whole else {"bool": "b", "fixed": "iuf"}[dtype.kind]):
        convert = "x.astype(int)" if is_whole else {"bool": "x != 0", "fixed": "x.astype(float)"}[dtype.kind]
        wanted = f"{_integers(declared)} are" if is_whole else f"{dtype} is"
        raise InputError(
            f"{title}: {found} where {wanted} declared; convert them, for example with {convert}"
        )
    return known


def _integers(declared: Input) -> str:
    """What integers are declared: the narrowest type that holds them isn't what the user said."""
    low, high = declared.range
    return f"integers from {low} to {high}"


def _kind(value: Public) -> str:
    if isinstance(value, bool):
        return "b"
    if isinstance(value, (int, float)):
        return "i" if isinstance(value, int) else "f"
    return value.dtype.kind


def _title(declared: Input) -> str:
    if declared.owner == ALL:
        return f"public input {declared.name}"
    return f"input {declared.name} of {declared.owner}"
