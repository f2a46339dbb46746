"""Which elements are among others, and where: by comparisons of all pairs, or by sorts of both together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit import _endless
from tacit._functions import array_of, concatenate, ravel, shape, together
from tacit._location import fault
from tacit._moved import cumsum
from tacit._order import sort, sort_by
from tacit._selection import Selection
from tacit._sets import first_of
from tacit._tensor import Tensor, binary, tensor_of
from tacit.errors import ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable

_PAIRS = 12
"""How many comparisons of pairs send as much as a sort does for each row and each bit of their number.

Measured with `plan.cost` under `replicated` for integers of 20 bits: from 180 and 180 on sorts there and back
send less than comparisons for `searchsorted`, from 290 and 290 on for `isin`; and one sort of both from 150
and 150 on for `intersect1d`. Comparisons take far fewer rounds, and send less where sorts are networks. So
more of them are taken: up to some 480 and 480, and 210 and 210.
"""


def searchsorted(a: Any, v: Any, side: str = "left") -> Tensor:
    """Where each of `v` would go in a sorted `a`: how many of `a` are less, or for "right" not larger.

    Few are compared pair by pair. Many are sorted together, and what is counted is sorted back.
    """
    if isinstance(v, Tensor) and not isinstance(a, Tensor):
        a = _endless.compared(a, v)
    a, v = together([a, v])
    one = tensor_of(a, v)
    values, ordered = (one._made(one._operand(value)) for value in (v, a))
    if _is_few(ordered.size, values.size, 2):
        column = values.reshape(*values.shape, 1)
        less = ordered < column if side == "left" else ordered <= column
        return less.sum(axis=-1)
    # Rows with equal keys keep their order, which says whether equal ones count.
    return _sorted_back(ordered, values, side == "right", lambda _, is_other: cumsum(is_other))


def digitize(a: Tensor, bins: Any, right: bool = False) -> Tensor:
    """Between which public, ascending edges each element is. A comparison for each pair."""
    import numpy as np

    if isinstance(bins, Tensor) or (np.diff(np.asarray(bins)) < 0).any():
        raise fault(
            ProgramError, "the edges have to be public and to ascend", "say np.digitize(a, np.sort(bins))"
        )
    return searchsorted(bins, a, "left" if right else "right")


def isin(a: Any, b: Any, *, invert: bool = False) -> Tensor:
    """Whether each of `a` is among `b`: as `searchsorted`."""
    if isinstance(a, Tensor) and not isinstance(b, Tensor):
        b = _endless.compared(b, a)
    a, b = together([a, b])
    values, others = (array_of(one) for one in (a, b))
    one = tensor_of(a, b)
    has_order = one.dtype.kind not in ("modular", "field")
    if _is_few(values.size, others.size, 2) or not has_order:
        found = binary("equal", values.reshape(*values.shape, 1), others.reshape(-1)).any(axis=-1)
    else:
        known, wanted = (one._made(one._operand(value)) for value in (others.reshape(-1), values))
        found = _sorted_back(known, wanted, True, _carried)
    return ~found if invert else found


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Selection:
    """The different elements that are in both, in ascending order."""
    ar1, ar2 = together([ar1, ar2])
    kinds = [one.dtype.kind if isinstance(one, Tensor) else "" for one in (ar1, ar2)]
    if kinds == ["int", "fixed"]:
        ar1 = ar1.astype(ar2.dtype)
    if _is_few(ravel(ar1).size, ravel(ar2).size, 1):
        return _among(ar1, ar2, assume_unique, invert=False)
    ordered, of_second = _merged(ar1, ar2)
    # In a run of equal ones those of the second come first.
    same = ordered[1:] == ordered[:-1]
    return Selection(ordered, concatenate([_false(ordered), same & of_second[:-1] & ~of_second[1:]]))


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Selection:
    """The different elements of the first that aren't in the second; if all differ, in their order."""
    if assume_unique:
        one = tensor_of(ar1, ar2)
        first = one._made(one._operand(ravel(ar1)))
        return Selection(first, isin(first, ravel(ar2), invert=True))
    if _is_few(ravel(ar1).size, ravel(ar2).size, 1):
        return _among(ar1, ar2, False, invert=True)
    ordered, of_second = _merged(ar1, ar2)
    return Selection(ordered, first_of(ordered) & ~of_second)


def _is_few(first: int, second: int, sorts: int) -> bool:
    """Whether comparisons of all pairs are less than so many sorts of both."""
    rows = first + second
    return first * second <= _PAIRS * sorts * rows * math.log2(rows)


def _among(a: Any, b: Any, different: bool, *, invert: bool) -> Selection:
    """The elements of one in ascending order that are among another's, or aren't: by comparisons."""
    one = tensor_of(a, b)
    ordered = sort(one._made(one._operand(ravel(a))), 0)
    found = isin(ordered, ravel(b), invert=invert)
    return Selection(ordered, found if different else first_of(ordered) & found)


def _merged(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Both in ascending order, of equal ones those of the second first, and which these are."""
    import numpy as np

    first, second = (ravel(value) for value in together([a, b]))
    both = concatenate([second, first])
    ordered, of_second = sort_by(both, np.arange(both.size) < shape(second)[0])
    return ordered, of_second


def _sorted_back(
    others: Tensor, values: Tensor, others_first: bool, told: Callable[[Tensor, Tensor], Tensor]
) -> Tensor:
    """For each value what is told of the ascending order of all, and of which of these are others."""
    import numpy as np

    flat = values.reshape(-1)
    parts = [others, flat] if others_first else [flat, others]
    both = concatenate(parts)
    start = others.size if others_first else 0
    places = np.arange(both.size)
    is_value = (places >= start) & (places < start + flat.size)
    ordered, is_other, stood = sort_by(both, ~is_value, places)
    _, back = sort_by(stood, told(ordered, is_other))
    made: Tensor = back[start : start + flat.size]
    return made.reshape(*values.shape)


def _carried(ordered: Tensor, is_other: Tensor) -> Tensor:
    """Which rows have an equal one before them, or are one, that is another's: in log2 n steps."""
    found, same = is_other, concatenate([_false(ordered), ordered[1:] == ordered[:-1]])
    reach = 1
    while reach < ordered.size:
        found = concatenate([found[:reach], found[reach:] | (same[reach:] & found[:-reach])])
        same = concatenate([same[:reach], same[reach:] & same[:-reach]])
        reach *= 2
    return found


def _false(beside: Tensor) -> Tensor:
    import numpy as np

    return beside._made(beside._at().constant(np.array([False]), "bool", 1))
