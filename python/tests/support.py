"""What several tests use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import settings

import tacit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

F16 = tacit.fixed(16)
UNIT = 1 << 16

DEAR = 500_000_000
"""Bytes of a party from which on a run under `mascot`, which makes triples as it goes, takes many seconds."""


def declared(array: Any, dtype: tacit.DType = F16, owner: str = "alice", **options: Any) -> tacit.Secret:
    """A declaration that suits an array."""
    array = np.asarray(array)
    if dtype.kind in ("int", "fixed") and "range" not in options:
        options["range"] = (int(np.floor(array.min())), int(np.ceil(array.max())))
    return tacit.secret(owner, shape=array.shape, dtype=dtype, **options)


def ran(function: Callable[..., Any], *arrays: Any, dtype: tacit.DType = F16, debug: bool = False) -> Any:
    """What a function of secrets computes on arrays, each of which has an owner of its own."""
    names = [f"owner{place}" for place in range(len(arrays))]
    secrets = [declared(array, dtype, name) for name, array in zip(names, arrays, strict=True)]
    plan = tacit.function(function).trace(*secrets)
    with tacit.local(debug=debug) as run:
        return run(plan, **{name: [array] for name, array in zip(names, arrays, strict=True)})


def revealed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that reveals to all what another one returns, in the same structure."""

    def traced(*secrets: Any) -> Any:
        result = function(*secrets)
        if isinstance(result, list):
            return [tacit.reveal(one) for one in result]
        return tacit.reveal(result)

    return traced


def computed(function: Callable[..., Any], *arrays: Any, dtype: tacit.DType = F16) -> Any:
    """What a function computes, revealed to all."""
    return ran(revealed(function), *arrays, dtype=dtype)


def rounded(array: Any) -> NDArray[np.float64]:
    """The nearest multiples of 2**-16, ties up."""
    return np.floor(np.asarray(array) * UNIT + 0.5) / UNIT


def same(got: Any, expected: Any) -> None:
    """Fails unless two values have the same shape and the same elements."""
    assert np.shape(got) == np.shape(expected)
    np.testing.assert_array_equal(got, expected)


def examples(part: int, least: int) -> settings:
    """Settings for a part of the usual number of examples."""
    usual = settings.default.max_examples if settings.default else 0
    return settings(max_examples=max(usual // part, least), report_multiple_bugs=False)


def is_dear(plan: tacit.Plan, protocol: str) -> bool:
    """Whether a run would take more than some seconds."""
    return protocol == "mascot" and plan.cost(protocol=protocol).bytes["P0"] > DEAR
