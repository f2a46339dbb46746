"""Private predictions by trees and by networks: what may be known of a model, and what its owner gives."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from tacit._bounds import Bounds, is_within_reason
from tacit._elementary import sigmoid, tanh
from tacit._functions import relu
from tacit._public_file import is_count
from tacit._public_model import PublicModel
from tacit._tensor import Tensor, matmul
from tacit._trace import function, reveal, secret
from tacit.dtypes import fixed, int8, int16
from tacit.errors import InputError, ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from tacit._plan import Plan

    Array: TypeAlias = NDArray[np.float64]

VALUE_FRACTION = 24
"""Fraction bits of what leaves add to a score."""

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "identity": lambda a: a,
    "relu": relu,
    "logistic": sigmoid,
    "tanh": tanh,
}
"""What a network does between its layers, by scikit-learn's names."""


def _are_counts(value: Any) -> bool:
    """Whether this is a list of integers, of a few."""
    return isinstance(value, list) and len(value) < 1000 and all(map(is_count, value))


def _is_name(value: Any) -> bool:
    return isinstance(value, str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest(PublicModel):
    """What may be known of a tree, a forest or boosted trees: from it all make the same plan.

    Which features trees ask for, in which order, against which thresholds, and what they say stays secret; so
    does their shape, but for the most leaves that one of them has.

    Attributes:
        features: How many numbers a query has.
        trees: How many trees there are.
        leaves: How many leaves the largest of them has.
        labels: The classes in the model's order; empty for a regression.
        bounds: Of queries and thresholds (`queries`), and of a score (`bias`).
        units: What each feature is divided by before it is shared; one number for all, or one for each.
        fraction: Fraction bits of queries. Those that are multiples of their step are told from thresholds as
            in the clear, so give features in tenths with units=0.1. Others are rounded, and may end on the
            other side of a threshold that is less than a step away.
    """

    trees: int
    leaves: int

    _FORM = "forest"
    _FURTHER: ClassVar = {"trees": is_count, "leaves": is_count}

    def _check(self) -> None:
        if self.trees < 1 or self.leaves < 2:
            raise ProgramError(
                f"trees={self.trees}, leaves={self.leaves}: one tree of two leaves is the least"
            )
        if self.bounds.bias * self.trees >= 2.0 ** (63 - VALUE_FRACTION):
            raise ProgramError(
                f"a score of {self.trees} trees of up to {self.bounds.bias:g} each has no room",
                hint=f"declare Bounds(bias={2.0 ** (62 - VALUE_FRACTION) / self.trees:.0f}) or less",
            )

    @property
    def scores(self) -> int:
        """How many numbers a leaf has: one, or for more than two classes one for each."""
        return len(self.labels) if len(self.labels) > 2 else 1

    def plan(self, rows: int, *, owner: str = "owner", client: str = "client") -> Plan:
        """The plan that predicts for some queries at once; the client alone learns what `decode` reads.

        Each node of each tree compares (its feature is a product with the owner's choice), and each leaf
        counts how many answers aren't those that lead to it: the one that counts none is it. So every leaf of
        every tree is looked at, in as many rounds as a comparison and an equality take.

        Args:
            rows: How many queries the client has.
            owner: Who has the model: a party, or a client of the servers.
            client: Who asks.
        """
        nodes, leaves, bounds = self.trees * (self.leaves - 1), self.trees * self.leaves, self.bounds
        small, fine = fixed(self.fraction), fixed(VALUE_FRACTION)
        near = (-bounds.queries, bounds.queries)

        def declared(shape: tuple[int, ...], low: float, high: float, of: Any) -> Any:
            return secret(owner, shape=shape, dtype=of, range=(low, high))

        return _forest.trace(
            secret(client, shape=(rows, self.features), dtype=small, range=near),
            declared((max(nodes, 1), self.features), 0, 1, int8),
            declared((max(nodes, 1),), *near, small),
            declared((self.trees, self.leaves, max(self.leaves - 1, 1)), -1, 1, int8),
            declared((self.trees, self.leaves), 0, self.leaves, int16),
            declared((leaves, self.scores), -bounds.bias, bounds.bias, fine),
            client,
            len(self.labels),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Network(PublicModel):
    """What may be known of a network of dense layers: from it all make the same plan.

    Attributes:
        features: How many numbers a query has.
        layers: How many numbers come out of each layer, the last one's scores included.
        activation: What comes between layers: "identity", "relu", "logistic" or "tanh".
        labels: The classes in the model's order; empty for a regression.
        bounds: Of queries, weights and biases. They are public, and from them follows that nothing overflows;
            close ones are cheaper.
        units: What each feature is divided by before it is shared; one number for all, or one for each.
        fraction: Fraction bits of all numbers.
    """

    layers: tuple[int, ...]
    activation: str = "relu"
    bounds: Bounds = field(default_factory=lambda: Bounds(weights=16, queries=16, bias=16))
    fraction: int = 16

    _FORM = "network"
    _FURTHER: ClassVar = {"layers": _are_counts, "activation": _is_name}

    def _check(self) -> None:
        if not self.layers or min(self.layers) < 1:
            raise ProgramError(f"layers={self.layers!r}: the last one's scores are the least")
        if self.activation not in ACTIVATIONS:
            names = ", ".join(ACTIVATIONS)
            raise ProgramError(f"activation={self.activation!r} isn't one of {names}")

    def plan(self, rows: int, *, owner: str = "owner", client: str = "client") -> Plan:
        """The plan that predicts for some queries at once; the client alone learns what `decode` reads.

        Args:
            rows: How many queries the client has.
            owner: Who has the model: a party, or a client of the servers.
            client: Who asks.

        Raises:
            ProgramError: With these bounds a score could overflow.
        """
        of, bounds = fixed(self.fraction), self.bounds
        sizes = [self.features, *self.layers]

        def declared(who: str, shape: tuple[int, ...], bound: float) -> Any:
            return secret(who, shape=shape, dtype=of, range=(-bound, bound))

        return _network.trace(
            declared(client, (rows, self.features), bounds.queries),
            [declared(owner, shape, bounds.weights) for shape in pairwise(sizes)],
            [declared(owner, (size,), bounds.bias) for size in self.layers],
            client,
            self.activation,
            len(self.labels),
        )


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained forest or network: the owner's secret. Made by `from_sklearn`; prints what is public of it.

    Attributes:
        public: What all others may know, and need in order to make the plan.
        arrays: The owner's inputs, by name.
    """

    public: Forest | Network
    arrays: dict[str, Any] = field(repr=False)

    def parameters(self) -> dict[str, Any]:
        """The owner's inputs: `run(plan, owner=model.parameters())`, with the owner's name in the plan."""
        return dict(self.arrays)


@function
def _forest(
    queries: Tensor,
    choices: Tensor,
    thresholds: Tensor,
    paths: Tensor,
    wrong: Tensor,
    values: Tensor,
    client: str,
    classes: int,
) -> Any:
    """Each node's answer, each leaf's count of answers that lead elsewhere, and what those with none say."""
    trees, leaves, nodes = paths.shape
    rows = queries.shape[0]
    # Choices are 0 or 1, a 1 for each node.
    asked = matmul(queries, choices.T.astype(queries.dtype), exact=True)
    answers = asked <= thresholds
    left = (answers + 0).reshape(rows, trees, nodes).transpose(1, 2, 0)
    reached = (paths @ left + wrong.reshape(trees, leaves, 1)) == 0
    scores = (reached + 0).reshape(trees * leaves, rows).T @ values
    return reveal(_answer(scores, classes), to=client)


@function
def _network(
    queries: Tensor,
    weights: list[Tensor],
    biases: list[Tensor],
    client: str,
    activation: str,
    classes: int,
) -> Any:
    """Layer after layer."""
    value = queries
    for place, (factors, bias) in enumerate(zip(weights, biases, strict=True)):
        if place:
            value = ACTIVATIONS[activation](value)
        value = value @ factors + bias
    return reveal(_answer(value, classes), to=client)


def _answer(scores: Tensor, classes: int) -> Tensor:
    """The score itself, whether it is above 0, or which is largest."""
    if classes > 2:
        return scores.argmax(axis=1)
    one = scores.reshape(-1)
    return one > 0 if classes else one


def trained_forest(trees: Any, public: dict[str, Any], bounds: Bounds, units: Any, fraction: int) -> Trained:
    """A model of trees as `_sklearn_trees` reads them.

    Raises:
        InputError: A threshold or a leaf is beyond the bounds.
    """
    import numpy as np

    leaves = max(2, *(len(tree.values) for tree in trees)) if trees else 2
    model = Forest(trees=len(trees), leaves=leaves, bounds=bounds, units=units, fraction=fraction, **public)
    nodes = leaves - 1
    choices = np.zeros((len(trees), nodes, model.features), dtype=np.int8)
    thresholds = np.zeros((len(trees), nodes))
    paths = np.zeros((len(trees), leaves, nodes), dtype=np.int8)
    # No answer leads to leaves that aren't there.
    wrong = np.ones((len(trees), leaves), dtype=np.int16)
    values = np.zeros((len(trees), leaves, model.scores))
    each = np.broadcast_to(np.asarray(units, dtype=float), (model.features,))
    for place, tree in enumerate(trees):
        asked = len(tree.features)
        choices[place, np.arange(asked), tree.features] = 1
        # A multiple of the step is at most a number if it is at most the multiple below that.
        steps = np.floor(tree.thresholds / each[tree.features] * 2**fraction)
        thresholds[place, :asked] = steps / 2**fraction
        paths[place, : len(tree.values), :asked] = tree.paths
        wrong[place, : len(tree.values)] = (tree.paths < 0).sum(axis=1)
        values[place, : len(tree.values)] = tree.values
    _check_within("a threshold", thresholds, bounds.queries, "queries")
    _check_within("a leaf", values, bounds.bias, "bias")
    return Trained(
        model,
        {
            "choices": choices.reshape(-1, model.features),
            "thresholds": thresholds.reshape(-1),
            "paths": paths,
            "wrong": wrong,
            "values": values.reshape(-1, model.scores),
        },
    )


def trained_network(
    weights: list[Array],
    biases: list[Array],
    public: dict[str, Any],
    bounds: Bounds | None,
    units: Any,
    fraction: int,
) -> Trained:
    """A model of layers as scikit-learn has them.

    Raises:
        InputError: A weight or a bias is beyond the bounds.
    """
    import numpy as np

    sizes = tuple(len(bias) for bias in biases)
    if bounds is not None:
        public = {**public, "bounds": bounds}
    model = Network(layers=sizes, units=units, fraction=fraction, **public)
    first = weights[0] * np.broadcast_to(np.asarray(units, dtype=float), (model.features,)).reshape(-1, 1)
    arrays = {}
    for place, (factors, bias) in enumerate(zip([first, *weights[1:]], biases, strict=True)):
        _check_within("a weight", factors, model.bounds.weights, "weights")
        _check_within("a bias", bias, model.bounds.bias, "bias")
        arrays[f"weights[{place}]"] = factors
        arrays[f"biases[{place}]"] = bias
    return Trained(model, arrays)


def _check_within(what: str, values: Any, bound: float, name: str) -> None:
    """Refuses what is beyond a declared bound."""
    largest = float(abs(values).max(initial=0))
    if not is_within_reason(max(largest, 1.0)) or largest > bound:
        needed = 2.0 ** math.ceil(math.log2(min(max(largest, 1.0), 2.0**500)))
        raise InputError(
            f"{what} is {largest:g}, beyond the declared bound of {bound:g}; declare "
            f"Bounds({name}={needed:g}), or other units for the features"
        )
