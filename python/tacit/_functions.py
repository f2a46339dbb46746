"""Functions of secret tensors. All take numbers, arrays and lists, which are public, beside tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from tacit import _endless
from tacit._tensor import Tensor, binary, is_list_of_secrets, known_value, matmul, tensor_of
from tacit._values import is_float, shape_of
from tacit.dtypes import fixed


def where(condition: Any, a: Any, b: Any) -> Tensor:
    """`a` where the condition holds, else `b`, elementwise and broadcast: what to use instead of `if`.

    Both are computed; nobody learns which was taken. A product for each element.

    Raises:
        ProgramTypeError: The condition isn't bool, or a and b don't go together.
    """
    beside = tensor_of(a, b, condition)
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        a, b = together([a, b])
        beside = tensor_of(a, b)
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        # Floats beside a secret condition alone are fixed point.
        known = (known_value(a), known_value(b))
        if any(map(is_float, known)):
            made = [beside._made(beside._constant(value, 16)) for value in known]
            return beside._call("select", beside._id, *(value._id for value in made))
    left, right = beside._operand(a), beside._operand(b)
    if isinstance(condition, Tensor):
        chosen = beside._operand(condition)
    else:
        chosen = beside._at().constant(known_value(condition), "bool", 1)
    return beside._call("select", chosen, left, right)


def windows(a: Tensor, window_shape: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Tensor:
    """What a window shows of `a` at each place where it fits: NumPy's `sliding_window_view`. Free.

    An axis keeps the places where a window begins, and the places in the window are new last axes. So a
    convolution is a product of windows with its kernels: `windows(image, (3, 3)).reshape(-1, 9) @ kernels`.

    Raises:
        ProgramError: The window doesn't fit, or there isn't a length for each axis.
    """
    one = tensor_of(a)
    axes = None if axis is None else _integers(axis)
    made = one._made(one._at().windows(one._id, _integers(window_shape), axes))
    return one._viewed(made, lambda value: _windows(value, window_shape, axis))


def _windows(value: Any, window_shape: Any, axis: Any) -> Any:
    import numpy as np

    return np.lib.stride_tricks.sliding_window_view(value, window_shape, axis)


def _integers(given: int | Sequence[int]) -> list[int]:
    """One integer or several."""
    several = given if isinstance(given, Sequence) else [given]
    return [operator.index(one) for one in several]


def concatenate(values: Sequence[Any], axis: int = 0) -> Tensor:
    """Values joined along an axis that they have; their other axes have the same lengths. Free.

    Raises:
        ProgramError: The shapes don't go together.
    """
    values = together(values)
    one = tensor_of(*values)
    return one._made(one._at().concatenate([one._operand(value) for value in values], axis))


def stack(values: Sequence[Any], axis: int = 0) -> Tensor:
    """Values of one shape joined along a new axis; lists of secrets among them are stacked first. Free.

    Raises:
        ProgramError: The shapes differ.
    """
    values = together([stack(value) if is_list_of_secrets(value) else value for value in values])
    one = tensor_of(*values)
    return one._made(one._at().stack([one._operand(value) for value in values], axis))


def shuffle(*values: Any) -> Any:
    """Values of one length in a uniformly random order that nobody knows, the same for all of them.

    One value gives a tensor, several a tuple of them.

    Rows along the first axis move as they are. The order differs from run to run. With `replicated` and
    `replicated-malicious` each party sends two elements for every element, in three rounds; protocols
    that can't shuffle refuse it.

    Raises:
        ProgramError: The lengths of the first axes differ.
    """
    one = tensor_of(*values)
    shuffled = tuple(one._made(made) for made in one._at().shuffle([one._operand(value) for value in values]))
    return shuffled[0] if len(shuffled) == 1 else shuffled


def together(values: Sequence[Any]) -> list[Any]:
    """Operands, of which secret integers and bools beside public floats become fixed(16); `None` stays."""
    known = [value for value in values if value is not None and not isinstance(value, Tensor)]
    if not any(is_float(known_value(value)) for value in known):
        return [*values]
    return [
        value.astype(fixed(16))
        if isinstance(value, Tensor) and value.dtype.kind in ("int", "bool")
        else value
        for value in values
    ]


def shape(value: Any) -> tuple[int, ...]:
    """The shape of a tensor or of a public value."""
    return value.shape if isinstance(value, Tensor) else shape_of(known_value(value))


def array_of(value: Any) -> Any:
    """A tensor as it is, or a public value as an array."""
    import numpy as np

    return value if isinstance(value, Tensor) else np.asarray(value)


def ravel(value: Any) -> Any:
    """All elements of a tensor or a public value in a row."""
    return array_of(value).reshape(-1)


def joined(values: Sequence[Any], axis: int) -> Any:
    """As `concatenate`; an array if all values are public."""
    import numpy as np

    is_secret = any(isinstance(value, Tensor) for value in values)
    return concatenate(values, axis) if is_secret else np.concatenate(values, axis)


def maximum(a: Any, b: Any) -> Tensor:
    """The larger of two, elementwise and broadcast. A comparison and a choice."""
    return binary("maximum", *_bounding(a, b, _endless.lower_bound))


def minimum(a: Any, b: Any) -> Tensor:
    """The smaller of two, elementwise and broadcast. A comparison and a choice."""
    return binary("minimum", *_bounding(a, b, _endless.upper_bound))


def _bounding(a: Any, b: Any, bound: Callable[[Any, Tensor], Any]) -> tuple[Any, Any]:
    """Two operands, of which a public one that bounds nothing is one that does so within a range."""
    if isinstance(a, Tensor):
        return a, bound(b, a) if not isinstance(b, Tensor) else b
    return bound(a, b) if isinstance(b, Tensor) else a, b


def clip(a: Tensor, low: Any = None, high: Any = None) -> Tensor:
    """`a`, but at least `low` and at most `high`; where these are public, so is the result's range.

    Without one of them, the end of the range of `a` takes its place, or the other one if that is beyond.
    """
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        least = a if low is None else maximum(a, low)
        return least if high is None else minimum(least, high)
    beside = tensor_of(a)
    low, high = _endless.lower_bound(low, beside), _endless.upper_bound(high, beside)
    one = tensor_of(together([a, low, high])[0])
    ends = one.range
    if low is None:
        low = ends[0] if high is None else min(ends[0], _extreme(high, min))
    if high is None:
        high = max(ends[1], _extreme(low, max))
    return one._call("clip", one._id, one._operand(low), one._operand(high))


def _extreme(value: Any, of: Callable[..., Any]) -> Any:
    """The least or the largest of some public numbers."""
    import numpy as np

    return of(np.ravel(known_value(value)).tolist())


def relu(a: Tensor) -> Tensor:
    """`a` where it is above 0, else 0. A comparison and a choice."""
    one = tensor_of(a)
    return one._call("relu", one._id)


def sigmoid3(a: Tensor) -> Tensor:
    """The sigmoid in three pieces: 0 below -1/2, 1 above 1/2, a + 1/2 between. Two comparisons."""
    one = tensor_of(a)
    return clip(one + 0.5, 0, 1)


def argmax(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Where along an axis, or among all in row-major order, the largest first stands."""
    return tensor_of(a).argmax(axis, keepdims=keepdims)


def argmin(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Where along an axis, or among all in row-major order, the least first stands."""
    return tensor_of(a).argmin(axis, keepdims=keepdims)


def dot(a: Any, b: Any) -> Tensor:
    """The product of vectors or matrices: `a @ b`."""
    return matmul(a, b)
