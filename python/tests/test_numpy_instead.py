"""What docs/numpy.md says to write instead of what is refused: run on secrets, and compared with NumPy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit

INSTEAD: dict[str, str | tuple[str, str]] = {
    "tacit.where(x > 0, x, y)": "np.array([a if a > 0 else b for a, b in zip(x, y)])",
    "tacit.cond": ("tacit.cond(x[0] > 0, lambda: x + 0, lambda: y + 0)", "x if x[0] > 0 else y"),
    "(y == x[0]).any()": "x[0] in y",
    "x.max()": "max(x)",
    "x.min()": "min(x)",
    "np.sort(x)": "sorted(x)",
    "np.unique(x).count()": "len(set(x))",
    "m[a][:, i]": "m[a, i]",
    "m.reshape(-1)[k * m.shape[1] + l]": "m[k, l]",
    "z = np.zeros_like(x, shape=3); z[0] = x.sum()": "z = np.zeros(3); z[0] = x.sum()",
    "z = np.zeros(3); z = z + x": "z = np.zeros(3); z += x",
    "x[mask].count()": "len(x[mask])",
    "mask": ("mask", "np.isin(np.arange(3), np.nonzero(mask))"),
    "(x + y)[mask]": ("(x + y)[mask].sum()", "(x[mask] + y[mask]).sum()"),
    "x[mask] + y[mask]": ("(x[mask] + y[mask]).max()", "(x[mask] + y[mask]).max()"),
    "x[mask].min()": "np.where(mask, x, np.inf).min()",
    "tacit.stack([row[row > 0].var() for row in m])": "m.var(axis=1, where=m > 0)",
    'tacit.secret("alice", shape=3, range=(0, 1e6))': ("w.std()", "w.std()"),
    "tacit.stack([x, y]).sum()": "np.sum([x, y])",
    "tacit.stack([x.max(), 3]).max()": "np.max([x.max(), 3])",
    "x.astype(float).sum()": "np.sum(x, dtype=float)",
    "np.exp(y * np.log(x))": ("x = abs(x); z = np.exp(y * np.log(x))", "x = abs(x); z = x ** y"),
    "np.histogram(x, bins=10, range=(0, 100))": (
        "np.histogram(x, bins=10, range=(0, 100))[0]",
        "np.histogram(x, np.linspace(0, 100, 11))[0]",
    ),
    "tacit.stack([x, y])": "np.array([x, y])",
    "tacit.stack([[x, y], [y, x]])": "np.array([[x, y], [y, x]])",
    "x": "np.asarray(x)",
    "np.choose(k, [5, 7, 9])": "np.take([5, 7, 9], k)",
    "np.choose(k[:, None], np.eye(3))": "np.eye(3)[k]",
    "x[np.arange(len(x)) < i]": ("x[np.arange(len(x)) < i].sum()", "x[:i].sum()"),
    "tacit.where(np.arange(len(x)) < i, x, 0)": "np.array([*x[:i], *np.zeros(len(x) - i)])",
    "np.clip(x / y, 0, 2) ** 10": "np.clip(x / y, 0, 2) ** 10",
    "np.argsort(x)": "np.unique(x, return_index=True)[1]",
    "np.concatenate([x[:1], x, x[-1:]])": 'np.pad(x, 1, mode="edge")',
    "abs(x).sum()": "np.linalg.norm(x, ord=1)",
    "np.sort(x)[1]": 'np.quantile(x, 0.5, method="lower")',
}
"""For each piece of code of the table what it is in NumPy, or how its result is shown, and what that is."""


def valued(code: str, x: Any, m: Any, k: Any, w: Any) -> Any:
    """What code comes to: an expression, or statements that leave it in `z`."""
    names = {"np": np, "tacit": tacit, "x": x, "y": x[::-1].copy(), "m": m, "k": k, "l": k[::-1], "w": w}
    names |= {"i": k[0], "j": k[1], "a": np.array([0, 2]), "mask": x > 0}
    if "z =" not in code:
        return eval(code, names)
    exec(code, names)
    return names["z"]


GIVEN = {
    "x": np.array([1.75, -4.0, 2.5]),
    "m": np.array([[1.5, -2, 3], [0.25, 4, -5], [-6.5, 7, 8.75]]),
    "k": np.array([2, 0, 1]),
    "w": np.array([10.0, 250_000, 999_999.5]),
}


def test_every_alternative_is_what_numpy_has_of_the_same_numbers() -> None:
    page = (Path(__file__).parents[2] / "docs" / "numpy.md").read_text()
    table = page[page.index("| NumPy | instead |") :].strip().splitlines()[2:]
    written = {code for line in table for code in re.findall(r"`([^`]+)`", line.strip("| ").split(" | ")[1])}
    assert written == INSTEAD.keys()
    codes = {one: (one, there) if isinstance(there, str) else there for one, there in INSTEAD.items()}

    def all_of_them(x: Any, m: Any, k: Any, w: Any) -> list[Any]:
        return [tacit.reveal(valued(code, x, m, k, w)) for code, _ in codes.values()]

    plan = tacit.function(all_of_them).trace(
        tacit.secret("alice", shape=3, range=(-9, 9)),
        tacit.secret("alice", shape=(3, 3), range=(-9, 9)),
        tacit.secret("alice", shape=3, dtype=tacit.int8, range=(0, 2)),
        tacit.secret("alice", shape=3, range=(0, 1e6)),
    )
    with tacit.local() as run:
        got = run(plan, **GIVEN)
    for (code, there), found in zip(codes.values(), got, strict=True):
        want = np.asarray(valued(there, **GIVEN))
        assert np.shape(found) == want.shape, code
        # A tenth power has an error of its base's, ten times for each factor.
        assert found == pytest.approx(want, abs=2.0**-15, rel=2.0**-12), code


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (lambda x: x.median(), "np.median takes secrets"),
        (lambda x: x.isin([3]), "np.isin takes secrets"),
        (lambda x: x.value_counts(), "return_counts=True"),
        (lambda x: x.rolling(3), "tacit.windows"),
        (lambda x: x.transposed(), "docs/numpy.md"),
    ],
)
def test_methods_that_pandas_has_are_named_with_what_to_write(asked: Any, says: str) -> None:
    with pytest.raises(AttributeError, match=says):
        tacit.function(asked).trace(tacit.secret("alice", shape=3))


def test_inputs_without_a_name_are_refused() -> None:
    plan = tacit.function(lambda x, y: tacit.reveal(x + y)).trace(tacit.secret("alice"), tacit.secret("bob"))
    with tacit.local() as run, pytest.raises(tacit.InputError, match=r"run\(plan, alice=..., bob=...\)"):
        run(plan, 1, 2)
