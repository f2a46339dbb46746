"""What everybody knows of each model: its kind, its shapes, the units of its features, bounds.

Nothing here is secret. The servers know no more than this, and from it everybody makes the same plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Task: TypeAlias = Literal["regression", "two classes", "ten classes"]


@dataclass(frozen=True, slots=True)
class Model:
    """A linear model and a batch of queries, as far as they are public.

    Attributes:
        name: What it is called.
        data: The data set of scikit-learn that it is trained on and asked about.
        task: What is predicted: a number, or a class.
        rows: How many queries the client has.
        units: What the client divides each feature by; features are from 0 to 1 then. They are powers of two,
            so that nothing is lost, above the largest values that the features are known to have.
        bound: No weight, for features in these units, and no bias is larger than this. The owner declares it.
    """

    name: str
    data: str
    task: Task
    rows: int
    units: tuple[float, ...]
    bound: float

    @property
    def features(self) -> int:
        """How many features a query has."""
        return len(self.units)

    @property
    def outputs(self) -> tuple[int, ...]:
        """The axes of what is computed for a query: a score for each of ten classes, or one number."""
        return (10,) if self.task == "ten classes" else ()


# Age, sex (1 or 2), body mass index, blood pressure, and six measurements of blood serum.
_DIABETES = (128.0, 2.0, 64.0, 256.0, 512.0, 256.0, 128.0, 16.0, 8.0, 128.0)

# Mean, standard error and "worst" of ten features; the data set's description lists the largest values.
_CANCER = (
    *(2.0**power for power in (5, 6, 8, 12, -2, -1, -1, -2, -1, -3)),
    *(2.0**power for power in (2, 3, 5, 10, -5, -2, -1, -4, -3, -5)),
    *(2.0**power for power in (6, 6, 8, 13, -2, 1, 1, -1, 0, -2)),
)

# Grey levels of 8 x 8 pixels.
_DIGITS = (16.0,) * 64

MODELS = {
    model.name: model
    for model in (
        Model("linear-regression", "diabetes", "regression", 111, _DIABETES, bound=1024),
        Model("logistic-regression", "breast cancer", "two classes", 143, _CANCER, bound=128),
        Model("linear-svm", "breast cancer", "two classes", 143, _CANCER, bound=128),
        Model("ten-digits", "digits", "ten classes", 450, _DIGITS, bound=64),
    )
}
"""All models, by name, in the order in which they are asked."""
