"""Private predictions by trees, forests, boosted trees and networks are scikit-learn's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tacit
from tacit import learn
from tacit.errors import InputError, ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Networks are trained for a few steps alone.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ROWS = 12
IRIS = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(IRIS[0]))
IRIS = IRIS[0][ORDER], IRIS[1][ORDER]
CANCER = load_breast_cancer(return_X_y=True)
# Whole numbers, which queries are exactly.
DIABETES = np.round(load_diabetes().data * 1000), load_diabetes().target


def predicted(estimator: Any, data: Any, protocol: str = "replicated", **options: Any) -> tuple[Any, Any]:
    """What the client learns and what scikit-learn says, of rows that training hasn't seen."""
    x, y = data
    estimator.fit(x[ROWS:100], y[ROWS:100])
    model = learn.from_sklearn(estimator, **options)
    plan = model.public.plan(ROWS, owner="owner", client="client")
    with tacit.local(protocol) as run:
        got = run(plan, owner=model.parameters(), client=model.public.queries(x[:ROWS]))
    return model.public.decode(got), estimator.predict(x[:ROWS])


CLASSIFIERS = [
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(5, random_state=0),
    ExtraTreesClassifier(5, max_depth=4, random_state=0),
    GradientBoostingClassifier(n_estimators=5, random_state=0),
    HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=8, min_samples_leaf=5, random_state=0),
    make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)),
    make_pipeline(MinMaxScaler(), RobustScaler(), DecisionTreeClassifier(random_state=0)),
]
REGRESSORS = [
    DecisionTreeRegressor(max_depth=4, random_state=0),
    RandomForestRegressor(5, max_leaf_nodes=12, random_state=0),
    GradientBoostingRegressor(n_estimators=8, random_state=0),
    HistGradientBoostingRegressor(max_iter=8, max_leaf_nodes=8, min_samples_leaf=5, random_state=0),
    HistGradientBoostingRegressor(loss="quantile", quantile=0.7, max_iter=3, min_samples_leaf=5),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda one: type(one).__name__)
def test_classes_by_trees_are_scikit_learns(estimator: Any, classes: int) -> None:
    x, y = IRIS
    got, clear = predicted(estimator, (x, y if classes == 3 else y > 0), units=0.1)
    np.testing.assert_array_equal(got, clear)


def test_a_model_that_was_trained_with_missing_values_predicts_rows_that_have_none() -> None:
    x, y = DIABETES
    trained = x.copy()
    # Where more than half is missing, trees ask whether it is.
    trained[np.random.default_rng(4).random(x.shape) < 0.6] = np.nan
    estimator = HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5).fit(trained[ROWS:], y[ROWS:])
    asked = np.concatenate([part.nodes["num_threshold"] for (part,) in estimator._predictors])
    assert np.isinf(asked).any()
    model = learn.from_sklearn(estimator)
    with tacit.local() as run:
        got = run(
            model.public.plan(ROWS, owner="owner", client="client"),
            owner=model.parameters(),
            client=model.public.queries(x[:ROWS]),
        )
    np.testing.assert_allclose(model.public.decode(got), estimator.predict(x[:ROWS]), atol=1e-4)
    with pytest.raises(InputError, match="fill in or leave out what is missing"):
        model.public.queries(trained[:ROWS])


def test_a_frame_with_names_trains_a_model_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    x, y = load_iris(return_X_y=True, as_frame=True)
    for estimator in (HistGradientBoostingClassifier(max_iter=2), GradientBoostingClassifier(n_estimators=2)):
        learn.from_sklearn(estimator.fit(x, y))
    assert not [str(one.message) for one in recwarn]


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda one: type(one).__name__)
def test_regressions_by_trees_are_scikit_learns(estimator: Any) -> None:
    got, clear = predicted(estimator, DIABETES)
    np.testing.assert_allclose(got, clear, atol=1e-5)


@pytest.mark.parametrize("protocol", ["astra", "replicated-malicious", "astra-malicious", "mascot", "gmw"])
def test_a_tree_asks_alike_under_every_protocol(protocol: str, pytestconfig: pytest.Config) -> None:
    if protocol == "mascot" and not pytestconfig.getoption("--long"):
        pytest.skip("some seconds")
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    bounds = learn.Bounds(queries=128, bias=2)
    got, clear = predicted(model, IRIS, protocol, units=0.1, bounds=bounds)
    np.testing.assert_array_equal(got, clear)


@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
def test_classes_by_networks_are_scikit_learns(activation: str, pytestconfig: pytest.Config) -> None:
    if activation in ("logistic", "identity") and not pytestconfig.getoption("--long"):
        pytest.skip("much as the others")
    network = MLPClassifier((6, 4), activation=activation, random_state=0, solver="lbfgs", max_iter=30)
    bounds = learn.Bounds(weights=64, queries=16, bias=64)
    got, clear = predicted(make_pipeline(StandardScaler(), network), IRIS, bounds=bounds)
    np.testing.assert_array_equal(got, clear)


def test_a_network_reads_digits_as_in_floats() -> None:
    images, labels = load_digits(return_X_y=True)
    train, known, asked = images[:1437] / 16, labels[:1437], images[1437:] / 16
    estimator = make_pipeline(StandardScaler(), MLPClassifier((24,), max_iter=15, random_state=0)).fit(
        train, known
    )
    model = learn.from_sklearn(estimator, bounds=learn.Bounds(weights=256, queries=2, bias=64))
    plan = model.public.plan(len(asked), owner="owner", client="client")
    with tacit.local() as run:
        got = run(plan, owner=model.parameters(), client=model.public.queries(asked))
    right = [
        int((one == labels[1437:]).sum()) for one in (model.public.decode(got), estimator.predict(asked))
    ]
    assert abs(right[0] - right[1]) <= 1


def test_regressions_by_networks_are_scikit_learns() -> None:
    network = MLPRegressor(hidden_layer_sizes=(6,), random_state=0, solver="lbfgs", max_iter=30)
    x, y = CANCER
    x = StandardScaler().fit_transform(x[:, :5]).clip(-8, 8)
    got, clear = predicted(network, (x, y))
    np.testing.assert_allclose(got, clear, atol=2e-3)


def test_a_model_prints_nothing_secret_and_a_stump_is_a_tree() -> None:
    x, y = np.arange(8.0).reshape(-1, 1), np.ones(8)
    model = learn.from_sklearn(DecisionTreeRegressor().fit(x, y))
    assert isinstance(model, learn.Trained)
    assert "thresholds" not in repr(model)
    with tacit.local() as run:
        out = run(model.public.plan(8), owner=model.parameters(), client=model.public.queries(x))
    np.testing.assert_allclose(model.public.decode(out), 1, atol=1e-6)


@pytest.mark.parametrize(
    "public",
    [
        learn.Forest(features=3, trees=2, leaves=4, labels=("a", "b"), units=(1.0, 0.5, 0.1), fraction=12),
        learn.Network(features=3, layers=(4, 1), activation="tanh", bounds=learn.Bounds(8, 8, 8)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_is_public_is_read_as_it_was_written(public: Any, tmp_path: Path) -> None:
    path = tmp_path / "public.json"
    public.save(path)
    assert type(public).load(path) == public
    assert type(public).load(path).plan(2).hash == public.plan(2).hash
    written = json.loads(path.read_text())
    for key, value in [
        ("trees", -1),
        ("leaves", 2.5),
        ("layers", []),
        ("layers", [True]),
        ("activation", "x"),
    ]:
        if key in written:
            path.write_text(json.dumps(written | {key: value}))
            with pytest.raises(InputError, match=r"holds no (forest|network)"):
                type(public).load(path)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: learn.from_sklearn(DecisionTreeClassifier()), "is not fitted"),
        (lambda: learn.from_sklearn(MLPClassifier()), "is not fitted"),
        (
            lambda: learn.from_sklearn(DecisionTreeRegressor().fit(*IRIS), threshold=0.5),
            "a threshold is for log-odds",
        ),
        (
            lambda: learn.from_sklearn(DecisionTreeRegressor().fit(IRIS[0] * 1000, IRIS[1])),
            "beyond the declared bound of 1024; declare Bounds(queries=",
        ),
        (
            lambda: learn.from_sklearn(DecisionTreeRegressor().fit(IRIS[0], IRIS[0])),
            "train one model for each",
        ),
        (
            lambda: learn.from_sklearn(
                GradientBoostingRegressor(n_estimators=2, init=LinearRegression()).fit(*IRIS)
            ),
            "does something else with its trees",
        ),
        (
            lambda: learn.from_sklearn(
                HistGradientBoostingClassifier(max_iter=2, categorical_features=[1, 3]).fit(
                    np.round(IRIS[0]), IRIS[1]
                )
            ),
            "splits by categories (feature 1, 3)",
        ),
        (
            lambda: learn.from_sklearn(
                HistGradientBoostingRegressor(max_iter=2, loss="poisson").fit(IRIS[0], IRIS[1] + 1)
            ),
            "loss='poisson'",
        ),
        (lambda: learn.from_sklearn(HistGradientBoostingRegressor()), "is not fitted"),
        (lambda: learn.Forest(features=2, trees=1, leaves=2, bounds=learn.Bounds(bias=2.0**40)), "no room"),
        (lambda: learn.Network(features=2, layers=(1,), activation="sine"), "isn't one of identity"),
    ],
)
def test_what_is_no_model_is_refused(make: Callable[[], Any], says: str) -> None:
    with pytest.raises((InputError, ProgramError)) as caught:
        make()
    assert says in str(caught.value)


def test_an_unfitted_scaler_before_trees_or_networks_is_refused() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    for last in (DecisionTreeClassifier(max_depth=2), MLPClassifier((2,), max_iter=5)):
        last.fit(x, y)
        with pytest.raises(InputError, match="the StandardScaler is not fitted"):
            learn.from_sklearn(make_pipeline(StandardScaler(), last))
