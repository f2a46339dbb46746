"""Private predictions are those of scikit-learn, on its own data sets, under every protocol that can."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, OneClassSVM

import tacit
from tacit import learn
from tests.support import same

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROTOCOLS = ["replicated", "astra", "astra roles=210", "astra-malicious"]
PROVED = "replicated-malicious"

CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
DIGITS = load_digits(return_X_y=True)

REGRESSIONS = [
    LinearRegression(),
    Ridge(),
    Lasso(alpha=0.1),
    make_pipeline(StandardScaler(), SGDRegressor(random_state=0)),
    make_pipeline(MaxAbsScaler(), RobustScaler(with_centering=False), MinMaxScaler((-1, 2)), Ridge()),
    make_pipeline(RobustScaler(with_scaling=False), StandardScaler(with_mean=False), Ridge()),
    LinearSVR(random_state=0),
    SVR(kernel="linear"),
]
CLASSIFICATIONS = [
    LogisticRegression(),
    LinearSVC(random_state=0),
    SVC(kernel="linear"),
    SGDClassifier(loss="log_loss", random_state=0),
    RidgeClassifier(),
]


def named(estimators: list[Any]) -> dict[str, Any]:
    return {"argvalues": estimators, "ids": [type(estimator).__name__ for estimator in estimators]}


@functools.cache
def digits(name: str) -> Any:
    """A model of ten digits, trained once for all protocols."""
    estimators = {"logistic": LogisticRegression(), "machine": LinearSVC(random_state=0)}
    return standardised(estimators[name], DIGITS)


@functools.cache
def large_digits() -> tuple[Any, Any]:
    """Digits enlarged to 28 x 28, and a model of whether they are above 4."""
    x, digit = DIGITS
    places = np.arange(28) * 8 // 28
    large = x.reshape(-1, 8, 8)[:, places][:, :, places].reshape(len(x), 784) / 16
    return large, SVC(kernel="linear").fit(large[:300], digit[:300] > 4)


def standardised(estimator: Any, data: Any = CANCER) -> Any:
    return make_pipeline(StandardScaler(), estimator).fit(*data)


def units_of(x: Any) -> Any:
    """Powers of two above the features."""
    return 2.0 ** np.ceil(np.log2(np.abs(x).max(axis=0) + 1e-3))


def model_of(estimator: Any, x: Any, **options: Any) -> learn.Model:
    options = {"bounds": learn.Bounds(4096, 1, 4096), "units": units_of(x), **options}
    model = learn.from_sklearn(estimator, **options)
    assert isinstance(model, learn.Model)
    return model


def predicted(model: learn.Model, x: Any, protocol: str = "replicated") -> Any:
    """What the client learns."""
    public = model.public
    with tacit.local(protocol) as run:
        return public.decode(run(public.plan(len(x)), queries=public.queries(x), **model.parameters()))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("estimator", **named(REGRESSIONS))
def test_regressions_are_scikit_learns(estimator: Any, protocol: str) -> None:
    x, _ = DIABETES
    fitted = estimator.fit(*DIABETES)
    model = model_of(fitted, x)
    got = predicted(model, x, protocol)
    assert got.shape == (len(x),)
    assert model.error < 2
    assert 0 < np.abs(got - fitted.predict(x)).max() <= model.error


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("estimator", **named(CLASSIFICATIONS))
def test_classes_are_scikit_learns(estimator: Any, protocol: str) -> None:
    x, _ = CANCER
    fitted = standardised(estimator)
    model = model_of(fitted, x)
    clear = np.abs(fitted.decision_function(x)) > model.error
    assert clear.mean() > 0.9
    same(predicted(model, x, protocol)[clear], fitted.predict(x)[clear])


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ["logistic", "machine"])
def test_the_largest_of_ten_scores_is_scikit_learns(name: str, protocol: str) -> None:
    x, _ = DIGITS
    same(predicted(model_of(digits(name), x), x[:200], protocol), digits(name).predict(x[:200]))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("rows", [1, 1000])
def test_784_features(rows: int, protocol: str) -> None:
    large, fitted = large_digits()
    model = learn.from_sklearn(fitted, bounds=learn.Bounds(weights=64, queries=1, bias=64))
    assert isinstance(model, learn.Model)
    assert model.public.labels == (False, True)
    clear = np.abs(fitted.decision_function(large[:rows])) > model.error
    same(predicted(model, large[:rows], protocol)[clear], fitted.predict(large[:rows])[clear])


@pytest.mark.parametrize(
    "estimator", **named([LogisticRegression(), SGDClassifier(loss="log_loss", random_state=0)])
)
@pytest.mark.parametrize("threshold", [1e-6, 0.05, 0.3, 0.5, 0.9, 1 - 1e-9])
def test_a_threshold_moves_what_is_predicted(estimator: Any, threshold: float) -> None:
    x, _ = CANCER
    fitted = standardised(estimator)
    model = model_of(fitted, x, threshold=threshold)
    odds = np.log(threshold / (1 - threshold))
    clear = np.abs(fitted.decision_function(x) - odds) > model.error + 1e-6
    expected = fitted.predict_proba(x)[:, 1] > threshold
    same(predicted(model, x, "astra")[clear], expected[clear].astype(int))


def test_where_a_server_may_deviate_it_is_the_same_and_proved() -> None:
    for estimator, (x, y) in ((LinearRegression(), DIABETES), (LogisticRegression(), CANCER)):
        x = x[:, :3]
        fitted = make_pipeline(StandardScaler(), estimator).fit(x, y)
        model = model_of(fitted, x)
        same(predicted(model, x[:4], PROVED), predicted(model, x[:4]))
    costs = model.public.plan(4).cost().protocols
    sent = {
        name: sum(costs[name].bytes[server] for server in ("P0", "P1", "P2"))
        for name in (PROVED, "replicated")
    }
    # Proofs of products, and of the ANDs of a sign: some kilobytes from each server.
    assert 10_000 < sent[PROVED] - sent["replicated"] < 20_000


def test_labels_are_the_estimators_and_the_client_alone_has_them() -> None:
    x, y = CANCER
    names = np.array(["malignant", "benign"])[y]
    fitted = standardised(LogisticRegression(), (x, names))
    model = model_of(fitted, x)
    same(predicted(model, x[:20]), fitted.predict(x[:20]))
    servers = replace(model.public, labels=(0, 1))
    plan = servers.plan(20, owner="hospital", client="alice")
    assert plan.hash == model.public.plan(20, owner="hospital", client="alice").hash
    assert [given.owner for given in plan.inputs] == ["alice", "hospital", "hospital"]
    assert [output.to for output in plan.outputs] == ["alice"]
    with pytest.raises(tacit.InputError, match="revealed to the client alone"):
        model.public.decode(None)


def test_parties_can_own_and_ask() -> None:
    x, _ = DIABETES
    fitted = LinearRegression().fit(*DIABETES)
    model = model_of(fitted, x)
    plan = model.public.plan(3, owner="P0", client="P2")
    with tacit.local("astra") as run:
        got = run(plan, P0=model.parameters(), P2=model.public.queries(x[:3]))
    np.testing.assert_allclose(got, fitted.predict(x[:3]), atol=model.error)


@pytest.mark.parametrize(("labels", "rounds"), [((), 1), ((0, 1), 9)])
def test_rounds_do_not_depend_on_features(labels: tuple[int, ...], rounds: int) -> None:
    # A product and nothing to be truncated; for a class the carries of 64 bits.
    for features in (1, 784):
        cost = learn.Predictor(features, labels).plan(10).cost(protocol="replicated").protocols["replicated"]
        assert cost.phases["online"][0] <= rounds


def test_at_the_ends_of_the_ranges_nothing_overflows() -> None:
    # The widest bounds that are accepted: scores of almost 2^37.
    bounds = learn.Bounds(weights=2.0**13, queries=2.0**14, bias=2.0**29 - 1)
    public = learn.Predictor(1020, (0, 1), bounds)
    for sign in (1.0, -1.0):
        model = learn.Model(public, np.full(1020, sign * bounds.weights), np.array(sign * bounds.bias))
        queries = np.full((2, 1020), bounds.queries)
        same(predicted(model, queries, "astra"), np.full(2, int(sign > 0)))
        score = sign * (1020 * 2.0**27 + 2.0**29 - 1)
        same(predicted(replace(model, public=replace(public, labels=())), queries), np.full(2, score))


def test_a_model_prints_nothing_secret() -> None:
    model = learn.from_sklearn(LinearRegression().fit([[0.0], [1.0]], [0.125, 77.5]), fraction=10)
    assert repr(model) == f"Model(public={model.public!r})"
    assert eval(repr(model.public), {"Predictor": learn.Predictor, "Bounds": learn.Bounds}) == model.public


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: LinearRegression(), "LinearRegression is not fitted: call .fit"),
        (lambda: make_pipeline(StandardScaler(), LinearRegression()), "StandardScaler is not fitted"),
        (lambda: SVR().fit(*DIABETES), "kernel 'rbf', which isn't linear: train it with kernel=\"linear\""),
        (lambda: PoissonRegressor().fit(*DIABETES), "PoissonRegressor isn't linear in its coefficients"),
        (lambda: SVC(kernel="linear").fit(DIGITS[0][:99], DIGITS[1][:99]), "10 classes apart pair by pair"),
        (lambda: LinearRegression().fit(DIABETES[0], np.c_[DIABETES[1], DIABETES[1]]), "one model for each"),
        (
            lambda: make_pipeline(PCA(), LinearRegression()).fit(*DIABETES),
            "a PCA(), and only StandardScaler, MinMaxScaler",
        ),
        (
            lambda: make_pipeline(MinMaxScaler(clip=True), LinearRegression()).fit(*DIABETES),
            "without clip=True",
        ),
        (lambda: OneClassSVM(kernel="linear").fit(DIABETES[0]), "neither a regression nor a classification"),
        (lambda: 7, "an estimator of scikit-learn is needed, not 7"),
        (lambda: spoilt(LinearRegression().fit(*DIABETES)), "NaN or infinite"),
    ],
)
def test_what_is_no_linear_model_is_refused(make: Callable[[], Any], says: str) -> None:
    with pytest.raises(tacit.InputError) as caught:
        learn.from_sklearn(make())
    assert says in str(caught.value)


def spoilt(fitted: Any) -> Any:
    fitted.coef_[3] = np.nan
    return fitted


def test_thresholds_are_probabilities_of_two_classes() -> None:
    logistic = standardised(LogisticRegression())
    for threshold in (0, 1, -0.5, float("nan"), "0.3"):
        with pytest.raises(tacit.InputError, match="a probability above 0 and below 1"):
            model_of(logistic, CANCER[0], threshold=threshold)
    for fitted in (standardised(LinearSVC()), LinearRegression().fit(*DIABETES), digits("logistic")):
        with pytest.raises(tacit.InputError, match="leave it out for this"):
            learn.from_sklearn(fitted, threshold=0.3)


@pytest.mark.parametrize("labels", [(), (False, True), (0, 1, 2), ("benign", "malignant")])
@pytest.mark.parametrize("units", [0.5, (1.0, 2.0, 4.0)])
def test_what_is_public_is_read_as_it_was_written(tmp_path: Path, labels: Any, units: Any) -> None:
    public = learn.Predictor(3, labels, learn.Bounds(64, 1, 32), units, fraction=12)
    public.save(tmp_path / "public.json")
    read = learn.Predictor.load(tmp_path / "public.json")
    assert read == public
    assert repr(read) == repr(public)
    assert read.plan(rows=2).hash == public.plan(rows=2).hash


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("format", "tacit predictor 2", "isn't of the format"),
        ("more", 1, "isn't of the format"),
        ("features", True, "features has to be an integer"),
        ("features", 0, "a query has one feature at least"),
        ("features", 10**400, "features has to be an integer"),
        ("labels", [1], "nothing to tell apart"),
        ("labels", [[1], [2]], "labels has to be"),
        ("labels", "ab", "labels has to be"),
        ("units", [1.0, 2.0], "units have to be above 0"),
        ("units", float("nan"), "finite"),
        ("units", 10**400, "finite"),
        ("units", 5e-324, "units have to be"),
        ("bounds", {"weights": 1.0, "queries": 1.0, "bias": 1e300}, "is no bound"),
        ("units", {}, "finite"),
        ("bounds", {"weights": 1}, "bounds has to have"),
        ("bounds", {"weights": 2.0**40, "queries": 2.0**40, "bias": 1}, "64 bits"),
        ("bounds", {"weights": 1, "queries": "1", "bias": 1}, "finite"),
        ("fraction", 17, "from 1 to 16"),
        ("fraction", 12.0, "fraction has to be an integer"),
    ],
)
def test_a_bad_file_of_what_is_public_is_refused(tmp_path: Path, key: str, value: Any, says: str) -> None:
    path = tmp_path / "public.json"
    learn.Predictor(3, (0, 1)).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(tacit.InputError, match="public.json holds no predictor .*" + re.escape(says)):
        learn.Predictor.load(path)


@pytest.mark.parametrize("text", ["", "[" * 100_000, "\xff", "[]", "9" * 10_000])
def test_what_is_no_file_of_a_predictor_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "public.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(tacit.InputError, match="holds no predictor"):
        learn.Predictor.load(path)


def test_what_is_beyond_a_bound_is_refused_and_the_bound_named() -> None:
    fitted = LinearRegression().fit(*DIABETES)
    for bounds, says in (
        (learn.Bounds(weights=1), r"weights of feature 0: .* bound of 1; declare Bounds\(weights=1024\)"),
        (learn.Bounds(bias=1), r"bias: .* bound of 1; declare Bounds\(bias=256\)"),
    ):
        with pytest.raises(tacit.InputError, match=says):
            learn.from_sklearn(fitted, bounds=bounds)
    public = learn.Predictor(2, bounds=learn.Bounds(queries=8))
    for queries, says in (
        ([[1, 2], [3, -9]], r"queries of feature 1: .* declare Bounds\(queries=16\)"),
        ([[1, float("nan")]], "a NaN or an infinity"),
        ([[1, 2, 3]], r"shape \(1, 3\), and the model has 2 features"),
        ([["a", "b"]], "no array of numbers"),
    ):
        with pytest.raises(tacit.InputError, match=says):
            public.queries(queries)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: learn.Predictor(784, bounds=learn.Bounds(weights=2e6, queries=2e6)),
            "below 1.753e+08, for example Bounds(weights=2e+06, queries=64,",
        ),
        (lambda: learn.Predictor(1, bounds=learn.Bounds(bias=2.0**37)), "declare a bias below 1.374e+11"),
        (lambda: learn.Predictor(4, fraction=16, bounds=learn.Bounds(2**15, 2**14, 1)), "hold what is below"),
        (lambda: learn.Predictor(0), "one feature at least"),
        (lambda: learn.Predictor(1, ("yes",)), "two labels or more"),
        (lambda: learn.Predictor(3, units=(1.0, 2.0)), "a tuple of 3"),
        (lambda: learn.Predictor(1, fraction=17), "from 1 to 16"),
        (lambda: learn.Bounds(weights=0), "weights=0 is no bound"),
        (lambda: learn.Bounds(queries=float("inf")), "queries=inf is no bound"),
    ],
)
def test_bounds_within_which_a_sign_could_be_wrong_are_refused(make: Callable[[], Any], says: str) -> None:
    with pytest.raises(tacit.ProgramError) as caught:
        make()
    assert says in str(caught.value)


@pytest.mark.parametrize("features", [1, 10, 784])
@pytest.mark.parametrize("fraction", [1, 13, 16])
def test_the_bounds_that_are_advised_are_accepted(features: int, fraction: int) -> None:
    for weights in (0.5, 1000.0, 123456.0):
        bounds = learn.Bounds(weights, 2.0**63, 1)
        with pytest.raises(tacit.ProgramError) as caught:
            learn.Predictor(features, bounds=bounds, fraction=fraction)
        advised = eval(
            str(caught.value).split("for example ")[1].split(", with")[0], {"Bounds": learn.Bounds}
        )
        learn.Predictor(features, (0, 1), advised, fraction=fraction).plan(2)
