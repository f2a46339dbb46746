"""Secrets put beside, between and into others at public places, and sums at secret ones."""

from __future__ import annotations

from typing import Any

from tacit._functions import array_of, concatenate, together, where
from tacit._keys import hot
from tacit._location import fault
from tacit._tensor import Tensor, binary, matmul, multiply, tensor_of
from tacit.errors import ProgramError, ProgramTypeError


def insert(arr: Any, obj: int, values: Any, axis: int | None = None) -> Tensor:
    """`arr` with values before a public place, along an axis or in a row of all."""
    import numpy as np

    one, new = (array_of(value) for value in (arr, values))
    if axis is None:
        one, new, axis = one.reshape(-1), new.reshape(-1), 0
    axis = axis % one.ndim
    if new.ndim < one.ndim:
        shape = [*one.shape[:axis], 1, *one.shape[axis + 1 :]]
        whole = np.broadcast_to(new.reshape(*new.shape[:axis], 1, *new.shape[axis:]), shape)
        new = whole.copy()
    before: tuple[slice, ...] = (slice(None),) * axis
    place = int(obj) + (one.shape[axis] if obj < 0 else 0)
    if not 0 <= place <= one.shape[axis]:
        raise fault(ProgramError, f"np.insert at {obj} of {one.shape[axis]} places")
    first = [one[(*before, slice(None, place))]] if place else []
    last = [one[(*before, slice(place, None))]] if place < one.shape[axis] else []
    return concatenate([*first, new, *last], axis)


def pad(array: Tensor, pad_width: Any, mode: str = "constant", constant_values: float = 0) -> Tensor:
    """`array` among public constants."""
    import numpy as np

    if mode != "constant":
        raise fault(ProgramTypeError, f"np.pad with mode={mode!r}", "secrets are padded by constants")
    around = np.broadcast_to(pad_width, (array.ndim, 2))
    shape = [length + int(both.sum()) for length, both in zip(array.shape, around, strict=True)]
    made = np.full_like(together([array, constant_values])[0], constant_values, shape=shape)
    inside = zip(array.shape, around, strict=True)
    made[tuple(slice(int(first), int(first) + length) for length, (first, _) in inside)] = array
    return tensor_of(made)


def kron(a: Any, b: Any) -> Tensor:
    """All products of two tensors' elements, in blocks."""
    one, other = (array_of(value) for value in (a, b))
    ndim = max(one.ndim, other.ndim)
    rows, columns = ((*(1,) * (ndim - value.ndim), *value.shape) for value in (one, other))
    product = multiply(
        one.reshape(*(length for own in rows for length in (own, 1))),
        other.reshape(*(length for own in columns for length in (1, own))),
    )
    return product.reshape(*(a * b for a, b in zip(rows, columns, strict=True)))


def choose(a: Tensor, choices: Any) -> Tensor:
    """Of each place the element of the choice that the index there says; the last one beyond."""
    made = choices[-1]
    for number in reversed(range(len(choices) - 1)):
        made = where(tensor_of(a) == number, choices[number], made)
    return tensor_of(made)


def add_at(a: Any, indices: Any, b: Any) -> None:
    """`np.add.at`: adds each value to the element at its index, public or secret, as often as it comes."""
    import numpy as np

    if not isinstance(a, Tensor) or a.ndim != 1 or isinstance(indices, tuple):
        raise fault(
            ProgramTypeError,
            "np.add.at adds to a secret row, by one array of indices",
            "start from np.zeros_like(x, shape=5) instead of np.zeros(5)",
        )
    if isinstance(indices, Tensor):
        chosen: Any = hot(indices.reshape(-1), a.size)
    else:
        chosen = np.asarray(indices).reshape(-1, 1) % a.size == np.arange(a.size)
    shape = chosen.shape[:1]
    if not isinstance(b, Tensor) and np.ndim(b) == 0 and isinstance(chosen, Tensor):
        a[...] = a + multiply(chosen.sum(axis=0), b)
        return
    values = b.reshape(-1) if isinstance(b, Tensor) else np.asarray(b).reshape(-1)
    values = values.broadcast_to(shape) if isinstance(values, Tensor) else np.broadcast_to(values, shape)
    weights = chosen + 0 if isinstance(chosen, Tensor) else chosen.astype(np.int64)
    a[...] = binary(
        "add",
        a,
        matmul(values, weights)
        if isinstance(values, Tensor) or isinstance(weights, Tensor)
        else values @ weights,
    )


def diag(v: Tensor, k: int = 0) -> Tensor:
    """A matrix with a row as its diagonal, or the diagonal of a matrix: a view that can't be changed."""
    import numpy as np

    from tacit._moved import moved

    if v.ndim == 2:
        return v._viewed(moved(v, lambda places: np.diag(places, k)), lambda one: np.diag(one, k))
    if v.ndim != 1:
        raise fault(ProgramError, f"np.diag of a tensor of shape {v.shape}", "give a row or a matrix")
    length = v.size + abs(k)
    made: Any = np.zeros_like(v, shape=(length, length))
    rows = np.arange(v.size) + max(-k, 0)
    made[rows, rows + k] = v
    return tensor_of(made)


def three_axes(value: Any) -> Any:
    """What `np.dstack` puts behind one another."""
    one = array_of(value)
    if one.ndim < 2:
        return one.reshape(1, -1, 1)
    return one.reshape(*one.shape, 1) if one.ndim == 2 else one
