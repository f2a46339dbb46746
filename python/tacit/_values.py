"""Public values as the core takes them: plain numbers, or contiguous arrays of five types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = (
        NDArray[np.bool_] | NDArray[np.int64] | NDArray[np.uint64] | NDArray[np.float64] | NDArray[np.object_]
    )
    Public: TypeAlias = bool | int | float | Array

_PLAIN = (bool, int, float)


def public(value: Any) -> Public:
    """A number, an array, nested lists, or a pandas Series or DataFrame, as a number or an array.

    Raises:
        TypeError: It is none of these, or holds something that isn't a number.
    """
    if type(value) in _PLAIN:
        return value  # type: ignore[no-any-return]
    import numpy as np

    if not isinstance(value, (np.ndarray, np.generic, list, tuple)):
        if not hasattr(value, "to_numpy"):
            raise TypeError(f"{a(value)} is not a number or an array of numbers")
        value = _from_pandas(value)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise TypeError(f"nested lists of different lengths make no array ({error})") from None
    if array.dtype.kind == "f" and isinstance(value, list | tuple):
        # NumPy makes floats of integers if some are above 2^63 and others aren't.
        exact = np.asarray(value, dtype=object)
        if exact.size and all(type(element) is int for element in exact.flat):
            array = exact
    match array.dtype.kind:
        case "b":
            array = array.astype(np.bool_)
        case "i":
            array = array.astype(np.int64)
        case "u":
            small = array.dtype.itemsize < 8 or not (array >> np.uint64(63)).any()
            array = array.astype(np.int64 if small else np.uint64)
        case "O" if all(type(element) is int for element in array.flat):
            array = _integers(array)
        case "f" if array.dtype.itemsize <= 8:
            array = array.astype(np.float64)
        case _:
            raise TypeError(_unsupported(array))
    if array.ndim == 0:
        return array.item()  # type: ignore[no-any-return]
    # What arithmetic on pandas columns and transposes leave behind may lie in any order.
    return np.ascontiguousarray(array)


_NULLABLE = {"i": "int64", "u": "int64", "f": "float64", "b": "bool"}
"""What a pandas type with NA becomes once there is none left, by the kind of its values."""


def _from_pandas(value: Any) -> Any:
    """The values of a Series or DataFrame, none of them missing.

    Raises:
        TypeError: There is an NA, which no type here holds.
    """
    columns = value.items() if hasattr(value, "columns") else [(getattr(value, "name", None), value)]
    for name, column in columns:
        if type(getattr(column.dtype, "na_value", None)).__name__ != "NAType":
            continue
        missing = column.isna().to_numpy()
        if missing.any():
            of = "" if name is None else f" {name!r}"
            raise TypeError(
                f"the column{of} of pandas dtype {column.dtype} has {missing.sum()} missing values (NA), the "
                f"first in row {missing.argmax()}: fill them with x.fillna(...), or leave them out with "
                "x.dropna()"
            )
    if hasattr(value, "dtype"):
        kind = getattr(value.dtype, "kind", "O")
        return value.to_numpy(dtype=_NULLABLE.get(kind)) if kind in _NULLABLE else value.to_numpy()
    return value.to_numpy()


def _unsupported(array: Any) -> str:
    """Why an array can't be taken, with what is in it."""
    if array.dtype.kind == "O":
        place, found = next(
            ((place, one) for place, one in enumerate(array.flat) if type(one) not in _PLAIN), (None, None)
        )
        if place is None:
            return "an array that mixes bools, integers and floats is not supported; convert it to float64"
        missing = found is None or type(found).__name__ in ("NAType", "NaTType")
        what = "a missing value" if missing else f"{found!r}, {a(found)}"
        hint = "fill it in or leave it out" if missing else "give numbers or bools"
        return f"element {place} is {what}, in an array of dtype object: {hint}"
    hints = {
        "M": "days as integers, x.astype('M8[D]').astype(int), say",
        "U": "a number for each word, pandas.Categorical(x).codes, say",
        "S": "a number for each word, pandas.Categorical(x).codes, say",
        "c": "real and imaginary parts apart, x.real and x.imag",
    }
    hint = hints.get(array.dtype.kind, "bool, integers or float64")
    return f"an array of dtype {array.dtype} is not supported; convert it to {hint}"


def _integers(array: Any) -> Any:
    """Python's integers as int64 or uint64 if all fit, else as they are."""
    import numpy as np

    for dtype in (np.int64, np.uint64):
        try:
            return array.astype(dtype)
        except OverflowError:
            continue
    if not all(0 <= element < 1 << 128 for element in array.flat):
        raise TypeError("an array of integers beyond 64 bits may hold those from 0 to 2**128 - 1 only")
    return array


def shape_of(value: Public) -> tuple[int, ...]:
    """The shape of a public value."""
    return () if isinstance(value, _PLAIN) else value.shape


def is_float(value: Public) -> bool:
    """Whether a public value has floating-point elements."""
    return isinstance(value, float) if isinstance(value, _PLAIN) else value.dtype.kind == "f"


def a(value: object) -> str:
    """What something is, with its article: "an ndarray"."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
