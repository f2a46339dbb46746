"""What comes before: scikit-learn trains the models in the clear; the client has queries.

In earnest the owner does the first and the client has the second. Here one process plays both beforehand, and
keeps the true answers to itself, to compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

if TYPE_CHECKING:
    import numpy.typing as npt

    from tacit.demo.models import Model

    Array: TypeAlias = npt.NDArray[Any]

_DATA = {
    "diabetes": lambda: load_diabetes(return_X_y=True, scaled=False),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
}

_ESTIMATORS = {
    "linear-regression": lambda: LinearRegression(),
    "logistic-regression": lambda: LogisticRegression(),
    "linear-svm": lambda: LinearSVC(random_state=0),
    "ten-digits": lambda: LogisticRegression(),
}


@dataclass(frozen=True, slots=True)
class Trained:
    """A model, and queries about the part of the data that it wasn't trained on.

    Attributes:
        weights: The owner's secret: (features) or (features, classes), for features in the public units.
        bias: The owner's secret: () or (classes).
        queries: The client's secret: (rows, features), in the public units.
        truth: What should be predicted.
        clear: What scikit-learn predicts.
        span: From the least to the largest value of the target, where that is a number.
    """

    weights: Array
    bias: Array
    queries: Array
    truth: Array
    clear: Array
    span: float


def train(model: Model) -> Trained:
    """Trains a model on a fixed three quarters of its data; the last quarter are the queries."""
    features, target = _DATA[model.data]()
    known, queries, answers, truth = train_test_split(features, target, random_state=0)
    pipeline = make_pipeline(StandardScaler(), _ESTIMATORS[model.name]()).fit(known, answers)
    weights, bias = _folded(pipeline[0], pipeline[1], np.asarray(model.units))
    return Trained(
        weights=weights.reshape(model.features, *model.outputs),
        bias=bias.reshape(model.outputs),
        queries=queries / model.units,
        truth=truth,
        clear=pipeline.predict(queries),
        span=float(np.ptp(target)),
    )


def score(model: Model, trained: Trained, predictions: Array) -> float:
    """How good predictions are: R2 of a regression, else accuracy."""
    measure = r2_score if model.task == "regression" else accuracy_score
    return float(measure(trained.truth, predictions))


def _folded(scaler: StandardScaler, estimator: Any, units: Array) -> tuple[Array, Array]:
    """Weights and bias for features in public units.

    The means and deviations that the features were standardised by come from the training data, so they are
    the owner's secret too: w ((x - mean) / deviation) + b is (w / deviation) x + (b - w mean / deviation).
    """
    weights = np.atleast_2d(estimator.coef_) / scaler.scale_
    bias = np.atleast_1d(estimator.intercept_) - weights @ scaler.mean_
    return (weights * units).T, bias
