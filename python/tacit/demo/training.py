"""What comes before: scikit-learn trains the models in the clear; the client has queries.

In a deployment the owner does the first and the client has the second. Here one process plays both
beforehand, and keeps the true answers to itself, to compare.
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

import tacit

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
        model: The owner's secret.
        queries: The client's secret: (rows, features).
        truth: What should be predicted.
        clear: What scikit-learn predicts.
        span: From the least to the largest value of the target, where that is a number.
    """

    model: tacit.learn.Model
    queries: Array
    truth: Array
    clear: Array
    span: float


def train(model: Model) -> Trained:
    """Trains a model on a fixed three quarters of its data; the last quarter are the queries."""
    features, target = _DATA[model.data]()
    known, queries, answers, truth = train_test_split(features, target, random_state=0)
    pipeline = make_pipeline(StandardScaler(), _ESTIMATORS[model.name]()).fit(known, answers)
    public = model.predictor
    learnt = tacit.learn.from_sklearn(
        pipeline, bounds=public.bounds, units=public.units, fraction=public.fraction
    )
    # Pipelines of the demo end in linear models.
    assert isinstance(learnt, tacit.learn.Model)
    return Trained(
        model=learnt,
        queries=queries,
        truth=truth,
        clear=pipeline.predict(queries),
        span=float(np.ptp(target)),
    )


def score(model: Model, trained: Trained, predictions: Array) -> float:
    """How good predictions are: R2 of a regression, else accuracy."""
    measure = r2_score if model.task == "regression" else accuracy_score
    return float(measure(trained.truth, predictions))
