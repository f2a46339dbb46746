"""Sums, means, the largest and their like, of all elements, along an axis, or of those that a mask says."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit import _endless
from tacit._index import axes_of
from tacit._location import fault
from tacit._methods import Methods
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit._index import Axes
    from tacit._tensor import Tensor


class Reductions(Methods):
    """What makes one of many. `where`, a mask, says which count, and `initial` is one more."""

    __slots__ = ()

    def sum(
        self, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Tensor:
        """The sum over some axes, or over all; bools are counted. No messages."""
        one = _tensor(self)
        if where is not None:
            made = _masked(one, "sum", axis, keepdims, where)
        else:
            made = one._made(one._at().sum(one._id, axes_of(axis), keepdims))
            if one._kind.low >= 0 and (keepdims or not made.shape):
                made._parts = frozenset((one._id,))
            if one._kind.low >= 0 and not made.shape:
                made._totals, made._sum_of = made._parts, one._id
        return made if initial is None else made + initial

    def mean(self, axis: Axes = None, *, keepdims: bool = False, where: Any = None) -> Tensor:
        """The mean over some axes, or over all; rounded once, as `/` does. Of integers fixed(16)."""
        from tacit._statistics import mean

        one = _tensor(self)
        if where is not None:
            return _masked(one, "mean", axis, keepdims, where)
        return mean(one, axis, keepdims=keepdims)

    def var(self, axis: Axes = None, *, ddof: float = 0, keepdims: bool = False, where: Any = None) -> Tensor:
        """The variance along an axis, or of all: `tacit.var`."""
        from tacit._statistics import var

        one = _tensor(self)
        if where is not None:
            return _masked(one, "var", axis, keepdims, where, ddof=ddof)
        return _over(one, axis, keepdims, lambda *how: var(how[0], how[1], ddof=ddof, keepdims=how[2]))

    def std(self, axis: Axes = None, *, ddof: float = 0, keepdims: bool = False, where: Any = None) -> Tensor:
        """The standard deviation along an axis, or of all: `tacit.std`."""
        from tacit._statistics import std

        one = _tensor(self)
        if where is not None:
            return _masked(one, "std", axis, keepdims, where, ddof=ddof)
        return _over(one, axis, keepdims, lambda *how: std(how[0], how[1], ddof=ddof, keepdims=how[2]))

    def prod(
        self, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Tensor:
        """The product along an axis, or of all, in a tree; each product of fixed point is rounded."""
        from tacit._moved import prod

        one = _tensor(self)
        if where is not None:
            made = _masked(one, "prod", axis, keepdims, where)
        else:
            made = _over(one, axis, keepdims, lambda *how: prod(how[0], how[1], keepdims=how[2]))
        return made if initial is None else made * initial

    def cumsum(self, axis: int | None = None) -> Tensor:
        """The sums of all elements up to each. No messages."""
        from tacit._moved import cumsum

        return cumsum(_tensor(self), axis)

    def max(
        self, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Tensor:
        """The largest along an axis, or of all; a comparison for every element but one, in a tree."""
        from tacit._functions import maximum

        if initial is None:
            return self._extreme("max", axis, keepdims, where)
        initial = _endless.lower_bound(initial, _tensor(self))
        made = self._or(initial, where)._extreme("max", axis, keepdims, None)
        return maximum(made, initial)

    def min(
        self, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Tensor:
        """The least along an axis, or of all; costs what `max` does."""
        from tacit._functions import minimum

        if initial is None:
            return self._extreme("min", axis, keepdims, where)
        initial = _endless.upper_bound(initial, _tensor(self))
        made = self._or(initial, where)._extreme("min", axis, keepdims, None)
        return minimum(made, initial)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
        """Where along an axis, or among all in row-major order, the largest first stands."""
        return self._extreme("argmax", axis, keepdims, None)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
        """Where along an axis, or among all in row-major order, the least first stands."""
        return self._extreme("argmin", axis, keepdims, None)

    def any(self, axis: Axes = None, *, keepdims: bool = False, where: Any = None) -> Tensor:
        """Whether any of the elements along an axis, or of all, is true, or isn't 0."""
        return _bools(self)._extreme("max" if where is None else "any", axis, keepdims, where)

    def all(self, axis: Axes = None, *, keepdims: bool = False, where: Any = None) -> Tensor:
        """Whether all elements along an axis, or all there are, are true, or aren't 0."""
        return _bools(self)._extreme("min" if where is None else "all", axis, keepdims, where)

    def _or(self, initial: Any, where: Any) -> Tensor:
        """The elements, and `initial` where a mask doesn't hold."""
        import numpy as np

        from tacit._functions import where as chosen

        one = _tensor(self)
        return one if where is None else chosen(np.broadcast_to(where, one.shape), one, initial)

    def _extreme(self, name: str, axis: Axes, keepdims: bool, where: Any) -> Tensor:
        one = _tensor(self)
        if where is not None:
            return _masked(one, name, axis, keepdims, where)

        def extreme(of: Tensor, along: int | None, kept: bool) -> Tensor:
            return of._made(getattr(of._at(), name)(of._id, along, kept and of.ndim > 0))

        return _over(one, axis, keepdims, extreme)


def _over(
    one: Tensor, axis: Axes, keepdims: bool, reduced: Callable[[Tensor, int | None, bool], Tensor]
) -> Tensor:
    """What a reduction along an axis, or of all, makes over several axes as well."""
    if axis is None or not isinstance(axis, Sequence):
        return reduced(one, axis, keepdims)
    axes = [operator.index(place) for place in axis]
    places = {place % one.ndim for place in axes if -one.ndim <= place < one.ndim}
    if len(places) < len(axes):
        raise fault(ProgramError, f"axis={axis} of {one.ndim} axes", "name each axis once, from 0 on")
    rest = [place for place in range(one.ndim) if place not in places]
    rows = one.transpose(*rest, *sorted(places)) if one.ndim > 1 else one
    made = reduced(rows.reshape(*(one.shape[place] for place in rest), -1), -1, False)
    kept = (1 if place in places else length for place, length in enumerate(one.shape))
    return made.reshape(*kept) if keepdims else made


def _bools(value: Any) -> Tensor:
    one = _tensor(value)
    return one if one.dtype.kind == "bool" else one != 0


def _tensor(value: Any) -> Tensor:
    from tacit._tensor import tensor_of

    return tensor_of(value)


def _masked(a: Tensor, name: str, axis: Any, keepdims: bool, where: Any, ddof: float = 0) -> Tensor:
    """A reduction of those elements alone that a mask says, public or secret, which broadcasts as NumPy's."""
    import numpy as np

    from tacit import _functions
    from tacit._selection import Selection
    from tacit._statistics import mean_of
    from tacit._tensor import Tensor

    is_secret = isinstance(where, Tensor)
    mask: Any = where if is_secret else np.asarray(where, bool)
    mask = np.broadcast_to(mask, a.shape)
    if axis is None and name != "prod" and (is_secret or mask.any()):
        chosen = Selection(a, mask) if is_secret else a[mask]
        options = {"ddof": ddof} if name in ("var", "std") else {}
        made: Tensor = getattr(chosen, name)(**options)
        return made.reshape(*(1,) * a.ndim) if keepdims else made
    is_bool = a.dtype.kind == "bool"
    low, high = (bool(end) if is_bool else end for end in a.range)
    nothing = False if is_bool else 0
    fill = {"sum": nothing, "prod": 1, "max": low, "min": high, "any": False, "all": True}
    if name == "mean":
        total = _functions.where(mask, a, nothing).sum(axis, keepdims=keepdims)
        count = mask.sum(axis, keepdims=keepdims)
        return mean_of(total, count, a) if is_secret else total / count
    if name not in fill:
        raise fault(
            ProgramTypeError,
            f"`{name}` of what a mask says goes over all elements",
            "of each row: tacit.stack([row[mask].std() for row, mask in zip(x, masks)])",
        )
    filled = _functions.where(mask, a, fill[name])
    reduced: Tensor = getattr(filled, name)(axis, keepdims=keepdims)
    return reduced
