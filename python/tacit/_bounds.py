"""Bounds within which models and queries are, and what is checked against them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tacit.errors import InputError, ProgramError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]


MAX_FRACTION = 16
"""The most fraction bits of weights and queries: scores can have 32."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The largest magnitudes that are accepted. Everybody knows them, and values beyond are refused.

    From them follows that no score overflows: see `Predictor`. The defaults are wide; under a protocol that
    works on bits narrow ones are cheaper.

    Attributes:
        weights: Of a weight, for features in the predictor's units.
        queries: Of a feature, in the predictor's units.
        bias: Of the bias, the threshold included.
    """

    weights: float = 1024.0
    queries: float = 1024.0
    bias: float = 2.0**20

    def __post_init__(self) -> None:
        for name in ("weights", "queries", "bias"):
            bound = getattr(self, name)
            if not is_within_reason(bound):
                raise ProgramError(f"{name}={bound!r} is no bound", hint=f"use a number above 0: {name}=1024")


def is_within_reason(value: Any) -> bool:
    """Whether this is a number above 0 whose products with others like it are finite."""
    return is_number(value) and 2.0**-500 <= value <= 2.0**500


def is_number(value: Any) -> bool:
    """Whether this is a finite number."""
    import numbers

    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def numbers(what: str, value: Any) -> Array:
    """A finite array of numbers."""
    import numpy as np

    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} are no array of numbers ({error})") from None
    if not np.isfinite(array).all():
        raise InputError(f"{what} have a NaN or an infinity: fill in or leave out what is missing")
    return array


def within(name: str, values: Array, bound: float, axis: int) -> None:
    """Refuses what is beyond a declared bound, and names the feature, which is what an axis counts."""
    import numpy as np

    beyond = np.argwhere(np.abs(values) > bound)
    if not len(beyond):
        return
    place = f" of feature {beyond[0][axis]}" if name != "bias" else ""
    needed = 2.0 ** math.ceil(math.log2(min(np.abs(values).max(), 2.0**1000)))
    raise InputError(
        f"{name}{place}: beyond the declared bound of {bound:g}; declare Bounds({name}={needed:g}), "
        "or other units for the features"
    )


def checked_form(features: Any, labels: Sequence[Any], fraction: Any) -> None:
    """Refuses queries without features, a single class, and fractions whose products don't fit."""
    if not isinstance(features, int) or features < 1:
        raise ProgramError(f"features={features!r}: a query has one feature at least")
    if len(labels) == 1:
        raise ProgramError(
            f"labels={labels!r}: there is nothing to tell apart",
            hint="use two labels or more, or none for a regression",
        )
    if not isinstance(fraction, int) or not 1 <= fraction <= MAX_FRACTION:
        raise ProgramError(f"fraction={fraction!r} has to be from 1 to {MAX_FRACTION}")


def checked_units(units: Any, features: int) -> None:
    """Refuses units that aren't one number for all features, or one for each."""
    each = units if isinstance(units, tuple) else (units,)
    if len(each) not in (1, features) or not all(map(is_within_reason, each)):
        raise ProgramError(
            "units have to be above 0, one for all features or one for each",
            hint=f"use units=1.0, or a tuple of {features}",
        )


def queries_of(z: Any, features: int, units: Any, bound: float) -> Array:
    """Queries in the units in which they are shared: (rows, features).

    Raises:
        InputError: They aren't as many features, not finite, or beyond the bound.
    """
    import numpy as np

    given = numbers("the queries", z)
    array = np.atleast_2d(given)
    if array.ndim != 2 or array.shape[1] != features:
        raise InputError(
            f"the queries have shape {given.shape}, and the model has {features} features: "
            f"pass an array of shape (rows, {features})"
        )
    scaled: Array = array / np.asarray(units)
    within("queries", scaled, bound, 1)
    return scaled


def decoded(outputs: Any, labels: Sequence[Any]) -> NDArray[Any]:
    """Numbers, or labels by their numbers, from what the client's run returned.

    Raises:
        InputError: There are no outputs: only the client's run has them.
    """
    import numpy as np

    if outputs is None:
        raise InputError("there is nothing to decode: predictions are revealed to the client alone")
    found = np.asarray(outputs)
    named: NDArray[Any] = np.asarray(labels)[found.astype(np.int64)] if labels else found
    return named
