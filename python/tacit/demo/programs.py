"""What the servers compute: a prediction, of which only the client learns anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tacit

if TYPE_CHECKING:
    from tacit.demo.models import Model


def scores(queries: Any, weights: Any, bias: Any) -> Any:
    """A linear model's scores of all queries."""
    return queries @ weights + bias


@tacit.function
def number(queries: Any, weights: Any, bias: Any) -> Any:
    """Linear regression: the score itself."""
    return tacit.reveal(scores(queries, weights, bias), to="client")


@tacit.function
def side(queries: Any, weights: Any, bias: Any) -> Any:
    """Logistic regression, linear support vector machine: the score's sign, and not how sure the model is."""
    return tacit.reveal(scores(queries, weights, bias) > 0, to="client")


@tacit.function
def largest(queries: Any, weights: Any, bias: Any) -> Any:
    """One of several classes: which score is the largest, and none of the scores."""
    return tacit.reveal(scores(queries, weights, bias).argmax(axis=1), to="client")


PROGRAMS = {"regression": number, "two classes": side, "ten classes": largest}

FIXED = tacit.fixed(20)
"""Numbers in steps of a millionth. Tracing proves that no sum of products leaves 64 bits, or refuses."""


def plan_of(model: Model) -> tacit.Plan:
    """The plan for a model, from public knowledge alone."""
    bounds = (-model.bound, model.bound)
    return PROGRAMS[model.task].trace(
        tacit.secret("client", shape=(model.rows, model.features), dtype=FIXED, range=(0, 1)),
        tacit.secret("owner", shape=(model.features, *model.outputs), dtype=FIXED, range=bounds),
        tacit.secret("owner", shape=model.outputs, dtype=FIXED, range=bounds),
    )
