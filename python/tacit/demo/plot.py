"""A drawing of what the predictions cost: bytes and rounds, predicted and measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from tacit.demo.results import Result

_HEIGHT = 0.38
_KINDS = {"predicted": ("#b9c6d8", -0.5), "measured": ("#2b5c8a", 0.5)}
"""The colour of each kind of bar, and on which side of its model's place it stands, in heights."""


def draw(results: Sequence[Result], path: Path) -> None:
    """Writes the drawing as SVG.

    Raises:
        OSError: The file can't be written.
    """
    figure = Figure(figsize=(10, 1.2 + 0.8 * len(results)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    left.set_title("bytes that the three servers send for a prediction", fontsize=10)
    right.set_title("rounds", fontsize=10)
    for place, result in enumerate(results):
        sent = {"predicted": sum(result.predicted_bytes), "measured": sum(result.sent_bytes)}
        for kind, total in sent.items():
            _bar(left, place, kind, total / result.rows, f"{total:,} in all")
        _bar(right, place, "predicted", result.predicted_rounds, str(result.predicted_rounds))
        _bar(right, place, "measured", result.rounds, str(result.rounds))
    for axes in (left, right):
        axes.margins(x=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    left.set_yticks(range(len(results)), [f"{result.name}\n{result.rows} rows" for result in results])
    left.invert_yaxis()
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    # Text as text, and nothing that changes from run to run.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tacit"}):
        figure.savefig(path, format="svg", metadata={"Date": None})


def _bar(axes: Axes, place: int, kind: str, value: float, text: str) -> None:
    """One of a model's two bars. Only the first model's have a label, for the legend."""
    colour, side = _KINDS[kind]
    label = "" if place else kind
    bar = axes.barh(place + side * _HEIGHT, value, height=_HEIGHT, color=colour, label=label)
    axes.bar_label(bar, [text], padding=3, fontsize=8)
