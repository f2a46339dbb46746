"""Private predictions: trained linear models asked about secret queries, neither of which anybody shows.

A model's owner makes a `Model` of a scikit-learn estimator. Its `Predictor` is what may be known of it: how
many features, which labels, between which bounds. From that all others make the same plan: the owner saves it
as a file for them.

    model = tacit.learn.from_sklearn(estimator, bounds=tacit.learn.Bounds(weights=64, queries=1, bias=64))
    model.public.save("public.json")                       # for others: tacit.learn.Predictor.load(...)
    plan = model.public.plan(rows=100, owner="hospital", client="alice")
    run(plan, **model.parameters())                        # the owner
    model.public.decode(run(plan, queries=model.public.queries(z)))      # the client

The functions are those of Chaudhari et al. 2019, section 5.5. A score is `w . z + b`; a regression tells the
score itself, two classes are told apart by its sign, more than two by which of their scores is largest. What
is the owner's alone is computed in the clear beforehand: the sum over support vectors that makes the weights
of a support vector machine, and the threshold, which becomes part of the bias.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from tacit._bounds import Bounds, is_number, within
from tacit._groups import k_means, nearest, pca
from tacit._models import Forest, Network, Trained
from tacit._public_model import PublicModel
from tacit._tensor import matmul
from tacit._trace import function, reveal, secret
from tacit._train import linear_regression, logistic_regression, standardize
from tacit.dtypes import fixed
from tacit.errors import InputError, ProgramError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tacit._plan import Plan

    Array: TypeAlias = NDArray[np.float64]

__all__ = [
    "Bounds",
    "Forest",
    "Model",
    "Network",
    "Predictor",
    "Trained",
    "from_sklearn",
    "k_means",
    "linear_regression",
    "logistic_regression",
    "nearest",
    "pca",
    "standardize",
]

FRACTION = 13
"""Fraction bits of weights and queries if nothing else is said (section 5.3); scores have twice as many."""


@dataclass(frozen=True, slots=True)
class Predictor(PublicModel):
    """What may be known of a linear model: from it owner, client and servers each make the same plan.

    Attributes:
        features: How many numbers a query has.
        labels: The classes in the model's order; empty for a regression. Servers that aren't to know them can
            be given others, as many: they are no part of the plan.
        bounds: Of weights, queries and bias. With f fraction bits the largest score that they allow,
            features * weights * queries + bias, has to be below 2**(63 - 2 f): else signs could be wrong.
        units: What each feature is divided by before it is shared; one number for all, or one for each.
            Powers of two lose nothing.
        fraction: Fraction bits of weights and queries, from 1 to 16. Bias and scores have twice as many, so
            that nothing is rounded but the inputs.
    """

    _FORM = "predictor"

    def plan(self, rows: int, *, owner: str = "owner", client: str = "client") -> Plan:
        """The plan that predicts for some queries at once.

        Its inputs are `queries` (rows, features) of the client, and `weights` (features) and `bias` () of the
        owner, for more than two classes (features, classes) and (classes). The client alone learns the output
        (rows): scores, or what `decode` makes labels of.

        Cost: a product of matrices, one round, and under `replicated` and `astra` as many bytes whatever the
        number of features; for two classes a comparison a row, for more as many less one. Where a server may
        deviate it is the same under `replicated-malicious`, and proofs; under `astra-malicious` each of the
        rows * features products takes a triple ahead of time. `plan.cost()` says what it costs.

        Args:
            rows: How many queries the client has.
            owner: Who has the model: a party, or a client of the servers.
            client: Who asks.
        """
        bounds, outputs = self.bounds, self._outputs
        small, wide = fixed(self.fraction), fixed(2 * self.fraction)

        def declared(who: str, shape: tuple[int, ...], bound: float, of: Any) -> Any:
            return secret(who, shape=shape, dtype=of, range=(-bound, bound))

        return _PROGRAMS[min(len(self.labels), 3)].trace(
            declared(client, (rows, self.features), bounds.queries, small),
            declared(owner, (self.features, *outputs), bounds.weights, small),
            declared(owner, outputs, bounds.bias, wide),
            client,
        )

    @property
    def _outputs(self) -> tuple[int, ...]:
        """The axes of a row's scores."""
        return (len(self.labels),) if len(self.labels) > 2 else ()

    def _check(self) -> None:
        """Refuses bounds within which a score could leave 64 bits, and says which to declare."""
        bounds, unit = self.bounds, 1 << self.fraction
        # In the steps to which ends of ranges are rounded.
        weights, queries = (math.floor(end * unit + 0.5) for end in (bounds.weights, bounds.queries))
        bias = math.floor(bounds.bias * unit**2 + 0.5)
        score = self.features * weights * queries + bias
        if score < 1 << 63:
            return
        room = 2.0 ** (63 - 2 * self.fraction)
        if bias >= 1 << 63:
            hint = f"declare a bias below {room:.4g}"
        else:
            most = (room - bounds.bias) / self.features
            less = 2.0 ** (math.ceil(math.log2(most / bounds.weights)) - 1)
            hint = (
                f"declare weights and queries whose product is below {most:.4g}, for example "
                f"Bounds(weights={bounds.weights:g}, queries={less:g}, bias={bounds.bias:g}), with larger "
                "units for the features if need be; or take a smaller fraction"
            )
        raise ProgramError(
            f"with {self.features} features, weights up to {bounds.weights:g}, queries up to "
            f"{bounds.queries:g} and a bias up to {bounds.bias:g} a score may be "
            f"{score / unit**2:.4g}, and 64 bits of which {2 * self.fraction} are fraction hold what "
            f"is below {room:.4g}",
            hint=hint,
        )


@dataclass(frozen=True, slots=True)
class Model:
    """A trained linear model: the owner's secret. Made by `from_sklearn`; prints what is public of it.

    Attributes:
        public: What all others may know, and need in order to make the plan.
        weights: (features) or (features, classes), for features in the predictor's units.
        bias: () or (classes), the threshold included.
    """

    public: Predictor
    weights: Array = field(repr=False)
    bias: Array = field(repr=False)

    def __post_init__(self) -> None:
        public, bounds = self.public, self.public.bounds
        shape = (public.features, *public._outputs)
        if self.weights.shape != shape or self.bias.shape != public._outputs:
            raise InputError(
                f"weights {self.weights.shape} and bias {self.bias.shape} are not those of {public}"
            )
        within("weights", self.weights, bounds.weights, 0)
        within("bias", self.bias, bounds.bias, 0)

    def parameters(self) -> dict[str, Array]:
        """The owner's inputs, by name: `run(plan, **model.parameters())`."""
        return {"weights": self.weights, "bias": self.bias}

    @property
    def error(self) -> float:
        """How far a score can be from the estimator's, for queries within the bounds, by rounding the inputs.

        What 64-bit floats lose where features are divided by their units, and in the estimator itself, isn't
        in it. A class can differ only where the score is that close to the threshold, or twice that close to
        another class's. Tells something of the weights: the owner's to know.
        """
        # |w' z' - w z| <= |w| u/2 + |z'| u/2 with |w' - w|, |z' - z| <= u/2; of the bias half a step of u**2.
        half = 2.0 ** -(self.public.fraction + 1)
        reach = self.public.bounds.queries + half
        largest = float(abs(self.weights).sum(axis=0).max())
        return half * (largest + self.public.features * reach) + 2 * half**2


def from_sklearn(
    estimator: Any,
    *,
    bounds: Bounds | None = None,
    threshold: float | None = None,
    units: float | Sequence[float] = 1.0,
    fraction: int | None = None,
) -> Model | Trained:
    """A model of a fitted estimator of scikit-learn.

    A linear one makes a `Model`: `LinearRegression`, `Ridge`, `Lasso`, `SGDRegressor`, `LinearSVR`,
    `SVR(kernel="linear")` and their like; `LogisticRegression`, `LinearSVC`, `SGDClassifier`,
    `RidgeClassifier`, and with two classes `SVC(kernel="linear")`.

    Trees, random forests, extra trees, gradient boosting and `HistGradientBoosting` (of rows in which
    nothing is missing; trained without categorical features) make a `Trained` one with a `Forest`,
    `MLPClassifier` and `MLPRegressor` one with a `Network`.

    Each may be the last step of a pipeline after `StandardScaler`, `MinMaxScaler`, `MaxAbsScaler` and
    `RobustScaler`, which become part of it.

    Args:
        estimator: The estimator or pipeline.
        bounds: Which magnitudes everybody may know; wide ones if not given. Don't fit them to the weights
            closely: they are public. Of trees `queries` bounds thresholds, too, and `bias` what leaves say.
        threshold: How probable the second of two classes has to be to be predicted, above 0 and below 1, for
            a model of log-odds such as `LogisticRegression`; 1/2 if not given. It is the owner's secret.
        units: What the client divides each feature by. See `Predictor`.
        fraction: Fraction bits of weights and queries; if not given, 13, and 16 of a network.

    Raises:
        InputError: The estimator isn't fitted or none of these, its numbers aren't finite or are beyond the
            bounds, or the threshold isn't one.
        ProgramError: With these bounds a score could overflow.
    """
    import numpy as np

    from tacit import _sklearn, _sklearn_trees

    scalers, last = _sklearn.steps(estimator)
    each = tuple(map(float, units)) if isinstance(units, (tuple, list, np.ndarray)) else float(units)  # type: ignore[arg-type]
    if _sklearn_trees.is_known(last):
        if threshold is not None:
            raise InputError(f"a threshold is for log-odds: leave it out for this {type(last).__name__}")
        return _sklearn_trees.trained(scalers, last, bounds, each, fraction)
    fraction = FRACTION if fraction is None else fraction
    linear = _sklearn.linear(estimator)
    bias = linear.bias
    if threshold is not None:
        bias = bias - _log_odds(threshold, linear)
    public = Predictor(
        features=linear.weights.shape[0],
        labels=linear.labels,
        bounds=Bounds() if bounds is None else bounds,
        units=each,
        fraction=fraction,
    )
    # (z / units) . (w * units) = z . w
    scale = np.asarray(each).reshape(-1, *[1] * (linear.weights.ndim - 1))
    return Model(public, linear.weights * scale, bias)


@function
def _regression(queries: Any, weights: Any, bias: Any, client: str) -> Any:
    """The score itself."""
    return reveal(matmul(queries, weights, exact=True) + bias, to=client)


@function
def _two_classes(queries: Any, weights: Any, bias: Any, client: str) -> Any:
    """The score's sign, and not how sure the model is. Like scikit-learn, the first class where it is 0."""
    return reveal(matmul(queries, weights, exact=True) + bias > 0, to=client)


@function
def _many_classes(queries: Any, weights: Any, bias: Any, client: str) -> Any:
    """Which score is the largest, and none of the scores."""
    return reveal((matmul(queries, weights, exact=True) + bias).argmax(axis=1), to=client)


_PROGRAMS = {0: _regression, 2: _two_classes, 3: _many_classes}
"""What is computed, by the number of labels; the last for more."""


def _log_odds(threshold: float, linear: Any) -> float:
    """ln(t / (1 - t)), which a score has to be above."""
    if len(linear.labels) != 2 or not linear.log_odds:
        raise InputError(
            "a threshold is for two classes told apart by their log-odds, as LogisticRegression does: leave "
            f"it out for this {linear.name}"
        )
    if not is_number(threshold) or not 0 < threshold < 1:
        raise InputError(f"threshold={threshold!r}: a probability above 0 and below 1 is needed")
    return math.log(threshold) - math.log1p(-threshold)
