"""What `x[key] = value` makes of a tensor, for keys that are public, secret, or both."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from tacit._functions import concatenate, stack, where
from tacit._index import is_plain
from tacit._keys import expanded, hot, in_rows, indexed, row_by_row
from tacit._location import fault
from tacit._selection import Selection
from tacit._tensor import Tensor, known_value
from tacit.errors import ProgramError, ProgramTypeError, SecretError

if TYPE_CHECKING:
    from collections.abc import Sequence


def assigned(a: Tensor, key: Any, value: Any) -> Tensor:
    """`a` with `value` at `key`, in the type of `a`.

    What is public costs nothing. A secret integer costs a comparison with each place of its axis, of long
    ones by two digits, and a choice for each element along it; one that is outside changes nothing. Several
    in one array count one after another, so that of equal ones the last one stays. A secret mask costs a
    choice for each element.

    Raises:
        ProgramTypeError: The value is of a type that `a` doesn't hold, or the key is none.
        ProgramError: The value doesn't fit.
        SecretError: The value is as long as a secret mask selects, which nobody knows.
    """
    entries = key if isinstance(key, tuple) else (key,)
    if isinstance(value, Selection):
        return _where_selected(a, key, value)
    given = _as_type_of(a, value)
    if not any(isinstance(entry, Tensor) for entry in entries):
        return _at_public(a, entries, given)
    if len(entries) == 1 and entries[0].dtype.kind == "int" and entries[0].ndim:
        return _at_several(a, entries[0], given)
    places = row_by_row(entries) if a.ndim > 1 else None
    if places is not None:
        return _row_by_row(a, places, entries[1], given)
    public, secrets = expanded(a, entries)
    block = indexed(a, public)
    gone = [axis for axis, entry in secrets if entry.dtype.kind == "int"]
    wanted = tuple(length for axis, length in enumerate(block.shape) if axis not in gone)
    masks = [axis for axis, entry in secrets if entry.dtype.kind == "bool"]
    kept = wanted
    if masks:
        # As many elements as a mask selects are given by one for all of them.
        first = masks[0] - sum(axis < masks[0] for axis in gone)
        count = dict(secrets)[masks[0]].ndim
        kept = (*wanted[:first], *(1,) * count, *wanted[first + count :])
        short = (*wanted[:first], 1, *wanted[first + count :])
        given = _fitted(given, short, hidden=True).reshape(*kept)
    spread = _fitted(given, kept).broadcast_to(wanted)
    for axis in gone:
        spread = spread.reshape(*spread.shape[:axis], 1, *spread.shape[axis:])
    chosen = None
    for axis, entry in secrets:
        one = hot(entry, block.shape[axis]) if entry.dtype.kind == "int" else entry
        one = one.reshape(*one.shape, *(1,) * (block.ndim - axis - one.ndim))
        chosen = one if chosen is None else chosen & one
    assert chosen is not None
    return _at_public(a, public, where(chosen, spread.broadcast_to(block.shape), block))


def scattered(a: Tensor, value: Tensor, places: Any) -> Tensor:
    """`a` with the elements of `value` at public places in row-major order, of equal ones the last."""
    import numpy as np

    from tacit._moved import taken

    order = np.arange(a.size)
    order[places.ravel()] = a.size + np.arange(places.size)
    both = concatenate([a.reshape(-1), value.reshape(-1)])
    return taken(both, order.reshape(a.shape))


def _at_public(a: Tensor, entries: Sequence[Any], value: Tensor) -> Tensor:
    import numpy as np

    places = np.arange(a.size).reshape(a.shape)
    try:
        chosen = np.asarray(places[tuple(entries)])
    except (IndexError, ValueError) as error:
        raise fault(ProgramError, str(error)) from None
    if not chosen.size:
        return a
    spread = _fitted(value, chosen.shape).broadcast_to(chosen.shape)
    whole = _in_blocks(a, entries, spread)
    return scattered(a, spread, chosen) if whole is None else whole


def _in_blocks(a: Tensor, entries: Sequence[Any], value: Tensor) -> Tensor | None:
    """`a` put together of few pieces, if the key is of integers and slices without steps."""
    if not all(is_plain(entry) and entry is not None for entry in entries):
        return None
    named = sum(entry is not ... for entry in entries)
    rest: list[Any] = [slice(None)] * (a.ndim - named)
    at = next((place for place, entry in enumerate(entries) if entry is ...), len(entries))
    spans = []
    for entry, length in zip([*entries[:at], *rest, *entries[at + 1 :]], a.shape, strict=True):
        if isinstance(entry, slice):
            start, stop, step = entry.indices(length)
            if step != 1:
                return None
        else:
            start = operator.index(entry) % length
            stop = start + 1
        spans.append((start, stop))
    piece = value.reshape(*(stop - start for start, stop in spans)) if spans else value
    for axis in reversed(range(len(spans))):
        around = tuple(slice(*span) for span in spans[:axis])
        start, stop = spans[axis]
        parts = [piece]
        if start:
            parts.insert(0, a[(*around, slice(None, start))])
        if stop < a.shape[axis]:
            parts.append(a[(*around, slice(stop, None))])
        piece = concatenate(parts, axis=axis) if len(parts) > 1 else piece
    return piece


def _at_several(a: Tensor, index: Tensor, value: Tensor) -> Tensor:
    """`a[index] = value` for an array of secret integers."""
    if not a.shape:
        raise fault(ProgramError, "a value without axes has no elements to choose from")
    length, rest = a.shape[0], a.shape[1:]
    wanted = (*index.shape, *rest)
    flat = index.reshape(-1)
    values = _fitted(value, wanted).broadcast_to(wanted).reshape(flat.size, 1, *rest)
    values = values.broadcast_to((flat.size, length, *rest))
    chosen = hot(flat, length)
    ones = (1,) * len(rest)
    while chosen.shape[0] > 1:
        # Of two neighbours the later one counts, where both are the same place.
        pairs = chosen.shape[0] // 2 * 2
        later = chosen[1:pairs:2]
        made = where(later.reshape(*later.shape, *ones), values[1:pairs:2], values[0:pairs:2])
        joined = later | chosen[0:pairs:2]
        odd = chosen.shape[0] > pairs
        values = concatenate([made, values[pairs:]]) if odd else made
        chosen = concatenate([joined, chosen[pairs:]]) if odd else joined
    return where(chosen[0].reshape(length, *ones), values[0], a)


def _row_by_row(a: Tensor, places: Any, index: Tensor, value: Tensor) -> Tensor:
    """`a[places, index] = value`, for public rows that are all different."""
    import numpy as np

    if np.unique(places % a.shape[0]).size < places.size:
        raise fault(ProgramError, "a row comes twice among public places beside secret ones", "write twice")
    rows = a[places]
    wanted = (*index.shape, *a.shape[2:])
    spread = _fitted(value, wanted).broadcast_to(wanted)
    spread = spread.reshape(*index.shape, 1, *a.shape[2:]).broadcast_to(rows.shape)
    return _at_public(a, [places], where(in_rows(rows, index), spread, rows))


def _where_selected(a: Tensor, key: Any, value: Selection) -> Tensor:
    if not isinstance(key, Tensor) or key._id != value._key:
        raise fault(
            SecretError,
            "what a secret mask selects goes only where the same mask does",
            "give the mask a name: m = x > 0, and then a[m] = b[m]",
        )
    return where(value._spread(), _as_type_of(a, value._tensor), a.reshape(*value._tensor.shape)).reshape(
        *a.shape
    )


def _as_type_of(a: Tensor, value: Any) -> Tensor:
    """A value in the type of `a`, as NumPy's arrays keep theirs."""
    if isinstance(value, (list, tuple)) and any(isinstance(one, Tensor) for one in value):
        value = stack(value)
    if not isinstance(value, Tensor):
        known = known_value(value)
        if a.dtype.kind == "bool" and not _are_bools(known):
            raise _other_type(a, "numbers", "give True or False")
        return a._made(a._operand(known))
    ours, theirs = a.dtype.kind, value.dtype.kind
    if ours in ("int", "fixed") and theirs == "bool":
        value = value + 0
    elif ours == "fixed" and theirs == "int":
        value = value.astype(a.dtype)
    elif ours == "int" and theirs == "fixed":
        raise _other_type(a, str(value.dtype), "make it fixed point first, x = x.astype(tacit.fixed(16))")
    elif ours != theirs:
        raise _other_type(a, str(value.dtype), f"convert the value with v.astype({a.dtype})")
    made: Tensor = value
    return made.astype(a.dtype) if ours == "fixed" and made.dtype != a.dtype else made


def _other_type(a: Tensor, what: str, hint: str) -> ProgramTypeError:
    return fault(ProgramTypeError, f"a tensor of {a.dtype} can't take {what}", hint)


def _are_bools(known: Any) -> bool:
    return isinstance(known, bool) or getattr(getattr(known, "dtype", None), "kind", "") == "b"


def _fitted(value: Tensor, shape: tuple[int, ...], *, hidden: bool = False) -> Tensor:
    """A value that goes to elements of a shape, without axes of length 1 that it has too many."""
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value.reshape(*value.shape[1:])
    pairs = zip(reversed(value.shape), reversed(shape), strict=False)
    if value.ndim <= len(shape) and all(own in (1, length) for own, length in pairs):
        return value if not hidden else value.broadcast_to(shape)
    if hidden:
        raise fault(
            SecretError,
            f"a secret mask selects a number of elements that nobody knows, and {value.shape} are given",
            "give one for all, or x[mask] = y[mask] for a y of the shape of x",
        )
    raise fault(ProgramError, f"a value of shape {value.shape} doesn't fit elements of shape {shape}")
