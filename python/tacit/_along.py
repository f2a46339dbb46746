"""Products along axes, and what is made of rows, blocks and pieces."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit._functions import array_of, joined, ravel, stack, where
from tacit._location import fault
from tacit._tensor import Tensor, matmul, multiply, tensor_of
from tacit.errors import ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """The sum of products over some axes of both: one matrix product."""
    a, b = array_of(a), array_of(b)
    if isinstance(axes, int):
        left, right = [*range(a.ndim - axes, a.ndim)], [*range(axes)]
    else:
        left, right = (
            [place % value.ndim for place in np.atleast_1d(one).tolist()]
            for value, one in zip((a, b), axes, strict=True)
        )
    if [a.shape[place] for place in left] != [b.shape[place] for place in right]:
        raise fault(
            ProgramError,
            f"axes {left} of shape {a.shape} and {right} of {b.shape} don't go together",
            "axes=1 is the last axis of the first with the first one of the second",
        )
    rows = [place for place in range(a.ndim) if place not in left]
    columns = [place for place in range(b.ndim) if place not in right]
    length = int(np.prod([a.shape[place] for place in left], dtype=int))
    made = matmul(
        a.transpose(*rows, *left).reshape(-1, length), b.transpose(*right, *columns).reshape(length, -1)
    )
    return made.reshape(*(a.shape[place] for place in rows), *(b.shape[place] for place in columns))


def multi_dot(arrays: Sequence[Any]) -> Tensor:
    """The product of matrices from left to right, each entry of each product rounded once."""
    made: Tensor = functools.reduce(matmul, map(array_of, arrays))
    return made


def matrix_power(a: Tensor, n: int) -> Tensor:
    """The product of `n` matrices like this one, by squaring; each entry of each product is rounded once."""
    import numpy as np

    power = operator.index(n)
    if power < 0 or a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise fault(
            ProgramError,
            f"the power {power} of a matrix of shape {a.shape}",
            "powers from 0 on are of square matrices",
        )
    if not power:
        one: Tensor = a * 0 + np.eye(a.shape[-1], dtype=int)
        return one
    made = None
    while True:
        if power & 1:
            made = a if made is None else matmul(made, a)
        power >>= 1
        if not power:
            return made.copy() if made is not None else a
        a = matmul(a, a)


def cross(a: Any, b: Any) -> Tensor:
    """The cross product of vectors of three along the last axes."""
    a, b = array_of(a), array_of(b)
    if a.shape[-1:] != (3,) or b.shape[-1:] != (3,):
        raise fault(
            ProgramError,
            f"cross products are of three numbers each, not of {a.shape} and {b.shape}",
            "the last axes have length 3",
        )
    after, before = [1, 2, 0], [2, 0, 1]
    return multiply(a[..., after], b[..., before]) - multiply(a[..., before], b[..., after])


def meshgrid(*values: Any, indexing: str = "xy") -> tuple[Any, ...]:
    """Each vector along an axis of its own, repeated along the others'. Free."""
    rows = [ravel(value) for value in values]
    order = [*range(len(rows))]
    if indexing == "xy":
        order[:2] = order[:2][::-1]
    shape = [rows[place].shape[0] for place in order]
    made = []
    for place, row in enumerate(rows):
        column = row.reshape(*(-1 if one == place else 1 for one in order))
        made.append(np.broadcast_to(column, shape).copy())
    return tuple(made)


def block(arrays: Any) -> Tensor:
    """Nested lists of blocks as one array. Free."""

    def depth(value: Any) -> int:
        return 1 + depth(value[0]) if isinstance(value, list) else 0

    def widest(value: Any) -> int:
        return max(map(widest, value)) if isinstance(value, list) else array_of(value).ndim

    levels = depth(arrays)
    ndim = max(levels, widest(arrays))

    def built(value: Any, left: int) -> Any:
        if isinstance(value, list):
            parts = [built(one, left - 1) for one in value]
            return joined(parts, ndim - left)
        one = array_of(value)
        return one.reshape(*(1,) * (ndim - one.ndim), *one.shape)

    made: Tensor = built(arrays, levels)
    return made


def apply_along_axis(function: Callable[..., Any], axis: int, a: Tensor, *others: Any, **options: Any) -> Any:
    """What a function makes of each row along an axis, in that row's place."""
    axis = axis % a.ndim
    moved: Any = np.moveaxis
    rows = moved(a, axis, -1)
    made = stack([function(row, *others, **options) for row in rows.reshape(-1, rows.shape[-1])])
    inner = made.ndim - 1
    whole = made.reshape(*rows.shape[:-1], *made.shape[1:])
    return moved(whole, [*range(-inner, 0)], [*range(axis, axis + inner)]) if inner else whole


def piecewise(x: Tensor, conditions: Any, functions: Sequence[Any], *others: Any) -> Any:
    """Of each element what the last condition that holds says; all functions are computed of all elements."""
    given = [*conditions] if isinstance(conditions, (list, tuple)) else [conditions]
    values = [one(x, *others) if callable(one) else one for one in functions]
    if len(values) not in (len(given), len(given) + 1):
        raise fault(
            ProgramError,
            f"{len(values)} functions for {len(given)} conditions",
            "one for each, and one for the rest",
        )
    made = values[len(given)] if len(values) > len(given) else tensor_of(x) * 0
    for condition, value in zip(given, values, strict=False):
        made = where(condition, value, made)
    return made
