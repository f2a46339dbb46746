"""What everybody knows of each model: its kind, its shapes, the units of its features, bounds.

Nothing here is secret. The servers know no more than this, and from it everybody makes the same plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.learn import Bounds, Predictor

if TYPE_CHECKING:
    import tacit


@dataclass(frozen=True, slots=True)
class Model:
    """A linear model and a batch of queries, as far as they are public.

    Attributes:
        name: What it is called.
        data: The data set of scikit-learn that it is trained on and asked about.
        rows: How many queries the client has.
        predictor: What is known of the model. In its units features are from 0 to 1; the units are powers of
            two, so that nothing is lost, above the largest values that the features are known to have.
    """

    name: str
    data: str
    rows: int
    predictor: Predictor

    @property
    def task(self) -> str:
        """What is predicted: a number, or a class."""
        return {0: "regression", 2: "two classes", 10: "ten classes"}[len(self.predictor.labels)]

    @property
    def plan(self) -> tacit.Plan:
        """The plan, from public knowledge alone."""
        return self.predictor.plan(self.rows, owner="owner", client="client")


def _predictor(labels: int, units: tuple[float, ...], bound: float) -> Predictor:
    """For queries from 0 to 1, and no weight and no bias larger than a bound, which the owner declares."""
    bounds = Bounds(weights=bound, queries=1, bias=bound)
    return Predictor(len(units), tuple(range(labels)), bounds, units, fraction=16)


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
        Model("linear-regression", "diabetes", 111, _predictor(0, _DIABETES, bound=1024)),
        Model("logistic-regression", "breast cancer", 143, _predictor(2, _CANCER, bound=128)),
        Model("linear-svm", "breast cancer", 143, _predictor(2, _CANCER, bound=128)),
        Model("ten-digits", "digits", 450, _predictor(10, _DIGITS, bound=64)),
    )
}
"""All models, by name, in the order in which they are asked."""
