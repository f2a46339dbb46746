"""What came of it: predictions beside those in the clear, bytes and rounds beside the predicted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit._table import amount, table
from tacit.demo.processes import SERVERS
from tacit.demo.training import score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.demo.models import Model
    from tacit.demo.training import Array, Trained

PROMISED_ERROR = 1e-3
"""The largest error of a regression that is put up with, over the target's range."""

_PROTOCOL = "replicated"

_KEYS = (
    "name",
    "task",
    "rows",
    "score_clear",
    "score",
    "differs",
    "max_error",
    "per_second",
    "sent_bytes",
    "predicted_bytes",
    "rounds",
)


@dataclass(frozen=True, slots=True)
class Result:
    """A model's predictions and what they took.

    Attributes:
        name: The model's name.
        data: The data set's name.
        task: What is predicted.
        rows: The number of predictions.
        score_clear: R2 or accuracy of scikit-learn's predictions.
        score: The same of those that the client learnt.
        differs: Classes that aren't scikit-learn's.
        max_error: The largest error of a regression against scikit-learn, over the target's range.
        per_second: Predictions a second, from the first message that shares an input to the last output;
            by the slowest server. Connecting is left out.
        sent_bytes: Payload that each server sent, the handshake left out.
        predicted_bytes: What the plan said that they would.
        rounds: Rounds of messages between the servers.
        predicted_rounds: What the plan said.
    """

    name: str
    data: str
    task: str
    rows: int
    score_clear: float
    score: float
    differs: int
    max_error: float
    per_second: float
    sent_bytes: list[int]
    predicted_bytes: list[int]
    rounds: int
    predicted_rounds: int

    @property
    def faults(self) -> list[str]:
        """What isn't as promised."""
        found = []
        if self.differs:
            found.append(f"{self.differs} of {self.rows} classes differ from those in the clear")
        # Written so that no number is a fault too.
        if not self.max_error <= PROMISED_ERROR:
            found.append(f"an error of {self.max_error:.2g} of the target's range, above {PROMISED_ERROR:g}")
        if self.sent_bytes != self.predicted_bytes:
            found.append(f"the servers sent {self.sent_bytes} bytes, and not {self.predicted_bytes}")
        if self.rounds != self.predicted_rounds:
            found.append(f"it took {self.rounds} rounds, and not {self.predicted_rounds}")
        return found


def judge(model: Model, trained: Trained, told: dict[str, dict[str, Any]]) -> Result:
    """Compares what the processes told about a model, by their names, with what it should be."""
    predictions = np.asarray(told["client"]["predictions"])
    differs, max_error = _difference(model, trained, predictions)
    cost = model.plan.cost(protocol=_PROTOCOL, parties=SERVERS).protocols[_PROTOCOL]
    reports = [told[server] for server in SERVERS]
    return Result(
        name=model.name,
        data=model.data,
        task=model.task,
        rows=len(predictions),
        score_clear=score(model, trained, trained.clear),
        score=score(model, trained, predictions),
        differs=differs,
        max_error=max_error,
        per_second=len(predictions) / max(report["seconds"] for report in reports),
        sent_bytes=[report["bytes"] for report in reports],
        predicted_bytes=[cost.bytes[server] for server in SERVERS],
        rounds=max(report["rounds"] for report in reports),
        predicted_rounds=cost.phases["online"][0],
    )


def _difference(model: Model, trained: Trained, predictions: Array) -> tuple[int, float]:
    """How many classes differ from scikit-learn's, and the largest error of a regression; 0 for the other."""
    if model.task == "regression":
        return 0, float(np.max(np.abs(predictions - trained.clear)) / trained.span)
    return int(np.sum(predictions != trained.clear)), 0.0


def as_json(results: Sequence[Result]) -> str:
    """The results as one JSON object."""
    return json.dumps(
        {
            "transport": "tls",
            "servers": len(SERVERS),
            "models": [{key: getattr(result, key) for key in _KEYS} for result in results],
        }
    )


def as_table(results: Sequence[Result]) -> str:
    """The results as a table, with a line for each server."""
    head = ["model", "score", "clear", "Tacit", "differ", "per second", "rounds"]
    rows = [row for result in results for row in _rows(result)]
    return table([*head, "server", "bytes", "predicted"], rows, "llrrrrrlrr")


def _rows(result: Result) -> list[list[str]]:
    """A model's lines. The first says all that isn't a server's; the others say what the model is asked."""
    regression = result.task == "regression"
    facts = [
        "R2" if regression else "accuracy",
        f"{result.score_clear:.4f}",
        f"{result.score:.4f}",
        f"by {result.max_error:.1e}" if regression else str(result.differs),
        f"{result.per_second:,.0f}",
        str(result.rounds),
    ]
    nothing = [""] * len(facts)
    left = ([result.name, *facts], [f"  {result.data}", *nothing], [f"  {result.rows} rows", *nothing])
    return [
        [*cells, server, amount(sent), amount(predicted)]
        for cells, server, sent, predicted in zip(
            left, SERVERS, result.sent_bytes, result.predicted_bytes, strict=True
        )
    ]
