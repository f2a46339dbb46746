"""What Python and NumPy ask of a secret that nobody can answer, and what to write instead."""

from __future__ import annotations

import re

from tacit._location import caller, fault
from tacit.errors import ProgramError, SecretError

_INTO = "an array to put secrets into is np.zeros_like(x, shape=3) and not np.zeros(3)"

_TABLE = f"np.choose(i, table) looks secret places up in a public list or array; {_INTO}"

_INSTEAD: dict[str, list[tuple[str, str]]] = {
    "a NumPy array": [
        (
            r"^\w+\.(array|asarray|asanyarray)\(",
            "a secret of several elements is an array already: leave np.array out; tacit.stack([x, y]) makes "
            "one of a list of secrets, or of nested lists",
        ),
        (r"\br_\[", "np.concatenate([x, y]) for np.r_[x, y]"),
        (r"\bc_\[", "np.column_stack([x, y]) for np.c_[x, y]"),
        (
            r"\bvectorize\(",
            "operators and NumPy's functions are of all elements already: np.where(x > 0, np.sqrt(x), 0) + 1",
        ),
        (r"\bma\.", "x[mask] and x.sum(where=mask) are of what a mask says, public or secret"),
        (
            r"\b(scipy|stats|special|linalg|signal|optimize)\.",
            "SciPy takes public values; write it with NumPy's functions, as (x - x.mean()) / x.std(); "
            "docs/numpy.md has skew and kurtosis",
        ),
        (
            r"\b(pd|pandas)\.|\b(DataFrame|Series)\(",
            "x has mean, sum and the like itself; tables of secrets are tacit.table's (docs/tables.md)",
        ),
        (r"\]$|\btake\(", _TABLE),
        ("", f"np.sum([x, y]) is tacit.stack([x, y]).sum(), with axis=0 for each element; {_INTO}"),
    ],
    "an index or a length": [
        (r"\brange\(", "go over all places, and choose: tacit.where(np.arange(len(x)) < i, x, 0)"),
        (
            r"\[.*:.*\]$",
            "the first i elements are x[np.arange(len(x)) < i], which has sum, mean and the like",
        ),
        (r"\]$", _TABLE),
    ],
    "float()": [
        (
            r"\bmath\.|^(sqrt|exp|log|log2|log10|pow|hypot|fabs|tanh)\(",
            "np.sqrt(x), np.exp(x) and their like take secrets, where functions of math don't",
        ),
        (r"\]$", _INTO),
    ],
    "a text": [
        ("", "return tacit.reveal(x, to=...), and write the text of what the run gives back"),
    ],
    "a list of numbers": [
        ("", "list(x) are its elements, each a secret; tacit.reveal(x, to=...) makes it a result"),
    ],
}
"""By what it is asked for, and by what the expression looks like."""


_ATTRIBUTES = {
    "value_counts": "np.unique(x, return_counts=True) has the different ones, and how many there are of each",
    "nunique": "np.unique(x).count() says how many different ones there are",
    "groupby": "tables have groups (docs/tables.md); of a key that is public, x[keys == 3].mean()",
    "rolling": "tacit.windows(x, 3).mean(axis=1) has means of three neighbours",
    "between": "use (x >= low) & (x <= high)",
    "rank": "use np.argsort(np.argsort(x))",
    "shift": "use np.roll(x, 1), or slices: x[1:] - x[:-1]",
    "pct_change": "use np.diff(x) / x[:-1]",
    "corr": "use np.corrcoef(x, y)",
    "nlargest": "use tacit.top_k(x, 3)",
    "head": "use x[:5]",
    "tail": "use x[-5:]",
    **dict.fromkeys(["isna", "isnull", "notna", "fillna", "dropna"], "no element of a secret is missing"),
    **dict.fromkeys(["iloc", "loc"], "use x[3], x[2:5], x[mask]"),
    **dict.fromkeys(["values", "to_numpy"], "a secret is an array already: leave it out"),
    **dict.fromkeys(["apply", "map"], "operators and NumPy's functions are of all elements: np.sqrt(x) + 1"),
}
"""What is written instead of attributes that pandas has."""


def no_attribute(name: str) -> AttributeError:
    """That a secret has no such attribute, and what to write."""
    from tacit._numpy import is_known

    if name.startswith("_"):
        return AttributeError(name)
    hint = f"np.{name} takes secrets" if is_known(name) else "docs/numpy.md lists what there is"
    return AttributeError(str(fault(ProgramError, f"a secret has no {name!r}", _ATTRIBUTES.get(name, hint))))


def refusal(use: str) -> ProgramError:
    """Why a secret can't be used for this, at the user's expression."""
    if use == "if":
        return fault(
            SecretError,
            "nobody knows this value while the program runs, so it can't steer if, while, and, or, not",
            "choose between values with tacit.where(condition, a, b); combine conditions with &, | and "
            "~; max(x), min(x) and sorted(x) are x.max(), x.min() and np.sort(x)",
        )
    if use == "a key of a set or a dict":
        return fault(
            SecretError,
            f"nobody knows which secrets are equal, so one can't be {use}",
            "np.unique(x) are the different ones, and np.unique(x).count() says how many; np.choose(i, "
            "table) looks secret places up in a public list",
        )
    text = caller().text
    return fault(
        SecretError,
        "a secret can't become a NumPy array"
        if use == "a NumPy array"
        else f"nobody knows this value while the program runs, so it can't be used for {use}",
        next(
            (hint for pattern, hint in _INSTEAD.get(use, []) if re.search(pattern, text)),
            f"tacit.reveal(x, to=...) makes it a result; x.astype(...) changes its type; {_INTO}",
        ),
    )
