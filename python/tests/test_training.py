"""Models trained on secrets are scikit-learn's within a stated tolerance, and one small plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

import tacit
from tacit import learn
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

DIABETES = load_diabetes(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
IRIS = load_iris().data


def scaled(x: Any) -> Any:
    return StandardScaler().fit_transform(x).clip(-8, 8)


def plan_of(function: Callable[..., Any], *arrays: Any, ranges: Any) -> tacit.Plan:
    secrets = [
        tacit.secret(f"owner{place}", shape=array.shape, range=ends)
        for place, (array, ends) in enumerate(zip(arrays, ranges, strict=True))
    ]
    return tacit.function(lambda *given: tacit.reveal(function(*given))).trace(*secrets)


def trained(
    function: Callable[..., Any], *arrays: Any, ranges: Any, protocol: str = "replicated", **options: Any
) -> Any:
    plan = plan_of(function, *arrays, ranges=ranges)
    with tacit.local(protocol, **options) as run:
        return run(plan, **{f"owner{place}": [array] for place, array in enumerate(arrays)})


@pytest.mark.parametrize("alpha", [0.0, 10.0])
def test_linear_regressions_are_scikit_learns(alpha: float) -> None:
    x, y = scaled(DIABETES[0]), DIABETES[1]
    model = (Ridge(alpha) if alpha else LinearRegression()).fit(x, y)
    weights, bias = trained(
        lambda x, y: learn.linear_regression(x, y, alpha=alpha), x, y, ranges=[(-8, 8), (0, 400)]
    )
    # Columns of which two are almost the same: the condition number is above 200.
    np.testing.assert_allclose(weights, model.coef_, atol=5e-3)
    np.testing.assert_allclose(bias, model.intercept_, atol=1e-3)


def test_logistic_regressions_are_scikit_learns() -> None:
    x, y = scaled(CANCER[0][:200, :4]), CANCER[1][:200]
    model = LogisticRegression(tol=1e-10).fit(x, y)
    weights, bias = trained(
        lambda x, y: learn.logistic_regression(x, y, epochs=6), x, y, ranges=[(-8, 8), (0, 1)]
    )
    np.testing.assert_allclose(weights, model.coef_[0], atol=5e-3)
    np.testing.assert_allclose(bias, model.intercept_[0], atol=5e-3)


@pytest.mark.parametrize("logistic", [False, True])
def test_descents_take_the_steps_that_numpy_takes(logistic: bool) -> None:
    x, y = scaled(CANCER[0][:60, :3]), CANCER[1][:60].astype(float)
    train: Any = learn.logistic_regression if logistic else learn.linear_regression
    weights, bias = trained(
        lambda x, y: train(x, y, solver="sgd", epochs=10, rate=0.5, batch=20, alpha=1.0),
        x,
        y,
        ranges=[(-8, 8), (0, 1)],
    )
    one, clear = np.c_[x, np.ones(60)], np.zeros(4)
    for _ in range(10):
        for start in range(0, 60, 20):
            some, wanted = one[start : start + 20], y[start : start + 20]
            scores = some @ clear
            error = (1 / (1 + np.exp(-scores)) if logistic else scores) - wanted
            clear = clear - 0.5 * (some.T @ error / 20 + clear * [1 / 60, 1 / 60, 1 / 60, 0])
    np.testing.assert_allclose([*weights, bias], clear, atol=1e-3)


def test_a_thousand_steps_are_one_small_plan() -> None:
    def train(epochs: int) -> tacit.Plan:
        def program(x: Any, y: Any) -> Any:
            return learn.logistic_regression(x, y, solver="sgd", epochs=epochs)

        return plan_of(program, IRIS, np.ones(150), ranges=[(0, 8), (0, 1)])

    few, many = (str(train(epochs)) for epochs in (2, 1000))
    assert len(many.splitlines()) == len(few.splitlines()) < 60


def test_columns_are_standardised() -> None:
    z = trained(learn.standardize, IRIS * 100, ranges=[(0, 10000)])
    np.testing.assert_allclose(z, scaled(IRIS), atol=1e-3)
    assert (trained(learn.standardize, np.full((4, 2), 3.0), ranges=[(0, 8)]) == 0).all()


def test_groups_are_scikit_learns() -> None:
    first = IRIS[[0, 60, 120]]
    model = KMeans(3, init=first, n_init=1, max_iter=6, tol=0, algorithm="lloyd").fit(IRIS)
    program = lambda x: learn.k_means(x, first, steps=6)  # noqa: E731 (named for what follows)
    centres = trained(program, IRIS, ranges=[(0, 8)])
    np.testing.assert_allclose(centres, model.cluster_centers_, atol=1e-3)
    groups = trained(learn.nearest, IRIS, centres, ranges=[(0, 8), (0, 8)])
    np.testing.assert_array_equal(groups, model.predict(IRIS))


def test_a_group_without_rows_keeps_its_centre() -> None:
    x = np.array([[1.0], [1.5], [2.0]])
    centres = trained(lambda x: learn.k_means(x, [[1.0], [7.0]], steps=2), x, ranges=[(0, 8)])
    np.testing.assert_allclose(centres, [[1.5], [7.0]], atol=1e-4)


def test_directions_are_scikit_learns() -> None:
    x = scaled(IRIS)
    model = PCA(2).fit(x)
    directions, variances = trained(lambda x: learn.pca(x, 2), x, ranges=[(-8, 8)])
    np.testing.assert_allclose(directions, model.components_, atol=1e-4)
    np.testing.assert_allclose(variances, model.explained_variance_, atol=1e-4)


@pytest.mark.parametrize("protocol", ["astra", "replicated-malicious", "astra-malicious", "gmw"])
def test_other_protocols_train_the_same(protocol: str, pytestconfig: pytest.Config) -> None:
    if protocol == "gmw" and not pytestconfig.getoption("--long"):
        pytest.skip("some seconds")
    x, y = scaled(IRIS[:12, :2]), IRIS[:12, 2]
    program = lambda x, y: learn.linear_regression(x, y, alpha=1.0)  # noqa: E731 (used twice)
    model = Ridge(1.0).fit(x, y)
    weights, bias = trained(program, x, y, ranges=[(-8, 8), (0, 8)], protocol=protocol)
    np.testing.assert_allclose(weights, model.coef_, atol=1e-3)
    np.testing.assert_allclose(bias, model.intercept_, atol=1e-3)


@pytest.mark.parametrize("protocol", ["astra", "replicated-malicious", "astra-malicious", "gmw"])
def test_other_protocols_find_the_same(protocol: str, pytestconfig: pytest.Config) -> None:
    if not pytestconfig.getoption("--long"):
        pytest.skip("some seconds each")
    x, y = IRIS[::10, :2] - 4, (np.arange(15) % 3 > 0).astype(float)
    programs: list[Callable[..., Any]] = [
        lambda x, y: learn.standardize(x) + y.mean(),
        lambda x, y: learn.logistic_regression(x, y, epochs=3)[0],
        lambda x, y: learn.logistic_regression(x, y, solver="sgd", epochs=2, batch=5)[0],
        lambda x, y: learn.k_means(x, [[1.0, 0.0], [2.0, 1.0]], steps=2) + y.mean(),
        lambda x, y: learn.pca(x, 1, squarings=3)[0] + y.mean(),
    ]
    for program in programs:
        got, usual = (
            trained(program, x, y, ranges=[(-4, 4), (0, 1)], protocol=one) for one in (protocol, "replicated")
        )
        np.testing.assert_array_equal(got, usual)


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (lambda x: learn.linear_regression(x[0], x[0]), "give it as (rows, features)"),
        (lambda x: learn.linear_regression(x, x[:2, 0]), "give a y for each row"),
        (lambda x: learn.logistic_regression(x, x[:, 0], solver="sgd", batch=7), "aren't a multiple"),
        (lambda x: learn.k_means(x, [[1.0, 2.0, 3.0]]), "centres (1, 3)"),
        (lambda x: learn.k_means(x, 3), "give some rows"),
        (lambda x: learn.k_means(x, [[1.0, 9.0]]), "outside the range of rows, 0 to 8"),
        (lambda x: learn.pca(x, 3), "there are from 1 to 2"),
        (
            lambda x: learn.pca(x * 10_000, 1),
            "declare its range=(low, high), or give tacit.learn.standardize",
        ),
        (lambda x: learn.logistic_regression(x, x[:, 0], solver="lbfgs"), "isn't one of irls and sgd"),  # type: ignore[arg-type]
    ],
)
def test_what_does_not_fit_is_refused(program: Callable[[Any], Any], says: str) -> None:
    with pytest.raises((ProgramError, ProgramTypeError)) as caught:
        plan_of(program, np.ones((4, 2)), ranges=[(0, 8)])
    assert says in str(caught.value)


def test_a_field_trains_too_at_its_price() -> None:
    plan = plan_of(learn.standardize, IRIS, ranges=[(0, 8)])
    cost = plan.cost()
    assert max(cost.protocols["mascot"].bytes.values()) > 1000 * max(
        cost.protocols["replicated"].bytes.values()
    )
