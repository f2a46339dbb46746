"""What a fitted estimator of scikit-learn computes, as weights and a bias: where scikit-learn is imported."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]
    Scaler: TypeAlias = StandardScaler | MinMaxScaler | MaxAbsScaler | RobustScaler

KNOWN = "linear models, trees, forests, gradient boosting and MLPs are known"
"""Which estimators can be models."""

_SCALERS = StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler
"""Steps that subtract and divide."""

_PROBES = 16
"""Random rows that an estimator and its weights have to agree on."""

_TOLERANCE = 1e-5
"""By how much they may differ, as a share of the sum of magnitudes; some estimators work in 32 bits."""


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear model.

    Attributes:
        name: The estimator's class.
        weights: (features), for more than two classes (features, classes).
        bias: (), or (classes).
        labels: The classes; empty for a regression.
        log_odds: Whether scores are the logarithm of the odds of the second class.
    """

    name: str
    weights: Array = field(repr=False)
    bias: Array = field(repr=False)
    labels: tuple[Any, ...]
    log_odds: bool


def linear(estimator: Any) -> Linear:
    """An estimator or pipeline as a linear model.

    Raises:
        InputError: It isn't one. See `tacit.learn.from_sklearn`.
    """
    scalers, last = steps(estimator)
    name = type(last).__name__
    if not hasattr(last, "fit"):
        raise InputError(f"an estimator of scikit-learn is needed, not {last!r}")
    check_fitted(*scalers, last)
    classes = last.classes_ if is_classifier(last) else ()
    if not is_classifier(last) and not is_regressor(last):
        raise InputError(f"{name} is neither a regression nor a classification: {KNOWN}")
    weights, bias = _coefficients(last, name, len(classes))
    log_odds = _checked(last, name, weights, bias, len(classes))
    for scaler in reversed(scalers):
        weights, bias = folded(scaler, weights, bias)
    return Linear(name, weights, bias, labels_of(last), log_odds)


def check_fitted(*steps: Any) -> None:
    """Refuses scalers and estimators that have seen no data."""
    for step in steps:
        try:
            check_is_fitted(step)
        except NotFittedError:
            name = type(step).__name__
            raise InputError(
                f"the {name} is not fitted: call .fit(X, y) on the training data first"
            ) from None


def labels_of(estimator: Any) -> tuple[Any, ...]:
    """The classes; none of a regression."""
    classes = estimator.classes_ if is_classifier(estimator) else ()
    return tuple(label.item() if isinstance(label, np.generic) else label for label in classes)


def steps(estimator: Any) -> tuple[list[Scaler], Any]:
    """A pipeline's scalers and its last step."""
    if not isinstance(estimator, Pipeline):
        return [], estimator
    *before, last = [step for _, step in estimator.steps]
    before = [step for step in before if step not in (None, "passthrough")]
    for step in before:
        if type(step) not in _SCALERS or getattr(step, "clip", False):
            raise InputError(
                f"the pipeline has a {step}, and only {', '.join(one.__name__ for one in _SCALERS)} without "
                "clip=True can become part of the model: let the client transform its queries before it "
                "shares them, and pass the rest"
            )
    return before, last


def _coefficients(last: Any, name: str, classes: int) -> tuple[Array, Array]:
    """Weights and bias of the last step. Of a support vector machine the sum over its vectors."""
    kernel = getattr(last, "kernel", "linear")
    if kernel != "linear":
        raise InputError(
            f'the {name} has the kernel {kernel!r}, which isn\'t linear: train it with kernel="linear"'
        )
    if not hasattr(last, "coef_") or not hasattr(last, "intercept_"):
        raise InputError(f"the {name} has no coef_ and intercept_, so it is no linear model: {KNOWN}")
    if classes > 2 and hasattr(last, "dual_coef_") and hasattr(last, "support_vectors_"):
        raise InputError(
            f"the {name} tells {classes} classes apart pair by pair, which isn't supported: use LinearSVC"
        )
    coefficients = last.coef_.toarray() if hasattr(last.coef_, "toarray") else last.coef_
    weights = np.atleast_2d(np.asarray(coefficients, dtype=np.float64))
    bias = np.atleast_1d(np.asarray(last.intercept_, dtype=np.float64))
    scores = classes if classes > 2 else 1
    if weights.ndim != 2 or len(weights) != scores or len(bias) not in (1, scores):
        raise InputError(f"the {name} predicts {len(weights)} numbers at once: train one model for each")
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise InputError(f"the {name} has a coefficient that is NaN or infinite: train it on clean data")
    if scores == 1:
        return weights[0], bias[0]
    return weights.T.copy(), np.broadcast_to(bias, (scores,)).copy()


def _checked(last: Any, name: str, weights: Array, bias: Array, classes: int) -> bool:
    """Whether two classes' scores are log-odds, by random rows.

    Raises:
        InputError: The estimator does something else with its coefficients, such as a link function.
    """
    probes = np.random.default_rng(0).normal(size=(_PROBES, len(weights)))
    scores = probes @ weights + bias
    close = _TOLERANCE * (np.abs(probes) @ np.abs(weights) + np.abs(bias))
    with warnings.catch_warnings():
        # That these rows have no names.
        warnings.simplefilter("ignore")
        own = last.decision_function(probes) if classes else last.predict(probes)
        if own.shape != scores.shape or not (np.abs(own - scores) <= close).all():
            raise InputError(f"the {name} isn't linear in its coefficients: its predictions would be others")
        if classes != 2 or not hasattr(last, "predict_proba"):
            return False
        # 1 / (1 + exp(-s)), written so that nothing overflows.
        return np.allclose(last.predict_proba(probes)[:, 1], (1 + np.tanh(scores / 2)) / 2, atol=_TOLERANCE)


def folded(scaler: Scaler, weights: Array, bias: Array) -> tuple[Array, Array]:
    """Weights and bias for features as they are before they are scaled.

    What they are scaled by comes from the training data, so it is the owner's secret too:
    w ((z - offset) / scale) + b is (w / scale) z + (b - w offset / scale).
    """
    offset, scale = scaling(scaler)
    weights = (weights.T / scale).T
    return weights, bias - offset @ weights


def scaling(scaler: Scaler) -> tuple[Array, Array]:
    """What a scaler takes off each feature, and what it then divides it by."""
    count = scaler.n_features_in_
    offset, scale = np.zeros(count), np.ones(count)
    if isinstance(scaler, MinMaxScaler):
        return -scaler.min_ / scaler.scale_, 1 / scaler.scale_
    if isinstance(scaler, RobustScaler):
        offset = scaler.center_ if scaler.with_centering else offset
        return offset, scaler.scale_ if scaler.with_scaling else scale
    if isinstance(scaler, StandardScaler):
        offset = scaler.mean_ if scaler.with_mean else offset
        return offset, scaler.scale_ if scaler.with_std else scale
    return offset, scaler.scale_
