"""More questions than `examples/questions.py` shows: statistics, rules, games and markets in plain NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tacit

if TYPE_CHECKING:
    from collections.abc import Callable

rng = np.random.default_rng(3)


def weighted_survey(score: Any, weight: Any) -> Any:
    mean = np.average(score, weights=weight)
    variance = np.average((score - mean) ** 2, weights=weight)
    people = weight.sum() ** 2 / (weight**2).sum()
    return {"mean": mean, "error": np.sqrt(variance / people), "people": people}


def percentiles_of_groups(group: Any, x: Any) -> Any:
    return [np.percentile(x[group == number], [25, 90]) for number in range(3)]


def conversions(a: Any, b: Any) -> Any:
    both = (a.sum() + b.sum()) / (len(a) + len(b))
    lift = b.mean() / a.mean() - 1
    return lift, (a.mean() - b.mean()) / np.sqrt(both * (1 - both) * (1 / len(a) + 1 / len(b)))


def taxes(income: Any) -> Any:
    tax = 0
    for low, high, rate in [(0, 10_000, 0), (10_000, 40_000, 0.2), (40_000, np.inf, 0.4)]:
        tax = tax + (np.clip(income, low, high) - low) * rate
    return tax, np.histogram(income, bins=[0, 10_000, 40_000, np.inf])[0]


def ratings(ours: Any, theirs: Any, won: Any) -> Any:
    expected = 1 / (1 + 10 ** ((theirs - ours) / 400))
    return ours + 32 * (won - expected), theirs - 32 * (won - expected)


def main_direction(x: Any) -> Any:
    covariance = np.cov(x.T)
    v = np.ones(3) / np.sqrt(3)
    for _ in range(6):
        v = covariance @ v
        v = v / np.linalg.norm(v)
    return v, v @ covariance @ v


def market_chain(moves: Any, state: Any) -> Any:
    for _ in range(4):
        state = state @ moves
    return state, np.linalg.matrix_power(moves, 3)


def runoff(ballots: Any) -> Any:
    first = np.bincount(ballots[:, 0], minlength=3)
    last = first.argmin()
    final = np.bincount(np.where(ballots[:, 0] == last, ballots[:, 1], ballots[:, 0]), minlength=3)
    return final, np.argmax(final)


def clearing_price(bids: Any, asks: Any) -> Any:
    high, low = np.sort(bids)[::-1], np.sort(asks)
    trades = (high >= low).sum()
    return trades, (high[trades - 1] + low[trades - 1]) / 2


def survival(days: Any, died: Any) -> Any:
    alive, curve = 1.0, []
    for day in range(1, 6):
        at_risk, deaths = (days >= day).sum(), ((days == day) & died).sum()
        alive = alive * (1 - np.clip(deaths / np.maximum(at_risk, 1), 0, 1))
        curve.append(alive)
    return curve


def one_generation(cells: Any) -> Any:
    steps = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]
    around = sum(np.roll(cells, step, axis=(0, 1)) for step in steps)
    return ((around == 3) | ((cells == 1) & (around == 2))).astype(int)


def area_under_curve(score: Any, ill: Any) -> Any:
    ranks = np.argsort(np.argsort(score)) + 1
    many = ill.sum()
    others = len(ill) - many
    return (ranks[ill == 1].sum() - many * (many + 1) / 2) / (many * others)


def joined_by_key(keys: Any, spent: Any, others: Any, earned: Any) -> Any:
    match = keys[:, None] == others
    found = match.any(axis=1)
    return (spent * (match @ earned))[found].sum(), found.sum(), spent[found].mean()


def nearest_neighbours(points: Any, label: Any, query: Any) -> Any:
    nearest = np.argsort(((points - query) ** 2).sum(axis=1))[:3]
    return np.argmax(np.bincount(label[nearest], minlength=3))


def number(low: float, high: float) -> dict[str, Any]:
    return {"dtype": tacit.fixed(16), "range": (low, high)}


def integer(low: int, high: int) -> dict[str, Any]:
    return {"dtype": tacit.int32, "range": (low, high)}


def some(count: Any, low: float, high: float) -> tuple[Any, dict[str, Any]]:
    return np.round(rng.uniform(low, high, count), 2), number(low, high)


def integers(count: Any, low: int, high: int) -> tuple[Any, dict[str, Any]]:
    return rng.integers(low, high + 1, count), integer(low, high)


def keys(count: int) -> tuple[Any, dict[str, Any]]:
    return rng.permutation(40)[:count], integer(0, 39)


BIT = {"dtype": tacit.bool_}
BALLOTS = rng.permuted(np.tile(np.arange(3), (11, 1)), axis=1)

QUESTIONS: list[tuple[Callable[..., Any], list[tuple[Any, dict[str, Any]]]]] = [
    (weighted_survey, [some(20, 1, 5), some(20, 0.5, 3)]),
    (percentiles_of_groups, [integers(24, 0, 2), some(24, 0, 100)]),
    (conversions, [(rng.random(60) < 0.3, BIT), (rng.random(50) < 0.4, BIT)]),
    (taxes, [some(9, 0, 120_000)]),
    (ratings, [some((), 1000, 2000), some((), 1000, 2000), integers((), 0, 1)]),
    (main_direction, [(rng.normal(size=(12, 3)).clip(-4, 4) * [1, 2, 1], number(-8, 8))]),
    (market_chain, [(rng.dirichlet(np.ones(3), 3), number(0, 1)), (np.eye(3)[0], number(0, 1))]),
    (runoff, [(BALLOTS, integer(0, 2))]),
    (clearing_price, [some(7, 0, 100), some(7, 0, 80)]),
    (survival, [integers(15, 1, 5), (rng.random(15) < 0.6, BIT)]),
    (one_generation, [integers((5, 5), 0, 1)]),
    (area_under_curve, [some(12, 0, 50), integers(12, 0, 1)]),
    (joined_by_key, [keys(12), some(12, 0, 100), keys(10), some(10, 0, 100)]),
    (nearest_neighbours, [some((10, 2), -4, 4), integers(10, 0, 2), some(2, -4, 4)]),
]
