"""What may be known of a model, of whatever kind: its queries, its labels, and its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from tacit import _public_file
from tacit._bounds import Bounds, checked_form, checked_units, decoded, queries_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PublicModel:
    """What is public of every kind of model. A kind adds its own, its checks, and its plan.

    Attributes:
        features: How many numbers a query has.
        labels: The classes in the model's order; empty for a regression.
        bounds: Of queries, and of what the owner gives.
        units: What each feature is divided by before it is shared; one number for all, or one for each.
        fraction: Fraction bits.
    """

    features: int
    labels: tuple[Any, ...] = ()
    bounds: Bounds = field(default_factory=Bounds)
    units: float | tuple[float, ...] = 1.0
    fraction: int = 13

    _FORM: ClassVar[str]
    """What a file of this kind is called."""

    _FURTHER: ClassVar[dict[str, Callable[[Any], bool]]] = {}
    """The kind's own entries in a file, and whether a value that was read is one."""

    def __post_init__(self) -> None:
        checked_form(self.features, self.labels, self.fraction)
        checked_units(self.units, self.features)
        self._check()

    def _check(self) -> None:
        """Refuses what this kind can't have."""

    def queries(self, z: Any) -> Array:
        """The client's input: its queries in the units in which they are shared.

        Args:
            z: (rows, features), or one row (features): an array, nested lists or a DataFrame.

        Raises:
            InputError: They aren't as many features, not finite, or beyond the bound.
        """
        return queries_of(z, self.features, self.units, self.bounds.queries)

    def decode(self, outputs: Any) -> NDArray[Any]:
        """What the model predicts, from what the client's run returned: numbers, or labels; one for each row.

        Raises:
            InputError: There are no outputs: only the client's run has them.
        """
        return decoded(outputs, self.labels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file, JSON, for all others to `load`. Nothing secret is in it.

        Raises:
            InputError: A label is neither text nor a number nor a bool.
            OSError: The file can't be written.
        """
        _public_file.save(self, path, self._FORM, {name: getattr(self, name) for name in self._FURTHER})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads what the owner of a model saved of it. It may come from anybody: it is checked.

        Raises:
            OSError: The file can't be read.
            InputError: It holds none of this kind, or a damaged one.
        """
        return _public_file.load(path, cls, cls._FORM, cls._FURTHER)
