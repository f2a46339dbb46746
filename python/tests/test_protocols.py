"""The same programs of numbers and tables under every protocol that can carry them, each at its price."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tacit
from tacit import _matching
from tests import test_numpy
from tests.test_tables import AGGREGATES, PEOPLE, STAYS, grouped, merged, people, same_rows, stays

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

PROTOCOLS = ["replicated", "replicated-malicious", "astra", "astra-malicious", "astra-fair", "gmw", "mascot"]

QUICK, LARGEST = 25_000_000, 2_000_000_000
"""Bytes that a party may send under `mascot`, which makes triples as it goes: usually, and in long tests."""


def is_tried(place: int, plan: tacit.Plan, protocol: str, *, long: bool) -> bool:
    """Whether a program is tried: all are in long tests, and else each under `replicated` and one in turn."""
    if protocol == "mascot":
        return plan.cost(protocol=protocol).bytes["P0"] <= (LARGEST if long else QUICK)
    return long or protocol == "replicated" or PROTOCOLS[1 + place % 5] == protocol


def learners(protocol: str) -> str | list[str]:
    """Who learns results: `astra-fair` reveals to its parties alone."""
    return ["P0", "P1", "P2"] if protocol == "astra-fair" else "all"


def priced(plan: tacit.Plan, protocol: str, inputs: dict[str, Any]) -> Any:
    """What a run gives, which sends what the plan says, in as many rounds."""
    cost = plan.cost(protocol=protocol)
    with tacit.local(protocol) as run:
        got = run(plan, **inputs)
        assert run.report is not None
        assert run.report.bytes == cost.bytes
        assert run.report.rounds == cost.protocols[protocol].phases.get("online", (0, {}))[0]
        return got


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("place", range(len(test_numpy.PROGRAMS)))
def test_programs_give_what_numpy_gives(place: int, protocol: str, pytestconfig: pytest.Config) -> None:
    function, arrays, options, tolerance = test_numpy.PROGRAMS[place]
    names = [f"owner{number}" for number in range(len(arrays))]
    plan = tacit.function(lambda *secrets: tacit.reveal(function(*secrets), learners(protocol))).trace(
        *(
            tacit.secret(name, shape=array.shape, **one)
            for name, array, one in zip(names, arrays, options, strict=True)
        )
    )
    if not is_tried(place, plan, protocol, long=pytestconfig.getoption("--long")):
        pytest.skip("--long tries all that can be, under all")
    got = priced(plan, protocol, {name: [array] for name, array in zip(names, arrays, strict=True)})
    test_numpy.same(got, function(*arrays), tolerance)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_many_elements_are_sorted_under_every_protocol(
    protocol: str, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    if protocol == "mascot" and not pytestconfig.getoption("--long"):
        pytest.skip("--long tries it under mascot")
    # As if there were so many that comparisons of all pairs sent more.
    monkeypatch.setattr(_matching, "_PAIRS", 0)
    first, second = np.array([3, 1, 4, 1, 5]), np.array([1, 9, 4])
    secrets = [
        tacit.secret(owner, shape=array.shape, dtype=tacit.int8, range=(0, 9))
        for owner, array in (("ann", first), ("ben", second))
    ]

    def asked(a: Any, b: Any) -> Any:
        return np.isin(a, b), np.searchsorted(np.sort(a), b), np.intersect1d(a, b).sum()

    plan = tacit.function(lambda a, b: tacit.reveal(asked(a, b), learners(protocol))).trace(*secrets)
    got = priced(plan, protocol, {"ann": [first], "ben": [second]})
    test_numpy.same(got, asked(first, second), 0)


def joined(p: Any, s: Any) -> Any:
    return s.filter(s["days"] > 10).join(p, on="id").select("id", "days", "age")


def by_ward(_: Any, s: Any) -> Any:
    return s.group_by("ward").agg(**AGGREGATES)


def longest(_: Any, s: Any) -> Any:
    return s.assign(double=s["days"] * 2).order_by("days", descending=True).limit(3).select("double")


TABLES: list[tuple[Callable[[Any, Any], Any], Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame]]] = [
    (joined, lambda p, s: merged(s[s["days"] > 10], p, "inner")[["id", "days", "age"]]),
    (by_ward, lambda _, s: grouped(s, ["ward"])),
    (longest, lambda _, s: (s.nlargest(3, "days")[["days"]] * 2).rename(columns={"days": "double"})),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("query", "expected"), TABLES, ids=[query.__name__ for query, _ in TABLES])
def test_tables_give_what_pandas_gives(
    query: Callable[..., Any], expected: Callable[..., Any], protocol: str, pytestconfig: pytest.Config
) -> None:
    if protocol == "mascot" and query is by_ward and not pytestconfig.getoption("--long"):
        pytest.skip("--long tries quotients under mascot")
    random = np.random.default_rng(12)
    first, second = people(random, 4), stays(random, 5)
    left = tacit.table("registry", PEOPLE, rows=5, unique="id")
    right = tacit.table("clinic", STAYS, rows=6)
    to = learners(protocol)
    plan = tacit.function(lambda people, stays: tacit.reveal(query(people, stays), to)).trace(left, right)
    got = priced(plan, protocol, {"registry": first, "clinic": second})
    same_rows(got, expected(first, second), ordered=query is longest)
