"""Questions as newcomers ask them: the same functions on secrets and on arrays, under several protocols."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import newcomers
from tests.support import is_dear
from tests.test_protocols import learners

SHOWN = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "questions.py"))
QUESTIONS = [*SHOWN["QUESTIONS"], *newcomers.QUESTIONS]
LONG = ["astra-malicious", "astra-fair", "gmw", "mascot"]

EXACT = ["waiting_times", "patients_of_both", "runoff", "one_generation", "nearest_neighbours"]
"""What counts has to be right to the last bit, all else to a thousandth."""


def close(found: Any, clear: Any, tolerance: float) -> None:
    if isinstance(clear, dict):
        assert found.keys() == clear.keys()
        found, clear = list(found.values()), list(clear.values())
    if isinstance(clear, (list, tuple)):
        for one, other in zip(found, clear, strict=True):
            close(one, other, tolerance)
    else:
        np.testing.assert_allclose(
            np.asarray(found, dtype=float), np.asarray(clear, dtype=float), rtol=2**-18, atol=tolerance
        )


@pytest.mark.parametrize("place", range(len(QUESTIONS)), ids=[one.__name__ for one, _ in QUESTIONS])
@pytest.mark.parametrize("protocol", ["replicated", "replicated-malicious", "astra", *LONG])
def test_answers_on_secrets_are_those_in_the_clear(
    place: int, protocol: str, pytestconfig: pytest.Config
) -> None:
    if protocol in LONG and not pytestconfig.getoption("--long"):
        pytest.skip("--long asks these")
    question, data = QUESTIONS[place]
    plan = SHOWN["traced"](question, data, learners(protocol))
    if is_dear(plan, protocol):
        pytest.skip("it takes minutes")
    found = SHOWN["asked"](plan, data, protocol)
    clear = question(*(array for array, _ in data))
    close(found, clear, 0 if question.__name__ in EXACT else 1e-3)
