"""Ranges that follow from how a value was made, where intervals can't tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit._tensor import Tensor


def within(a: Tensor, low: int, high: int) -> Tensor:
    """`a`, whose raw values are known to be from `low` to `high`; debug runs alone check it.

    In an arm of a branch, where values may be anything if it isn't taken, its range stays as wide as it is.
    """
    from tacit._trace import is_in_arm

    if (a._kind.low, a._kind.high) == (low, high) or is_in_arm(a._builder):
        return a
    return a._made(a._at().narrow(a._id, low, high))


def held(a: Tensor, low: int, high: int) -> Tensor:
    """`within`, and in an arm of a branch a clip, for what needs the range there as well; of integers."""
    from tacit._functions import clip
    from tacit._trace import is_in_arm

    return clip(a, low, high) if is_in_arm(a._builder) else within(a, low, high)
