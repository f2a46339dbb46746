"""Nested tuples, lists and dicts: taken apart when a function is traced, put together for its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from tacit._values import a

if TYPE_CHECKING:
    from collections.abc import Callable

Structure: TypeAlias = dict[str, Any]
"""What a function returns, as JSON can hold it: `{"tuple": [...]}`, `{"list": [...]}`,
`{"dict": [[key, ...], ...]}`, `{"outputs": [3]}` for what is revealed, `{"value": 5}` for what is public, as
is `{"array": [5, 6], "dtype": "<i8", "shape": [2]}`. A revealed table is a dict with a description as its
`"table"`. The whole has the schemas of all tables that come in as its `"tables"`."""

_PLAIN = (str, bool, int, float, type(None))

_DAMAGED = "the structure of the results is damaged"

_ELEMENTS = "biufU"
"""Kinds of public arrays that can be returned."""


def apart(value: object, leaf: Callable[[object], Structure | None]) -> Structure:
    """The structure of a value; `leaf` gives that of what is revealed, or `None`.

    Raises:
        TypeError: There is something in it that can't be part of a result.
    """
    found = leaf(value)
    if found is not None:
        return found
    if type(value) is tuple or type(value) is list:
        return {type(value).__name__: [apart(item, leaf) for item in value]}
    if type(value) is dict:
        if not all(isinstance(key, (str, int)) for key in value):
            raise TypeError("the keys of a returned dict have to be strings or integers")
        return {"dict": [[key, apart(item, leaf)] for key, item in value.items()]}
    if isinstance(value, _PLAIN):
        return {"value": value}
    found = _of_numpy(value)
    if found is not None:
        return found
    raise TypeError(
        f"{a(value)} can't be part of what a traced function returns; "
        "return revealed values in tuples, lists and dicts"
    )


def _of_numpy(value: object) -> Structure | None:
    """The structure of a public array or number of NumPy's, if it is one."""
    import numpy as np

    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in _ELEMENTS:
        return None
    if isinstance(value, np.generic):
        return {"value": value.item()}
    return {"array": value.ravel().tolist(), "dtype": value.dtype.str, "shape": list(value.shape)}


def _array(elements: list[Any], dtype: object, shape: list[Any]) -> Any:
    """The array of a structure."""
    import numpy as np

    try:
        known = np.dtype(str(dtype))
        if known.kind in _ELEMENTS:
            # Texts take the room of the longest: how long a file says that they are is of no account.
            return np.array(elements, dtype=np.str_ if known.kind == "U" else known).reshape(shape)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(_DAMAGED)


def together(structure: Structure, outputs: list[Any]) -> Any:
    """The value of a structure whose outputs are known; of several of one value, one that is not `None`.

    Raises:
        ValueError: The structure isn't one that `apart` makes, or names outputs that aren't there.
    """
    match structure:
        case {"outputs": [*numbers]} if numbers and all(
            type(n) is int and 0 <= n < len(outputs) for n in numbers
        ):
            return next((outputs[n] for n in numbers if outputs[n] is not None), None)
        case {"tuple": [*items]}:
            return tuple(together(item, outputs) for item in items)
        case {"list": [*items]}:
            return [together(item, outputs) for item in items]
        case {"table": description, "dict": [*pairs]} if all(map(_is_item, pairs)):
            from tacit.tables.decode import frame

            return frame(description, {key: together(item, outputs) for key, item in pairs})
        case {"dict": [*pairs]} if all(map(_is_item, pairs)):
            return {key: together(item, outputs) for key, item in pairs}
        case {"array": [*elements], "dtype": dtype, "shape": [*shape]}:
            return _array(elements, dtype, shape)
        case {"value": value} if isinstance(value, _PLAIN):
            return value
    raise ValueError(_DAMAGED)


def output_paths(structure: Structure) -> dict[int, str]:
    """Where each output stands in what a function returns: `["mean"]`, `[0]`, or "" if it is the whole."""
    paths: dict[int, str] = {}

    def walk(part: Structure, path: str) -> None:
        for number in part.get("outputs", ()):
            paths[number] = path
        for place, item in enumerate(part.get("tuple") or part.get("list") or ()):
            walk(item, f"{path}[{place}]")
        for key, item in part.get("dict", ()):
            walk(item, f"{path}[{key!r}]")

    walk(structure, "")
    return paths


def _is_item(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], (str, int))


def changed(value: object, change: Callable[[object, str], object], path: str) -> object:
    """A value in which every item of nested tuples, lists and dicts is changed; `change` is told its path."""
    if type(value) is tuple or type(value) is list:
        items = [changed(item, change, f"{path}[{place}]") for place, item in enumerate(value)]
        return tuple(items) if type(value) is tuple else items
    if type(value) is dict:
        return {key: changed(item, change, f"{path}[{key!r}]") for key, item in value.items()}
    return change(value, path)


def leaves(value: object) -> dict[str, Any]:
    """All items of nested tuples, lists and dicts, by path."""
    items: dict[str, Any] = {}

    def note(leaf: object, path: str) -> None:
        items[path] = leaf

    changed(value, note, "")
    return items


def in_order_of(model: object, value: object) -> list[Any] | None:
    """The items of a value in the order of another of the same structure; `None` if it is of another one.

    Dicts are the same in whatever order their keys were given.
    """

    def structure(of: object) -> object:
        return changed(of, lambda *_: None, "")

    if structure(model) != structure(value):
        return None
    items = leaves(value)
    return [items[path] for path in leaves(model)]
