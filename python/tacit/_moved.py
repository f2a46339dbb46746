"""Elements in other places, as NumPy says where: fancy indices, `np.roll`, `np.repeat` and their like."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from tacit._functions import array_of, concatenate, ravel
from tacit._handles import Unknown
from tacit._keys import looked_up, looked_up_in
from tacit._location import fault
from tacit._tensor import Tensor, matmul, multiply, tensor_of
from tacit._views import BySecret
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def moved(a: Tensor, places: Callable[[Any], Any]) -> Tensor:
    """What `places` makes of an array of the places of `a`, as elements of `a`. Free."""
    import numpy as np

    try:
        chosen = np.asarray(places(np.arange(a.size, dtype=np.int64).reshape(a.shape)))
    except ProgramError:
        raise
    except (IndexError, ValueError) as error:
        raise fault(ProgramError, str(error)) from None
    return taken(a, chosen)


def taken(a: Tensor, places: Any) -> Tensor:
    """Elements of `a` by their places in row-major order: an array of any shape. Free, run by run."""
    import numpy as np

    if not places.size:
        raise fault(ProgramError, "no element is left", "a tensor has at least one element")
    flat, order = a.reshape(-1), places.ravel()
    steps = np.diff(order)
    parts, start = [], 0
    while start < len(order):
        end = start + 1
        if start < len(steps) and steps[start]:
            others = np.nonzero(steps[start:] != steps[start])[0]
            end = start + 1 + (int(others[0]) if len(others) else len(steps) - start)
        parts.append(_run(flat, int(order[start]), int(order[end - 1]), end - start))
        start = end
    joined = concatenate(parts) if len(parts) > 1 else parts[0]
    return joined.reshape(*places.shape).copy()


def _run(flat: Tensor, first: int, last: int, count: int) -> Tensor:
    """Elements at places that are as far from one another."""
    if count == 1:
        return flat[first : first + 1]
    step = (last - first) // (count - 1)
    stop = last + step
    return flat[first : None if stop < 0 else stop : step]


_PLACED = {
    "roll": "x[(np.arange(len(x)) - k) % len(x)] for np.roll(x, k)",
    "take": "x[i] for np.take(x, i)",
    "take_along_axis": "m.max(axis=1) for the places m.argmax(axis=1), np.sort(m, axis=1) for np.argsort; of "
    "others (m * (np.arange(m.shape[1]) == k[:, None])).sum(axis=1) has the k-th of each row",
    "delete": "x[np.arange(len(x)) != i] for np.delete(x, i)",
    "repeat": "np.sum(x * k) for np.repeat(x, k).sum(): nobody knows the length",
}
"""What is written instead of a move of elements to places that are secret, by NumPy's name."""


def arrange(name: str) -> Callable[..., Tensor]:
    """A function of NumPy's, by its name, that moves elements, for tensors."""
    import numpy as np

    function = getattr(np, name)

    def arranged(a: Tensor, *arguments: Any, **options: Any) -> Tensor:
        others = [*arguments, *options.values()]
        if not isinstance(a, Tensor) or any(isinstance(one, Unknown) for one in others):
            raise fault(
                ProgramTypeError,
                f"np.{name} of secrets takes public places, lengths and axes",
                _PLACED.get(name, "docs/numpy.md lists what there is, and what to write instead"),
            )
        return moved(a, lambda places: function(places, *arguments, **options))

    return arranged


def compress(condition: Any, a: Any, axis: int | None = None) -> Any:
    """The elements, or the slices along an axis, for which a condition holds: `a[condition]`."""
    import numpy as np

    of = ravel(a) if axis is None else array_of(a)
    if isinstance(condition, Tensor) and not isinstance(of, Tensor):
        of = condition._made(condition._operand(of))
    if isinstance(condition, Tensor):
        return np.moveaxis(of, axis or 0, 0)[condition]
    return moved(of, lambda places: np.compress(condition, places, axis))


def extract(condition: Any, arr: Any) -> Any:
    """The elements for which a condition of the same shape holds: `arr[condition]`."""
    return compress(ravel(condition), arr)


def selected(a: Tensor, key: Any) -> Any:
    """`a[key]`, for a key with arrays, lists, or secrets.

    Raises:
        SecretError: Secrets stand beside public arrays, or several arrays of them beside one another.
        ProgramTypeError: It is no index.
    """
    entries = key if isinstance(key, tuple) else (key,)
    secrets = [entry for entry in entries if isinstance(entry, Tensor)]
    if not secrets:
        for entry in entries:
            if isinstance(entry, (bool, str, float)):
                raise _no_index(entry)
        return moved(a, lambda places: places[key])
    if len(entries) == 1 and secrets[0].dtype.kind != "bool":
        chosen = looked_up(a, secrets[0])
    else:
        chosen = looked_up_in(a, entries)
    if not isinstance(chosen, Tensor):
        return chosen
    # NumPy's view, where single integers choose rows, and else a copy.
    is_view = chosen.ndim and not any(index.ndim for index in secrets)
    return a._viewed(chosen.copy(), BySecret(key)) if is_view else chosen.copy()


def split(a: Tensor, sections: int | Sequence[int], axis: int = 0, *, equal: bool = True) -> list[Tensor]:
    """The parts of `np.split`, or of `np.array_split` if they needn't be equal."""
    import numpy as np

    one = tensor_of(a)
    length = one.shape[axis]
    parts: Any = sections
    is_count = hasattr(parts, "__index__") and not hasattr(parts, "__len__")
    if is_count and equal and length % operator.index(parts):
        raise fault(
            ProgramError, f"{length} elements make no {sections} equal parts", "np.array_split makes others"
        )
    ends = np.array_split(np.arange(length), sections)
    if not all(map(len, ends)):
        raise fault(
            ProgramError, "a part has no element", "a tensor has at least one element: split elsewhere"
        )
    axis = axis % one.ndim
    before: tuple[slice, ...] = (slice(None),) * axis
    return [one[(*before, slice(int(part[0]), int(part[-1]) + 1))] for part in ends]


def rows_of(values: Sequence[Any], axis: int) -> Tensor:
    """Values of one axis or more, joined as `np.vstack` (axis 0) or `np.hstack` (axis 1) do."""
    parts = [array_of(value) for value in values]
    if axis == 0:
        return concatenate([part.reshape(1, -1) if part.ndim < 2 else part for part in parts])
    parts = [part.reshape(1) if part.ndim == 0 else part for part in parts]
    return concatenate(parts, axis=0 if parts[0].ndim == 1 else 1)


def column_stack(values: Sequence[Any]) -> Tensor:
    """Columns side by side, as `np.column_stack`."""
    parts = [array_of(value) for value in values]
    return concatenate([part.reshape(-1, 1) if part.ndim < 2 else part for part in parts], axis=1)


def cumsum(a: Tensor, axis: int | None = None) -> Tensor:
    """The sums of all elements up to each. Free: as many additions as doublings reach the end."""
    one, axis = flat_along(a, axis)
    one = one + 0 if one.dtype.kind == "bool" else one
    made = _scanned(one, axis, lambda left, right: left + right)
    # As elements are from 0 on, no sum is beyond that of all.
    made._sum_of = a._id if isinstance(a, Tensor) and a._kind.low >= 0 else None
    return made


def running(join: Callable[[Any, Any], Tensor]) -> Callable[..., Tensor]:
    """What `join` makes of all elements up to each."""

    def scanned(a: Tensor, axis: int = 0) -> Tensor:
        one, along = flat_along(a, axis)
        return _scanned(one, along, join)

    return scanned


def cumprod(a: Tensor, axis: int | None = None) -> Tensor:
    """The products of all elements up to each."""
    one, axis = flat_along(a, axis)
    return _scanned(one, axis, multiply)


def _scanned(one: Tensor, axis: int, join: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    before: tuple[slice, ...] = (slice(None),) * axis
    length, reach = one.shape[axis], 1
    while reach < length:
        joined = join(one[(*before, slice(reach, None))], one[(*before, slice(None, length - reach))])
        one = concatenate([one[(*before, slice(None, reach))], joined], axis=axis)
        reach *= 2
    return one.copy()


def prod(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """The product along an axis, or of all elements, in a tree; each product of fixed point is rounded."""
    one, along = flat_along(a, axis)
    one = one + 0 if one.dtype.kind == "bool" else one
    before: tuple[slice, ...] = (slice(None),) * along
    while (length := one.shape[along]) > 1:
        half = length // 2
        product = multiply(one[(*before, slice(None, half))], one[(*before, slice(half, 2 * half))])
        rest = [one[(*before, slice(2 * half, None))]] if length % 2 else []
        one = concatenate([product, *rest], axis=along)
    if keepdims:
        return one.copy() if axis is not None else one.reshape(*(1,) * tensor_of(a).ndim).copy()
    return one[(*before, 0)].copy()


def masked(keep: Callable[[Any, int], Any]) -> Callable[..., Tensor]:
    """`np.triu` or `np.tril`: elements that aren't kept are 0."""
    import numpy as np

    def kept(a: Tensor, k: int = 0) -> Tensor:
        return multiply(tensor_of(a), keep(np.ones(tensor_of(a).shape, dtype=np.int64), k))

    return kept


def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    """`np.convolve` of two rows, of which one may be public: a product of windows."""
    import numpy as np

    from tacit._functions import windows

    one = tensor_of(a, v)
    rows = [array_of(value) for value in (a, v)]
    # The longer one is slid over, and the shorter one turned.
    long, short = sorted(rows, key=lambda row: -row.size)
    width = short.size
    around = {"full": (width - 1, width - 1), "same": (width // 2, (width - 1) // 2), "valid": (0, 0)}
    if mode not in around:
        raise fault(ProgramError, f"mode={mode!r} is none of full, same and valid")
    zeros = [[np.zeros(count, dtype=np.int64)] if count else [] for count in around[mode]]
    if mode != "valid":
        long = concatenate([*zeros[0], one._made(one._operand(long)), *zeros[1]])
    if not isinstance(long, Tensor):
        return matmul(np.lib.stride_tricks.sliding_window_view(long, width), short[::-1])
    return matmul(windows(long, width), short[::-1])


def diff(a: Tensor, n: int = 1, axis: int = -1) -> Tensor:
    """Each element less the one before it, n times."""
    one = tensor_of(a)
    before: tuple[slice, ...] = (slice(None),) * (axis % one.ndim)
    for _ in range(n):
        one = one[(*before, slice(1, None))] - one[(*before, slice(None, -1))]
    return one.copy()


def flat_along(a: Tensor, axis: int | None) -> tuple[Tensor, int]:
    """A tensor and an axis of it; without one, all elements in a row."""
    one = tensor_of(a)
    if axis is None or not one.shape:
        return one.reshape(-1), 0
    if not -one.ndim <= operator.index(axis) < one.ndim:
        raise fault(ProgramError, f"there is no axis {axis} of {one.ndim}")
    return one, operator.index(axis) % one.ndim


def _no_index(entry: object) -> ProgramTypeError:
    return fault(
        ProgramTypeError,
        f"a {type(entry).__name__} can't be an index",
        "use integers, slices, and lists or arrays of integers or bools",
    )
