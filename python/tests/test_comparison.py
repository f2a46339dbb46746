"""Comparisons under `astra` and `astra-malicious`, by circuits and garbled: results, cost, rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tests.support import F16, revealed, rounded, same

PROTOCOLS = [
    "astra comparison=prefix",
    "astra comparison=garbled",
    "astra roles=210 comparison=garbled",
    "astra-malicious comparison=garbled",
    "astra-malicious roles=120 comparison=garbled",
]


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def ran(protocol: str, function: Any, x: Any, y: Any, dtype: tacit.DType, **options: Any) -> Any:
    """What a function computes on two secrets; the cost is as declared."""
    a, b = (tacit.secret(owner, shape=np.shape(x), dtype=dtype, **options) for owner in ("P0", "alice"))
    plan = tacit.function(revealed(function)).trace(a, b)
    with tacit.local(protocol=protocol) as run:
        result = run(plan, P0=[x], alice=[y])
    assert run.report is not None
    assert run.report.bytes == plan.cost(protocol=protocol).bytes
    return result


@pytest.mark.parametrize("dtype", [tacit.int8, tacit.int16, tacit.int32, tacit.int64])
def test_integers_of_all_widths(protocol: str, dtype: tacit.DType) -> None:
    x, y = np.random.default_rng(1).integers(-128, 128, (2, 600))
    # What differs most, and what doesn't.
    x[:3], y[:3] = [-128, 127, 5], [127, -128, 5]
    got = ran(protocol, lambda x, y: [x < y, x >= y, x == y], x, y, dtype)
    for one, expected in zip(got, [x < y, x >= y, x == y], strict=True):
        same(one, expected)


def test_what_is_made_of_comparisons(protocol: str) -> None:
    x, y = np.random.default_rng(2).integers(-1000, 1000, (2, 5, 7))

    def function(x: Any, y: Any) -> list[Any]:
        return [tacit.maximum(x, y), abs(x), x.max(axis=1), y.argmin(axis=0), tacit.where(x < y, x, 3)]

    got = ran(protocol, function, x, y, tacit.int64, range=(-1000, 1000))
    expected = [np.maximum(x, y), abs(x), x.max(axis=1), y.argmin(axis=0), np.where(x < y, x, 3)]
    for one, right in zip(got, expected, strict=True):
        same(one, right)


def test_fixed_point(protocol: str) -> None:
    x, y = rounded(np.random.default_rng(3).uniform(-100, 100, (2, 20)))
    same(ran(protocol, lambda x, y: x < y, x, y, F16, range=(-100, 100)), x < y)


@pytest.mark.parametrize("usual", ["astra", "astra-malicious", "astra-fair"])
def test_garbled_comparisons_save_rounds_and_take_bytes(usual: str) -> None:
    a, b = (tacit.secret(owner, shape=(10,), dtype=tacit.int64, range=(-9, 9)) for owner in ("a", "b"))
    # To parties, as `astra-fair` reveals to nobody else.
    plan = tacit.function(lambda a, b: tacit.reveal(a < b, to=["P0", "P1", "P2"])).trace(a, b)
    names = [usual, f"{usual} comparison=garbled"]
    prefix, garbled = (plan.cost(protocol=name).protocols[name].phases["online"] for name in names)
    assert garbled[0] == 2 < prefix[0]
    assert sum(garbled[1].values()) > sum(prefix[1].values())


def test_what_is_left_to_the_network_is_what_is_quicker() -> None:
    def cost(count: int, comparison: str, net: str) -> Any:
        a, b = (
            tacit.secret(owner, shape=(count,), dtype=tacit.int64, range=(-(2**62), 2**62)) for owner in "ab"
        )
        plan = tacit.function(lambda a, b: tacit.reveal(a < b)).trace(a, b)
        name = f"astra comparison={comparison}"
        return plan.cost(net=net, protocol=name).protocols[name]

    for count, net, expected in [(10, "wan", "garbled"), (10_000, "wan", "prefix"), (1000, "lan", "prefix")]:
        auto, picked = cost(count, "auto", net), cost(count, expected, net)
        assert (auto.comparison, picked.comparison) == (expected, None)
        assert (auto.bytes, auto.seconds) == (picked.bytes, picked.seconds)


def test_links_in_one_process_take_no_time() -> None:
    a, b = (tacit.secret(owner, shape=(2,), dtype=tacit.int64, range=(-9, 9)) for owner in "ab")
    with tacit.local(protocol="astra comparison=auto") as run:
        same(
            run(tacit.function(lambda a, b: tacit.reveal(a < b)).trace(a, b), a=[[1, 2]], b=[[2, 1]]),
            [True, False],
        )
    assert run.report is not None
    assert run.report.comparison == "prefix"
