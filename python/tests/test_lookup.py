"""Secret places of long axes, looked up and written: by two digits, or by a comparison with each place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit import _keys
from tacit._values import public


def placed(table: Any, places: Any) -> Any:
    """NumPy's `table[places]`, with zeros for places outside."""
    inside = (places >= -len(table)) & (places < len(table))
    found = table[np.where(inside, places, 0)]
    return np.where(inside.reshape(-1, *[1] * (table.ndim - 1)), found, np.zeros_like(found))


@tacit.function
def looked_up(x: Any, i: Any) -> Any:
    return tacit.reveal(x[i])


TABLES: list[tuple[Any, dict[str, Any]]] = [
    (np.arange(300) * 7 % 101 - 50, {"dtype": tacit.int16, "range": (-50, 50)}),
    (np.arange(256) / 8 + 3, {"range": (3, 40)}),
    (np.arange(200).reshape(100, 2) - 260, {"dtype": tacit.int16, "range": (-260, -61)}),
    (np.arange(64) % 3 == 1, {"dtype": tacit.bool_}),
    (np.arange(1200).reshape(200, 3, 2), {"dtype": tacit.int16, "range": (0, 1200)}),
]


@pytest.mark.parametrize("at", range(len(TABLES)))
@pytest.mark.parametrize("protocol", ["replicated", "replicated-malicious", "gmw"])
def test_every_place_and_some_outside(at: int, protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table, kind = TABLES[at]
    length = len(table)
    width = int(np.prod(table.shape[1:]))
    assert _keys._share(length, width) < length
    # From both ends, from the front alone with places outside, and without.
    for low, high in [(-length - 20, length + 20), (0, 2 * length), (0, length - 1)]:
        places = np.arange(low, high + 1)
        given = tacit.secret("bob", shape=len(places), dtype=tacit.int16, range=(low, high))
        plan = looked_up.trace(tacit.secret("alice", shape=table.shape, **kind), given)
        expected = placed(table, places)
        clear = plan._restore(plan._program.evaluate([public(table), public(places)]))
        assert (clear == expected).all()
        few = places[:: max(len(places) // 20, 1)]
        if (low, high) == (0, length - 1):
            monkeypatch.setattr(_keys, "MANY", 0)
            given = tacit.secret("bob", shape=len(few), dtype=tacit.int16, range=(low, high))
            plan = looked_up.trace(tacit.secret("alice", shape=table.shape, **kind), given)
            with tacit.local(protocol) as run:
                assert (run(plan, alice=table, bob=few) == placed(table, few)).all()


def test_two_digits_cost_a_third_and_few_places_take_no_more_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    def cost(length: int, places: int) -> tuple[int, int]:
        x = tacit.secret("alice", shape=length, range=(0, 100))
        i = tacit.secret("bob", shape=places, dtype=tacit.int16, range=(0, length - 1))
        figures = (
            looked_up.trace(x, i).cost(protocol="replicated-malicious").protocols["replicated-malicious"]
        )
        return sum(figures.bytes.values()), figures.rounds

    many, few = cost(128, 500), cost(64, 2)
    monkeypatch.setattr(_keys, "_share", lambda length, _: length)
    assert 3 * many[0] < cost(128, 500)[0]
    assert few == cost(64, 2)


@tacit.function
def written(x: Any, i: Any, v: Any) -> Any:
    x[i] = v
    return tacit.reveal(x)


@tacit.function
def written_by_row(x: Any, i: Any, v: Any) -> Any:
    rows = np.arange(len(i))
    found = x[rows, i]
    x[rows, i] = v
    return tacit.reveal([x, found])


@pytest.mark.parametrize("at", range(len(TABLES)))
@pytest.mark.parametrize("protocol", ["replicated", "replicated-malicious", "gmw"])
def test_writes_by_two_digits_go_where_numpys_do(
    at: int, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_keys, "MANY_WRITTEN", 0)
    table, kind = TABLES[at]
    length = len(table)
    x = tacit.secret("alice", shape=table.shape, **kind)
    for low, high in [(-length - 20, length + 20), (0, 2 * length), (0, length - 1)]:
        # Each place once, in some order, so that it is seen what went where; then few, one of them twice.
        places = np.random.default_rng(at).permutation(np.arange(low, high + 1))
        few = np.append(places[:4], places[1])
        for given in (places, few, few[0]):
            values = np.roll(table, 3, axis=0)[given % length]
            expected = table.copy()
            for place, value in zip(np.atleast_1d(given), values.reshape(-1, *table.shape[1:]), strict=True):
                if -length <= place < length:
                    expected[place] = value
            i = tacit.secret("bob", shape=given.shape, dtype=tacit.int16, range=(low, high))
            plan = written.trace(x, i, tacit.secret("bob", shape=values.shape, **kind))
            clear = plan._restore(plan._program.evaluate([public(one) for one in (table, given, values)]))
            assert (clear == expected).all()
        with tacit.local(protocol) as run:
            assert (run(plan, alice=table, i=few[0], v=values) == expected).all()


def test_places_of_rows_by_two_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_keys, "MANY_WRITTEN", 0)
    table = np.arange(900).reshape(9, 100)
    places = np.array([0, 99, -1, -100, 64, 63, 17, 100, -101])
    values = -np.arange(1, 10)
    inside = abs(places + 0.5) < 100
    expected, rows = table.copy(), np.arange(9)[inside]
    expected[rows, places[inside]] = values[inside]
    kind: dict[str, Any] = {"dtype": tacit.int16, "range": (-1000, 1000)}
    i = tacit.secret("bob", shape=9, dtype=tacit.int16, range=(-120, 120))
    plan = written_by_row.trace(
        tacit.secret("alice", shape=(9, 100), **kind), i, tacit.secret("bob", shape=9, **kind)
    )
    with tacit.local() as run:
        changed, found = run(plan, x=table, i=places, v=values)
    assert (changed == expected).all()
    assert (found == np.where(inside, table[np.arange(9), places % 100], 0)).all()


@pytest.mark.parametrize("protocol", ["replicated", "replicated-malicious", "astra", "gmw", "mascot"])
@pytest.mark.parametrize(("length", "places"), [(4096, ()), (512, (9,))])
def test_writes_cost_less_by_two_digits(
    protocol: str, length: int, places: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cost(length: int, places: tuple[int, ...]) -> int:
        x = tacit.secret("alice", shape=length, dtype=tacit.int16, range=(0, 100))
        i = tacit.secret("bob", shape=places, dtype=tacit.int16, range=(0, length - 1))
        v = tacit.secret("bob", shape=places, dtype=tacit.int16, range=(0, 100))
        figures = written.trace(x, i, v).cost(protocol=protocol).protocols[protocol]
        return sum(figures.bytes.values())

    many, few = cost(length, places), cost(length // 4, places)
    monkeypatch.setattr(_keys, "_share_of_bits", lambda length: length)
    assert many < 0.95 * cost(length, places)
    assert few == cost(length // 4, places)
