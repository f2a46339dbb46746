"""Different elements of secrets: how many there are, nobody knows."""

from __future__ import annotations

from typing import Any

from tacit._functions import concatenate, ravel, where
from tacit._location import fault
from tacit._order import sort
from tacit._selection import Selection
from tacit._tensor import Tensor, tensor_of
from tacit.errors import ProgramTypeError


def unique(
    ar: Tensor, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False
) -> Any:
    """The different elements in ascending order, and how often each is there: selections of one mask."""
    if return_index or return_inverse:
        raise fault(
            ProgramTypeError,
            "np.unique says of secrets which elements there are and how often, not where",
            "np.argsort(x) and np.sort(x) say where they stand in order",
        )
    ordered = sort(tensor_of(ar).reshape(-1), 0)
    mask = first_of(ordered)
    values = Selection(ordered, mask)
    return (values, Selection(_lengths(mask), mask)) if return_counts else values


def union1d(ar1: Any, ar2: Any) -> Any:
    """The different elements that are in one or both."""
    return unique(concatenate([ravel(ar1), ravel(ar2)]))


def first_of(ordered: Tensor) -> Tensor:
    """Which elements differ from the one before."""
    import numpy as np

    first = ordered._made(ordered._at().constant(np.array([True]), "bool", 1))
    return concatenate([first, ordered[1:] != ordered[:-1]]) if ordered.size > 1 else first


def _lengths(first: Tensor) -> Tensor:
    """From each place to the end of its run, of which `first` says where they begin: in log2 n steps."""
    import numpy as np

    size, reach = first.size, 1
    count = first * 0 + 1
    ends = concatenate([first[1:], np.array([True])]) if size > 1 else first
    while reach < size:
        further = where(ends[:-reach], 0, count[reach:])
        count = concatenate([count[:-reach] + further, count[-reach:]])
        ends = concatenate([ends[:-reach] | ends[reach:], ends[-reach:]])
        reach *= 2
    return count
