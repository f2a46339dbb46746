"""What fitted trees, forests and networks of scikit-learn compute, as arrays."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tacit._bounds import Bounds
from tacit._models import Trained, trained_forest, trained_network
from tacit._sklearn import check_fitted, folded, labels_of, scaling
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

TREES = (DecisionTreeClassifier, DecisionTreeRegressor)
FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)
BOOSTED = (GradientBoostingClassifier, GradientBoostingRegressor)
HISTOGRAMS = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
NETWORKS = (MLPClassifier, MLPRegressor)

_TOLERANCE = 1e-6
"""By how much an estimator and what is read of it may differ, as a share of the largest score."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree.

    Attributes:
        features: Which one each node asks for.
        thresholds: A node's answer is whether its feature is at most this.
        paths: (leaves, nodes): -1 where the answer has to be true, 1 where it has to be false, else 0.
        values: (leaves, scores).
    """

    features: NDArray[np.int64]
    thresholds: Array
    paths: NDArray[np.int64]
    values: Array

    def scores(self, z: Array) -> Array:
        """What it adds to the scores of each row, in the clear."""
        answers = z[:, self.features] <= self.thresholds
        wrong = answers.astype(int) @ self.paths.T + (self.paths < 0).sum(axis=1)
        scores: Array = (wrong == 0).astype(float) @ self.values
        return scores


def is_known(estimator: Any) -> bool:
    """Whether it is an estimator of these kinds."""
    return isinstance(estimator, TREES + FORESTS + BOOSTED + HISTOGRAMS + NETWORKS)


def trained(
    scalers: Sequence[Any], last: Any, bounds: Bounds | None, units: Any, fraction: int | None
) -> Trained:
    """A model of one of these estimators, of which scalers become part.

    Raises:
        InputError: It isn't fitted, predicts several numbers at once, or has some beyond the bounds.
    """
    check_fitted(*scalers, last)
    if isinstance(last, NETWORKS):
        weights, biases, public = network(last)
        for scaler in reversed(scalers):
            weights[0], biases[0] = folded(scaler, weights[0], biases[0])
        return trained_network(weights, biases, public, bounds, units, 16 if fraction is None else fraction)
    read, public = trees(last)
    for scaler in reversed(scalers):
        read = [_unscaled(scaler, tree) for tree in read]
    bounds = Bounds() if bounds is None else bounds
    return trained_forest(read, public, bounds, units, 13 if fraction is None else fraction)


def _unscaled(scaler: Any, tree: Tree) -> Tree:
    """The tree for features as they are before they are scaled."""
    offset, scale = scaling(scaler)
    return replace(tree, thresholds=tree.thresholds * scale[tree.features] + offset[tree.features])


def trees(estimator: Any) -> tuple[list[Tree], dict[str, Any]]:
    """The trees of an estimator, whose values add up to its scores, and what is public of it.

    Raises:
        InputError: It isn't fitted, predicts several numbers at once, or doesn't add its trees up.
    """
    name = type(estimator).__name__
    labels = labels_of(estimator)
    features = int(estimator.n_features_in_)
    if isinstance(estimator, HISTOGRAMS):
        _check_plain(estimator, name)
    if isinstance(estimator, BOOSTED + HISTOGRAMS):
        read = _boosted(estimator, len(labels))
    else:
        one = isinstance(estimator, TREES)
        parts = [estimator] if one else estimator.estimators_
        if estimator.n_outputs_ > 1:
            raise InputError(f"the {name} predicts {estimator.n_outputs_} numbers: train one model for each")
        read = [
            replace(tree, values=_of_classes(tree.values, len(labels)) / len(parts))
            for tree in (_tree(part.tree_) for part in parts)
        ]
    _check_scores(estimator, name, read, features, len(labels))
    return read, {"features": features, "labels": labels}


def network(estimator: Any) -> tuple[list[Array], list[Array], dict[str, Any]]:
    """Weights and biases of each layer, and what is public of the estimator.

    Raises:
        InputError: It isn't fitted, or predicts several things at once.
    """
    name = type(estimator).__name__
    labels = labels_of(estimator)
    scores = len(labels) if len(labels) > 2 else 1
    if estimator.n_outputs_ != scores or (is_classifier(estimator) and len(labels) < 2):
        raise InputError(
            f"the {name} predicts {estimator.n_outputs_} things at once: train one model for each"
        )
    public = {
        "features": int(estimator.n_features_in_),
        "labels": labels,
        "activation": estimator.activation,
    }
    return [*map(_floats, estimator.coefs_)], [*map(_floats, estimator.intercepts_)], public


def _check_plain(estimator: Any, name: str) -> None:
    """Refuses splits by sets of categories, and predictions that are functions of sums."""
    if estimator.is_categorical_ is not None and estimator.is_categorical_.any():
        features = ", ".join(map(str, np.flatnonzero(estimator.is_categorical_)))
        raise InputError(
            f"the {name} splits by categories (feature {features}), which isn't supported: train it with "
            "categorical_features=None, on columns of 0 and 1 for each category"
        )
    if not is_classifier(estimator) and estimator.loss in ("poisson", "gamma"):
        raise InputError(
            f"the {name} has loss={estimator.loss!r}, and predicts exponentials of what its trees add up to: "
            "train it on the logarithms of y"
        )


def _tree(tree: Any) -> Tree:
    """A tree of scikit-learn's."""
    values = np.asarray(tree.value, dtype=float)[:, 0, :]
    return _grown(tree.children_left, tree.children_right, tree.feature, tree.threshold, values)


def _of_histograms(nodes: Any) -> Tree:
    """A tree that was grown by histograms, whose thresholds are numbers all the same."""
    is_leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(is_leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
    return _grown(left, right, nodes["feature_idx"], nodes["num_threshold"], nodes["value"].reshape(-1, 1))


def _grown(left: Any, right: Any, features: Any, thresholds: Any, values: Any) -> Tree:
    """A tree by its nodes that ask and its leaves, each with a number of its own."""
    paths: dict[int, tuple[tuple[int, int], ...]] = {}
    asks: list[int] = []
    waiting: list[tuple[int, tuple[tuple[int, int], ...]]] = [(0, ())]
    while waiting:
        node, path = waiting.pop()
        if left[node] < 0:
            paths[node] = path
        elif thresholds[node] == np.inf:
            # It tells what is missing from what isn't, and queries have nothing that is.
            waiting.append((int(left[node]), path))
        else:
            asks.append(node)
            waiting += [(int(left[node]), (*path, (node, -1))), (int(right[node]), (*path, (node, 1)))]
    asks, leaves = sorted(asks), sorted(paths)
    number = {node: place for place, node in enumerate(asks)}
    signs = np.zeros((len(leaves), len(asks)), dtype=np.int64)
    for place, leaf in enumerate(leaves):
        for node, sign in paths[leaf]:
            signs[place, number[node]] = sign
    return Tree(
        np.asarray(features[asks], dtype=np.int64), _floats(thresholds[asks]), signs, _floats(values[leaves])
    )


def _of_classes(values: Array, classes: int) -> Array:
    """A leaf's shares of classes as scores: their difference for two classes, else as they are."""
    if not classes:
        return values
    shares: Array = values / values.sum(axis=1, keepdims=True)
    return shares[:, 1:] - shares[:, :1] if classes == 2 else shares


def _boosted(estimator: Any, classes: int) -> list[Tree]:
    """Trees one after another, each for one score, and what comes before the first."""
    scores = classes if classes > 2 else 1
    read = []
    for stage in _stages(estimator):
        for place, tree in enumerate(stage):
            values = np.zeros((len(tree.values), scores))
            values[:, place] = tree.values[:, 0]
            read.append(replace(tree, values=values))
    zeros = np.zeros((1, int(estimator.n_features_in_)))
    own = _asked(estimator.decision_function if classes else estimator.predict, zeros)
    before = np.reshape(own, (1, scores)) - sum(tree.scores(zeros) for tree in read)
    # Where everything starts: one leaf of the first tree is reached by every row.
    return [replace(read[0], values=read[0].values + before), *read[1:]]


def _stages(estimator: Any) -> Iterator[list[Tree]]:
    """The trees of each stage, one for each score, with the values that they add."""
    if isinstance(estimator, HISTOGRAMS):
        # scikit-learn has no other name for them; `_check_scores` says if they are something else.
        yield from ([_of_histograms(part.nodes) for part in stage] for stage in estimator._predictors)
        return
    for stage in estimator.estimators_:
        trees = (_tree(part.tree_) for part in stage)
        yield [replace(tree, values=estimator.learning_rate * tree.values) for tree in trees]


def _check_scores(estimator: Any, name: str, read: list[Tree], features: int, classes: int) -> None:
    """Compares the sum of trees with the estimator, on rows about its thresholds."""
    thresholds = np.concatenate([tree.thresholds for tree in read])
    spread = float(np.abs(thresholds).max(initial=1.0))
    probes = np.random.default_rng(0).uniform(-spread, spread, (16, features)).astype(np.float32)
    found = np.sum([tree.scores(probes.astype(np.float64)) for tree in read], axis=0)
    if isinstance(estimator, BOOSTED + HISTOGRAMS) and classes:
        own = np.reshape(_asked(estimator.decision_function, probes), found.shape)
    elif classes:
        own = _of_classes(_asked(estimator.predict_proba, probes), classes)
    else:
        own = np.reshape(_asked(estimator.predict, probes), found.shape)
    if np.abs(own - found).max() > _TOLERANCE * max(1.0, float(np.abs(own).max())):
        raise InputError(f"the {name} does something else with its trees than to add them up")


def _asked(predict: Callable[[Any], Any], rows: Any) -> Any:
    """What an estimator says of rows, but not that its columns have no names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return predict(rows)


def _floats(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64)
