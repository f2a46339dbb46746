"""Methods of arrays that are functions of NumPy's as well."""

from __future__ import annotations

from typing import Any

from tacit._views import Changeable


class Methods(Changeable):
    """What arrays have as methods: `x.sort()` is in place, all others are `np.take(x, ...)` and its like."""

    __slots__ = ()

    def sort(self, axis: int = -1, kind: str | None = None) -> None:
        """Puts the elements along an axis in ascending order, in place: `np.sort` makes another tensor."""
        self[...] = _numpy("sort", self, axis=axis, kind=kind)

    def argsort(self, axis: int | None = -1, kind: str | None = None) -> Any:
        """Where the elements stand that make an ascending order; equal ones keep theirs."""
        return _numpy("argsort", self, axis=axis, kind=kind)

    def take(self, indices: Any, axis: int | None = None) -> Any:
        """Elements by their public places along an axis."""
        return _numpy("take", self, indices, axis=axis)

    def repeat(self, repeats: Any, axis: int | None = None) -> Any:
        """Each element several times."""
        return _numpy("repeat", self, repeats, axis=axis)

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Two axes in each other's place; a view."""
        return _numpy("swapaxes", self, axis1, axis2)

    def diagonal(self) -> Any:
        """The diagonal; a view that can't be changed."""
        return _numpy("diagonal", self)

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return _numpy("trace", self)

    def cumprod(self, axis: int | None = None) -> Any:
        """The products of all elements up to each."""
        return _numpy("cumprod", self, axis=axis)

    def searchsorted(self, v: Any, side: str = "left") -> Any:
        """Where each of `v` would go among these, which ascend."""
        return _numpy("searchsorted", self, v, side=side)


def _numpy(name: str, *operands: Any, **options: Any) -> Any:
    import numpy as np

    return getattr(np, name)(*operands, **options)
