"""Random programs of NumPy's functions: what they make of secrets against what they make of arrays."""

from __future__ import annotations

import collections
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import tacit
from tacit._values import public
from tests.numpy_blanks import LARGEST, Blanks, MisfitError, do, value_of
from tests.numpy_steps import CHANGES, HALF, STEPS, Operand
from tests.support import examples, is_dear, same

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.numpy_steps import Bound

TYPES = [
    (tacit.int8, "i"),
    (tacit.int16, "i"),
    (tacit.int32, "i"),
    (tacit.int64, "i"),
    (tacit.fixed(3), "f"),
    (tacit.fixed(4), "f"),
    (tacit.fixed(8), "f"),
    (tacit.fixed(16), "f"),
    (tacit.fixed(20), "f"),
    (tacit.fixed(24), "f"),
    (tacit.bool_, "b"),
]
RANGES = [(-9, 9), (0, 5), (-1, 1), (-100, 127), (3, 3), (1, 1000), (-7, -2), (0, 1)]
LETTERS = "abcdef"
SHAPES = st.sampled_from([(), (1,), (3,), (5,), (2, 3), (3, 2), (3, 3), (1, 4), (3, 1), (2, 1, 3), (2, 2, 2)])


@dataclass
class Line:
    """A line of a program, what it makes, and how far off that may be."""

    text: str
    is_change: bool
    names: list[str]
    bound: Bound | None
    operand: Operand


@dataclass
class Kept:
    """A value after a line: its range, and the step of its type."""

    name: str
    low: float
    high: float
    step: float


def parts_of(value: Any) -> list[Any]:
    """What a line makes, one or several: tensors, arrays, and NumPy's numbers."""
    parts = [*value] if isinstance(value, (list, tuple)) else [value]
    return [one if isinstance(one, (tacit.Tensor, np.ndarray)) else np.asarray(one)[()] for one in parts]


class Program:
    """A program that is drawn while it is traced: of each line NumPy says first whether it makes sense."""

    def __init__(self, data: st.DataObject, names: Sequence[str]) -> None:
        self.draw, self.names = data.draw, names
        self.taken: collections.Counter[str] = collections.Counter()
        self.refused: collections.Counter[str] = collections.Counter()
        self.arrays: dict[str, Any] = {}
        self.tensors: dict[str, Any] = {}
        self.lines: list[Line] = []
        self.count = 0
        self.kept: list[list[Kept]] = []
        self.inputs: list[Any] = []
        secrets = [
            self.input(kinds) for kinds in ("i", "f", "b", *self.draw(st.sampled_from(["", "if", "fib"])))
        ]
        self.plan = tacit.function(self.traced).trace(*secrets)

    def input(self, kind: str) -> tacit.Secret:
        dtype = self.draw(st.sampled_from([dtype for dtype, one in TYPES if one == kind]))
        shape, seed = self.draw(SHAPES), self.draw(st.integers(0, 999))
        random, name = np.random.default_rng(seed), LETTERS[len(self.inputs)]
        if kind == "b":
            value: Any = random.integers(0, 2, shape) > 0
            options: dict[str, Any] = {}
        else:
            low, high = self.draw(st.sampled_from(RANGES))
            unit = dtype.unit
            low, high = max(low, dtype.limits[0] // unit), min(high, dtype.limits[1] // unit)
            value = random.integers(low * unit, high * unit + 1, shape)
            value = value / unit if kind == "f" else value
            options = {"range": (low, high)}
        self.inputs.append(np.asarray(value))
        note(f"{name} = np.array({self.inputs[-1].tolist()})  # {dtype}, {options}")
        return tacit.secret(f"owner_{name}", shape=shape, dtype=dtype, **options)

    def traced(self, *secrets: Any) -> Any:
        self.arrays = {
            name: self.inputs[place].copy()[()] for place, name in enumerate(LETTERS[: len(secrets)])
        }
        self.tensors = dict(zip(self.arrays, secrets, strict=True))
        made = []
        for name in self.names:
            # What fits nothing there is, is drawn anew.
            values = next(filter(None, (self.step(name) for _ in range(5))), None)
            if values is not None:
                made.append([tacit.reveal(value) for value in values])
        # All variables at last, so that what nothing showed to change has not.
        self.lines.append(Line("", False, [*self.arrays], None, Operand("", 0, 0, 1)))
        self.kept.append(self.kept_of(self.arrays))
        return [*made, [tacit.reveal(value) for value in self.tensors.values()]]

    def kept_of(self, names: Iterable[str]) -> list[Kept]:
        tensors = [(name, self.tensors[name]) for name in names]
        return [
            Kept(name, tensor.range[0], tensor.range[1], 1 / tensor.dtype.unit) for name, tensor in tensors
        ]

    def step(self, name: str) -> list[Any] | None:
        """Draws a line and traces it: what it makes, or all variables if it changes some."""
        one = self.draw(st.sampled_from(STEPS[name]))
        template, bound = one if isinstance(one, tuple) else (one, None)
        blanks = Blanks(self.draw, self.arrays, self.tensors)
        is_change = name in CHANGES
        try:
            text = template.format_map(blanks)
            parts = self.tried(text) if is_change else self.made(text)
        except MisfitError:
            return None
        try:
            if is_change:
                do(text, self.tensors)
                made = list(self.tensors.values())
                names = [*self.tensors]
            else:
                value = value_of(text, self.tensors)
                made = parts_of(value)
                if not all(isinstance(one, tacit.Tensor) for one in made):
                    return None  # What is public, NumPy made.
                names = []
        except tacit.ProgramError as error:
            note(f"# {text}  # refused: {error.message}")
            self.refused[name] += 1
            return None
        except Exception:
            note(text)
            raise
        self.taken[name] += 1
        if is_change:
            do(text, self.arrays)
            # What goes into a coarser type is rounded, as products are.
            kinds = {str(tensor.dtype) for tensor in made if tensor.dtype.kind == "fixed"}
            bound = HALF if "*=" in text or len(kinds) > 1 else None
        else:
            assert len(made) == len(parts), text
            for array, tensor in zip(parts, made, strict=True):
                names.append(f"v{self.count}")
                self.count += 1
                self.arrays[names[-1]], self.tensors[names[-1]] = array, tensor
        note(text if is_change else f"{', '.join(names)} = {text}")
        self.lines.append(Line(text, is_change, names, bound, blanks.operand()))
        self.kept.append(self.kept_of(names))
        return made

    def made(self, text: str) -> list[Any]:
        """What NumPy makes of an expression.

        Raises:
            MisfitError: Nothing that is of use.
        """
        try:
            value = value_of(text, self.arrays)
        except (ValueError, IndexError, TypeError, ZeroDivisionError, np.exceptions.AxisError):
            raise MisfitError from None
        parts = parts_of(value)
        if not all(0 < np.size(part) <= LARGEST and np.isfinite(part).all() for part in parts):
            raise MisfitError
        return parts

    def tried(self, text: str) -> list[Any]:
        """Tries a change on copies; it makes nothing.

        Raises:
            MisfitError: NumPy has no such change.
        """
        copies = {
            name: value.copy() if value.flags.writeable or not value.ndim else value
            for name, value in self.arrays.items()
        }
        try:
            do(text, copies)
        except (ValueError, IndexError, TypeError, np.exceptions.AxisError):
            raise MisfitError from None
        if any(np.shape(copies[name]) != np.shape(value) for name, value in self.arrays.items()):
            raise MisfitError
        return []

    def given(self) -> dict[str, Any]:
        """The inputs by owner."""
        return {f"owner_{name}": [value] for name, value in zip(LETTERS, self.inputs, strict=False)}

    def evaluated(self) -> list[Any]:
        made: list[Any] = self.plan._restore(self.plan._program.evaluate([*map(public, self.inputs)]))
        return made

    def compare(self, outputs: list[Any]) -> None:
        """Does the program again in NumPy: each line on what the lines before it gave for secrets."""
        arrays: dict[str, Any] = {
            name: self.inputs[place].copy()[()] for place, name in enumerate(LETTERS[: len(self.inputs)])
        }
        for line, kept, got in zip(self.lines, self.kept, outputs, strict=True):
            of = line.operand._replace(value=np.asarray(value_of(line.operand.value or "0", arrays)))
            if line.is_change:
                do(line.text, arrays)
            elif line.text:
                value = value_of(line.text, arrays)
                parts = parts_of(value)
                arrays.update(zip(line.names, parts, strict=True))
            for one, own in zip(got, kept, strict=True):
                arrays[own.name] = settled(line, own, np.asarray(one), arrays[own.name], of)


def settled(line: Line, own: Kept, got: Any, array: Any, of: Operand) -> Any:
    """The array, with what was got for it in its elements once that is near enough."""
    want = np.asarray(array)
    what = f"{own.name} after {line.text or 'all'}: {got!r}, and NumPy has {want!r}"
    assert got.shape == want.shape, what
    assert got.dtype.kind == want.dtype.kind, what
    assert (got >= own.low).all(), what
    assert (got <= own.high).all(), what
    near = np.isfinite(want) & (abs(want) < 2.0**46 * own.step)
    if line.bound is None or got.dtype.kind != "f":
        assert np.array_equal(got[near], want[near]), what
    else:
        with np.errstate(all="ignore"):
            off = np.broadcast_to(np.asarray(line.bound(want, own.step, of)), want.shape)[near]
        assert (abs(got - want)[near] <= off + 2.0**-44 * abs(want[near])).all(), what
    if np.array_equal(got, want):
        return array
    if isinstance(array, np.ndarray) and array.ndim and array.flags.writeable:
        array[...] = got
        return array
    return got[()]


NAMES = st.lists(st.sampled_from([*STEPS]), min_size=1, max_size=12)


@settings(report_multiple_bugs=False)
@given(st.data(), NAMES)
def test_programs_give_what_numpy_gives(data: st.DataObject, names: list[str]) -> None:
    program = Program(data, names)
    program.compare(program.evaluated())


def table() -> list[list[str]]:
    """The names of each row of what works, in docs/numpy.md."""
    page = (Path(__file__).parents[2] / "docs" / "numpy.md").read_text()
    part = page.split("## What works")[1].split("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1] for line in part.splitlines() if line.startswith("| ")]
    return [found for row in rows if (found := re.findall(r"`([^`]+)`", row))]


def test_the_table_names_what_is_drawn() -> None:
    named = {name for row in table() for name in row}
    assert named == set(STEPS), (
        "tests/numpy_steps.py has a line for each name of docs/numpy.md, and for no other"
    )


@pytest.mark.parametrize("names", table(), ids=lambda names: names[0])
def test_each_name_is_drawn_and_seldom_refused(names: list[str]) -> None:
    taken: collections.Counter[str] = collections.Counter()
    refused: collections.Counter[str] = collections.Counter()

    @examples(8, 3)
    @given(st.data())
    def programs(data: st.DataObject) -> None:
        program = Program(data, names)
        program.compare(program.evaluated())
        taken.update(program.taken)
        refused.update(program.refused)

    programs()
    assert set(taken) == set(names)
    assert refused.total() <= taken.total() / 2


PROTOCOLS = ["replicated", "astra", "replicated-malicious", "astra-malicious", "gmw", "mascot"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_runs_give_what_is_evaluated(protocol: str, pytestconfig: pytest.Config) -> None:
    if protocol == "mascot" and not pytestconfig.getoption("--long"):
        pytest.skip("--long runs them under mascot")

    @examples(25 if protocol == "mascot" else 3, 4)
    @given(st.data(), NAMES)
    def programs(data: st.DataObject, names: list[str]) -> None:
        program = Program(data, names)
        if is_dear(program.plan, protocol):
            return
        with tacit.local(protocol) as run:
            outputs = run(program.plan, **program.given())
        program.compare(outputs)
        for got, want in zip(outputs, program.evaluated(), strict=True):
            for one, other in zip(got, want, strict=True):
                same(one, other)

    programs()
