"""What docs/numpy.md says to write instead of what is refused: run on secrets, and compared with NumPy."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.special  # type: ignore[import-untyped]
import scipy.stats  # type: ignore[import-untyped]

import tacit
from tacit._tree import together

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
    "(np.clip((x - x.mean()) / x.std(), -len(x) ** 0.5, len(x) ** 0.5) ** 3).mean()": "scipy.stats.skew(x)",
    "(np.clip((x - x.mean()) / x.std(), -len(x) ** 0.5, len(x) ** 0.5) ** 4).mean() - 3": (
        "(np.clip((x - x.mean()) / x.std(), -len(x) ** 0.5, len(x) ** 0.5) ** 4).mean() - 3",
        "scipy.stats.kurtosis(x)",
    ),
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
    "np.diagonal(m)": 'np.einsum("ii->i", m)',
    "np.trace(m)": 'np.einsum("ii", m)',
    'np.einsum("ij,j", m, x)': 'np.einsum("...j,j", m, x)',
    "np.concatenate([x[:1], x, x[-1:]])": 'np.pad(x, 1, mode="edge")',
    "abs(x).sum()": "np.linalg.norm(x, ord=1)",
    "k % 2": "k & 1",
    "k % 8": "k & 7",
    "tacit.stack([k // 2**j % 2 for j in range(8)]).sum(axis=0)": "np.bitwise_count(k)",
    "x[(np.arange(len(x)) - i) % len(x)]": "np.roll(x, i)",
    "x[np.arange(len(x)) != i]": ("x[np.arange(len(x)) != i].sum()", "np.delete(x, i).sum()"),
    "(m * (np.arange(m.shape[1]) == k[:, None])).sum(axis=1)": (
        "(m * (np.arange(m.shape[1]) == k[:, None])).sum(axis=1)",
        "np.take_along_axis(m, k[:, None], axis=1)[:, 0]",
    ),
    "np.concatenate([x, y])": "np.r_[x, y]",
    "np.column_stack([x, y])": "np.c_[x, y]",
    "np.isin(x, y)": "np.isin(x, np.intersect1d(x, y))",
    "np.bincount(k)": "np.unique(k, return_counts=True)[1]",
    "np.sort(x)[1]": 'np.quantile(x, 0.5, method="lower")',
}
"""For each piece of code of the table what it is in NumPy, or how its result is shown, and what that is."""


def valued(code: str, x: Any, m: Any, k: Any, w: Any) -> Any:
    """What code comes to: an expression, or statements that leave it in `z`."""
    names = {
        "np": np,
        "scipy": scipy,
        "tacit": tacit,
        "x": x,
        "y": x[::-1].copy(),
        "m": m,
        "k": k,
        "l": k[::-1],
        "w": w,
    }
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


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (lambda k: np.take_along_axis(k, k, axis=0), r"m.max\(axis=1\) for the places"),
        (lambda k: np.roll(k, k[0]), "for np.roll"),
        (lambda k: np.delete([1, 2], k), "for np.delete"),
        (lambda k: np.tile(k, k), "public places, lengths and axes\n  hint: docs/numpy.md"),
        (lambda k: k & 1, "x % 2 for x & 1"),
        (lambda k: k ^ [1, 2, 3], "not for bits of int8"),
        (lambda k: np.bitwise_count(k), r"tacit.stack\(\[x // 2"),
        (lambda k: scipy.special.expit(k), r"tacit.sigmoid\(x\)"),
        (lambda k: k >> k, r"x // 2\*\*k"),
        (lambda k: k.astype(float) << 2, r"use x \* 2\*\*3"),
        (lambda k: np.r_[k, k], r"np.concatenate\(\[x, y\]\)"),
        (lambda k: np.vectorize(lambda a: a + 1)(k), "are of all elements already"),
        (lambda k: np.ma.masked_where(k > 0, k), "public or secret"),
        (lambda k: math.sqrt(k[0]), r"np.sqrt\(x\)"),
        (lambda k: scipy.stats.zscore(k), r"\(x - x.mean\(\)\) / x.std\(\)"),
        (lambda k: pandas.Series(k), "tacit.table"),
        (lambda k: tacit.reveal(np.unique(k, return_counts=True)), r"the mask np.isin\(a, b\)"),
        (lambda k: tacit.reveal(np.intersect1d(k, k)), r"the mask np.isin\(a, b\)"),
    ],
)
def test_what_is_refused_says_what_to_write_once_at_the_users_line(asked: Any, says: str) -> None:
    with pytest.raises(tacit.errors.ProgramError, match=says) as caught:
        tacit.function(asked).trace(tacit.secret("o", shape=3, dtype=tacit.int8, range=(0, 9)))
    assert str(caught.value).count("test_numpy_instead.py") == 1


def test_public_arrays_are_returned_as_they_are(tmp_path: Path) -> None:
    def several(x: Any) -> Any:
        counts = tacit.reveal(np.histogram(x, bins=[0, 1, 2.5]))
        return counts, np.zeros((2, 0), bool), np.int64(5), np.array(["a", "bc"]), {"n": np.uint64(2**63)}

    plan = tacit.function(several).trace(tacit.secret("alice", shape=3, range=(-9, 9)))
    plan.save(tmp_path / "a.plan")
    for one in (plan, tacit.Plan.load(tmp_path / "a.plan")):
        with tacit.local() as run:
            (counts, edges), none, five, words, big = run(one, x=[1.5, 2, 0])
        assert counts.tolist() == [1, 2]
        assert edges.tolist() == [0, 1, 2.5]
        assert (edges.dtype, none.dtype, none.shape, words.tolist()) == (float, bool, (2, 0), ["a", "bc"])
        assert (five, big) == (5, {"n": 2**63})
    for damaged in [([1], "O", [1]), ([1], "int64", [2]), (["a"], "int64", [1]), ([1], 5, [1])]:
        with pytest.raises(ValueError, match="damaged"):
            together(dict(zip(("array", "dtype", "shape"), damaged, strict=True)), [])
    # As long as its texts, whatever is said of them.
    made = together({"array": ["ab", "c"], "dtype": f"<U{1 << 28}", "shape": [2]}, [])
    assert made.tolist() == ["ab", "c"]
    assert made.nbytes == 16


def test_counts_beyond_the_range_are_public() -> None:
    plan = tacit.function(lambda k: tacit.reveal(np.bincount(k, minlength=20_000))).trace(
        tacit.secret("alice", shape=300, dtype=tacit.int8, range=(0, 3))
    )
    with tacit.local() as run:
        got = run(plan, alice=np.arange(300) % 4)
    assert got.tolist() == [75] * 4 + [0] * 19_996
    cost = plan.cost(protocol="replicated").protocols["replicated"]
    assert max(cost.bytes.values()) < 10**6


@pytest.mark.parametrize(("rows", "places"), [(70, 64), (41, 100), (1, 5000)])
@pytest.mark.parametrize("protocol", ["replicated", "gmw"])
def test_many_places_are_counted_by_digits(rows: int, places: int, protocol: str) -> None:
    plan = tacit.function(lambda k: tacit.reveal(np.bincount(k, minlength=3))).trace(
        tacit.secret("alice", shape=rows, dtype=tacit.int32, range=(0, places - 1))
    )
    given = np.random.default_rng(rows).integers(0, places, rows)
    given[0] = places - 1
    with tacit.local(protocol, debug=True) as run:
        assert run(plan, k=given).tolist() == np.bincount(given).tolist()


def test_inputs_without_a_name_are_refused() -> None:
    plan = tacit.function(lambda x, y: tacit.reveal(x + y)).trace(tacit.secret("alice"), tacit.secret("bob"))
    with tacit.local() as run, pytest.raises(tacit.InputError, match=r"run\(plan, alice=..., bob=...\)"):
        run(plan, 1, 2)
