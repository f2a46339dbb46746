"""Infinities beside secrets: no secret is there, so comparisons have an answer, and bounds bound nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit._location import fault
from tacit.errors import ProgramError

if TYPE_CHECKING:
    from tacit._tensor import Tensor

COMPARISONS = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]


def compared(value: Any, beside: Tensor) -> Any:
    """What a secret is compared with: for infinities, numbers beyond its range."""
    low, high = beside.range
    return _replaced(value, beside, low - 1, high + 1)


def lower_bound(value: Any, beside: Tensor) -> Any:
    """What a secret shall be at least: for minus infinity, the end of its range."""
    return _replaced(value, beside, beside.range[0], None)


def upper_bound(value: Any, beside: Tensor) -> Any:
    """What a secret shall be at most: for infinity, the end of its range."""
    return _replaced(value, beside, None, beside.range[1])


def checked(known: Any) -> None:
    """Refuses infinities and NaN where no number takes their place.

    Raises:
        ProgramError: There is one.
    """
    if isinstance(known, float) and math.isfinite(known):
        return
    import numpy as np

    wrong = np.argwhere(~np.isfinite(known))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise fault(
            ProgramError,
            f"element {list(place)} is {np.asarray(known)[place]}, which is not a finite number"
            if place
            else f"{known} is not a finite number",
            "secrets are finite: x[mask].min() for np.where(mask, x, np.inf).min(), x[mask].mean() for "
            "np.nanmean(np.where(mask, x, np.nan)), or a number beyond the range",
        )


def _replaced(value: Any, beside: Tensor, low: float | None, high: float | None) -> Any:
    if isinstance(value, (int, float)) and math.isfinite(value):
        return value
    import numpy as np

    if not isinstance(value, (float, np.ndarray, list, tuple)):
        return value
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        # No numbers: who takes them says so.
        return value
    ends = [(end, array == far) for end, far in ((low, -math.inf), (high, math.inf)) if end is not None]
    if not any(there.any() for _, there in ends):
        return value
    rest = np.where(np.isfinite(array), array, 0)
    if (
        beside.dtype.kind in ("int", "bool")
        and (rest == np.floor(rest)).all()
        and (abs(rest) < 1 << 53).all()
    ):
        # Infinities alone have made floats of the integers beside them.
        array = np.where(np.isfinite(array), rest.astype(np.int64).astype(object), array)
    for end, there in ends:
        array = np.where(there, end, array)
    made = array.tolist()
    return np.array(made) if array.shape else made
