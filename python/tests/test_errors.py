"""What goes wrong is refused before anything runs, by a message that says what, where, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import InputError, PlanError, ProgramError, ProgramTypeError, SecretError, TacitError

if TYPE_CHECKING:
    from collections.abc import Callable

X = tacit.secret("alice", shape=(4,), dtype=tacit.fixed(16), range=(-100, 100))
N = tacit.secret("alice", shape=(4,), dtype=tacit.int32, range=(-100, 100))
B = tacit.secret("alice", shape=(4,), dtype=tacit.bool_)
R = tacit.secret("alice", shape=(4,), dtype=tacit.ring(64))
F = tacit.secret("alice", shape=(4,), dtype=tacit.modular(2**61 - 1))
WIDE = tacit.secret("alice", shape=(4,), range=(-(2**47), 2**47 - 1))

SECRETS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: 1 if x[0] > 0 else 2, "tacit.where(condition, a, b)"),
    (lambda x: x[0] > 0 and x[1] > 0, "combine conditions with &, | and ~"),
    (lambda x: int(x[0]), "it can't be used for int()"),
    (lambda x: float(x[0]), "tacit.reveal(x, to=...) makes it a result"),
    (lambda x: complex(x[0]), "complex()"),
    (lambda x: range(x[0]), "an index or a length"),
    (lambda x: np.asarray(x), "can't become a NumPy array"),
    (lambda x: np.zeros(4)[x[0]], "can't become a NumPy array"),
    (lambda x: x.reshape(2, 2)[:, x[:2] > 0], "or a secret mask, has to be the only one"),
    (lambda x: np.sum([x, x]), "np.sum([x, y]) is tacit.stack([x, y]).sum()"),
    (lambda x: list(np.unique(x)), "so there are no elements"),
    (lambda x: tacit.reveal(x[x > 0]), "can't be used for tacit.reveal"),
    (lambda x: x.reshape(2, 2)[x[:2] > 0].argmax(), "the largest or least of rows"),
    (lambda x: len(x[x > 0]), "nobody knows how many elements a secret mask selects"),
    (lambda x: 3 in x, "(x == item).any()"),
    (lambda x: f"{x.sum():.2f}", "can't be used for a text"),
    (lambda x: x[0].item(), "a number of Python's"),
    (lambda x: x.tolist(), "a list of numbers"),
    (lambda x: tacit.reveal(x) + 1, "known only after the run"),
    (lambda x: 1 if tacit.reveal(x) else 2, "start a second program"),
    (lambda x: tacit.reveal(x) > 1, "known only after the run"),
    (lambda x: np.ones(4) * tacit.reveal(x), "known only after the run"),
    (lambda x: x + tacit.reveal(x), "known only after the run"),
    (lambda x: tacit.where(x > 0, tacit.reveal(x), 1), "known only after the run"),
    (lambda x: tacit.reveal(tacit.reveal(x)), "known only after the run"),
    (lambda x: x + X, "only declares an input"),
    (lambda x: [one for one in tacit.reveal(x)], "known only after the run"),  # noqa: C416
]


@pytest.mark.parametrize(("function", "says"), SECRETS)
def test_a_secret_used_as_if_it_were_known(function: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(SecretError) as caught:
        tacit.function(function).trace(X)
    assert says in str(caught.value)
    assert "test_errors.py" in str(caught.value)
    assert caught.value.hint


TYPES: list[tuple[tacit.Secret, Callable[[Any], Any], str]] = [
    (R, lambda x: x + 0.5, "x.astype(tacit.fixed(16))"),
    (F, lambda x: x // 2, "`//` is not defined for modular(2**61 - 1)"),
    (N, lambda x: x >> -1, "from 0 to 63"),
    (R, lambda x: x % 2, "`%` is not defined for modular(2**64)"),
    (F, lambda x: 1 / x, "`/` is not defined for modular(2**61 - 1)"),
    (X, lambda x: x ** np.array("a"), "the exponent of ** has to be a public number"),
    (X, lambda x: np.unique(x, return_index=True), "np.argsort(x) and np.sort(x)"),
    (X, lambda x: np.interp(2.0, x, [1, 2, 3, 4]), "np.interp takes secrets between public points"),
    (X, lambda x: np.histogram2d(x, x), "the edges of a histogram have to be public"),
    (X, lambda x: np.linalg.lstsq(x.reshape(2, 2), x[:2]), "tacit.learn.linear_regression"),
    (X, lambda x: np.gradient(x.reshape(2, 2)), "one row of two points or more"),
    (X, lambda x: (-2) ** x, "one public number above 0"),
    (X, lambda x: np.power([1, 2, 3, 4], x), "one public number above 0"),
    (X, lambda x: np.power(x, x), "np.exp(y * np.log(x))"),
    (X, lambda x: x[x[0]], "an index is an integer, not fixed(16)"),
    (X, lambda x: np.histogram(x), "the edges of a histogram have to be public"),
    (X, lambda x: x & 1, "not defined"),
    (X, lambda x: ~x, "a comparison such as x != 0 makes one"),
    (X, lambda x: x + "1", "is not a number"),
    (X, lambda x: x + None, "a NoneType is not a number"),
    (X, lambda x: x + [1j] * 4, "dtype complex128 is not supported"),
    (X, lambda x: x * [[1], [1, 2]], "different lengths"),
    (X, lambda x: x * [x, x], "tacit.stack"),
    (X, lambda x: len(x[0]), "no length"),
    (X, lambda x: x.astype("M8[D]"), "is no type of tacit"),
    (X, lambda x: x[True], "can't be an index"),
    (X, lambda x: np.sin(x), "np.sin is not supported on secrets"),
    (X, lambda x: np.linalg.det(x), "np.det is not supported on secrets"),
    (X, lambda x: np.less.accumulate(x), "in the plain form"),
    (X, lambda x: np.sum(x, dtype=float), "with these arguments"),
    (X, lambda _: tacit.where([True], [1], [2]), "none of the operands is secret"),
    (X, lambda x: x, "return tacit.reveal(x, to=...)"),
    (X, lambda x: {1.5: tacit.reveal(x)}, "strings or integers"),
    (X, lambda _: object(), "an object can't be part of what a traced function returns"),
    (X, lambda _: tacit.reveal(5), "tacit.reveal takes a secret"),
    (R, lambda x: x > 1, "modular integers have no order"),
    (R, lambda x: x * 0.5, "a floating-point number beside modular(2**64)"),
    (F, lambda x: x < 5, "`<` is not defined for mod 2^61-1"),
    (F, lambda x: x == 5, "sums and products alone"),
    (F, lambda x: x * 0.5, "a floating-point number beside modular(2**61 - 1)"),
]


@pytest.mark.parametrize(("declared", "function", "says"), TYPES)
def test_an_operation_that_is_not_defined(
    declared: tacit.Secret, function: Callable[[Any], Any], says: str
) -> None:
    with pytest.raises(ProgramTypeError) as caught:
        tacit.function(function).trace(declared)
    assert says in str(caught.value)
    assert "test_errors.py:" in str(caught.value)


PROGRAMS: list[tuple[tacit.Secret, Callable[[Any], Any], str]] = [
    (X, lambda x: x + np.ones(5), "shapes (4,) and (5,) don't go together"),
    (X, lambda x: x.reshape(3), "can't be reshaped"),
    (X, lambda x: x.sum(axis=1), "there is no axis 1"),
    (X, lambda x: x[4], "index 4 is outside axis 0 of length 4"),
    (X, lambda x: x[::0], "a slice's step can't be 0"),
    (X, lambda x: x / 0, "division by 0"),
    (N, lambda x: x // x, "by what may be 0"),
    (N, lambda x: 7 % x, "raise it, with tacit.maximum(divisor, 1)"),
    (X, lambda x: x / [1, 0, 1, 1], "division by 0"),
    (X, lambda x: x * 1e-12, "1e-12 would become 0"),
    (X, lambda x: x + float("nan"), "not a finite number"),
    (X, lambda x: x * float("inf"), "not a finite number"),
    (X, lambda x: np.where(x > 0, x, np.inf).min(), "x[mask].min()"),
    (X, lambda x: np.where(x > 0, x, np.nan), "x[mask].mean()"),
    (X, lambda x: np.maximum(x, np.inf), "not a finite number"),
    (X, lambda x: np.clip(x, [np.inf, 0, 0, 0], None), "element [0] is inf, which is not a finite number"),
    (X, lambda x: x + 1e18, "outside the declared range"),
    (WIDE, lambda x: x + 1, "declare a narrower range=(low, high)"),
    (N, lambda x: (x * x * x * x * x) ** 2, "declare a narrower range=(low, high)"),
    (N, lambda x: (x * x * x * x * x) ** 2, "bound what grows on the way with np.clip(x, low, high)"),
    (N, lambda x: (x * 1000).astype(tacit.int8), "int8 holds -128 to 127"),
    (X, lambda x: tacit.reveal(x, to=[]), "names nobody"),
    (X, lambda x: tacit.reveal(x, to="alcie"), "is it 'alice'?"),
    (X, lambda x: tacit.reveal(x, to=["bob", "alic"]), "is it 'alice'?"),
    (X, lambda x: tacit.reveal(x, to="Alice"), "is it 'alice'?"),
    (X, lambda x: (tacit.reveal(x), None)[1], "reveals a value that it doesn't return"),
    (X, lambda _: None, "the program reveals and keeps nothing"),
    (X, lambda x: tacit.stack([x, x[:2]]), "don't go together"),
]


@pytest.mark.parametrize(("declared", "function", "says"), PROGRAMS)
def test_a_program_that_would_go_wrong(
    declared: tacit.Secret, function: Callable[[Any], Any], says: str
) -> None:
    with pytest.raises(ProgramError) as caught:
        tacit.function(function).trace(declared)
    assert says in str(caught.value)
    assert "test_errors.py:" in str(caught.value)


DECLARATIONS: list[tuple[Callable[[], Any], str]] = [
    (lambda: tacit.secret(""), "can't be an owner"),
    (lambda: tacit.secret("all"), "can't be an owner"),
    (lambda: tacit.secret("alice", name=""), "can't be the name of an input"),
    (lambda: tacit.secret("alice", dtype=float), "use tacit.fixed(16)"),  # type: ignore[arg-type]
    (lambda: tacit.secret("alice", range=(1, 0)), "holds no number"),
    (lambda: tacit.secret("alice", range=(0, float("inf"))), "holds no number"),
    (lambda: tacit.secret("alice", range=3), "use range=(low, high)"),  # type: ignore[arg-type]
    (lambda: tacit.secret("alice", range=(0, 1e15)), "fixed(16) holds"),
    (lambda: tacit.secret("alice", dtype=tacit.int8, range=(0, 128)), "int8 holds -128 to 127"),
    (lambda: tacit.secret("alice", dtype=tacit.int8, range=(0, 1.5)), "between integers"),
    (lambda: tacit.secret("alice", dtype=tacit.bool_, range=(0, 1)), "has no range"),
    (lambda: tacit.fixed(0), "from 1 to 32"),
    (lambda: tacit.ring(129), "from 1 to 128"),
    (lambda: tacit.modular(12), "2**1 to 2**128"),
    (lambda: tacit.reveal(1), "takes a secret, and this is an int"),
    (lambda: tacit.secret("alice", shape="3"), "is no shape"),  # type: ignore[arg-type]
    (lambda: tacit.secret("alice", shape=(3, -1)), "a length of 1 at least"),
    (lambda: tacit.secret("alice", shape=0), "a length of 1 at least"),
    (lambda: tacit.function(lambda x: x)(X), "called with a declaration"),
    (lambda: tacit.local("nonsense"), "no protocol is named"),
]


@pytest.mark.parametrize(("make", "says"), DECLARATIONS)
def test_a_declaration_that_is_none(make: Callable[[], Any], says: str) -> None:
    with pytest.raises((TacitError, ValueError)) as caught:
        make()
    assert says in str(caught.value)


def test_an_error_names_the_expression_with_file_and_line() -> None:
    def program(x: Any) -> Any:
        total = x.sum()
        return tacit.reveal(total * (x +
                                     x) @ [1, 2, 3])  # fmt: skip

    with pytest.raises(ProgramError) as caught:
        tacit.function(program).trace(X)
    first = program.__code__.co_firstlineno
    assert caught.value.line == first + 2
    assert caught.value.text == "total * (x + x) @ [1, 2, 3]"
    assert caught.value.file.endswith("test_errors.py")
    assert caught.value.message.startswith("`@`: shapes (4,) and (3,)")


def test_a_value_of_a_finished_program() -> None:
    kept: list[Any] = []

    def keeper(x: Any) -> Any:
        kept.append(x)
        return tacit.reveal(x)

    tacit.function(keeper).trace(X)
    with pytest.raises(PlanError, match="a program that is finished"):
        kept[0] + 1
    with pytest.raises(ProgramError, match="can't reveal more"):
        tacit.reveal(kept[0])
    with pytest.raises(PlanError, match="traced apart"):
        tacit.function(lambda x: x + kept[0]).trace(X)


@tacit.function
def mixed(x: Any, y: Any, b: Any, n: Any) -> Any:
    return tacit.reveal(((x > 0) & b).sum() + n.sum() + y.astype(tacit.int32))


PLAN = mixed.trace(X, tacit.secret("bob", range=(0, 10)), B, tacit.secret("carol", shape=4, dtype=tacit.int8))
GOOD = {"x": [0.5] * 4, "y": 3, "b": [True] * 4, "n": [1] * 4}

INPUTS: list[tuple[dict[str, Any], str]] = [
    ({"x": None}, "input x of alice: a NoneType is not a number"),
    ({"x": [1, 2]}, "input x of alice: the value has shape (2,), and (4,) is declared"),
    ({"x": [0.0, float("nan"), 0, 0]}, "element [1] is NaN, which is not a finite number"),
    ({"x": [0, 0, 0, 101]}, "element [3] is 101, outside the declared range -100 to 100"),
    ({"x": ["a"] * 4}, "dtype <U1 is not supported"),
    ({"n": [0.5] * 4}, "floating-point numbers where integers from -128 to 127 are declared"),
    ({"n": pd.Series([1, None, 3, 4])}, "element [1] is NaN, a missing value, and integers from -128 to 127"),
    ({"n": "n.npy"}, "an array is needed here, not a path: give np.load('n.npy')"),
    ({"n": Path("n.npy")}, "give np.load('n.npy')"),
    ({"n": [128] * 4}, "outside the declared range -128 to 127"),
    ({"b": [1] * 4}, "integers where bool_ is declared; convert them, for example with x != 0"),
    ({"b": np.ones(4, np.int32)}, "integers (int32) where bool_ is declared"),
    (
        {"n": pd.Series([1, None, 3, 4], name="age", dtype="Int64")},
        "'age' of pandas dtype Int64 has 1 missing",
    ),
    ({"n": [1, None, 3, 4]}, "element 1 is a missing value, in an array of dtype object"),
    ({"x": np.ones(4, complex)}, "dtype complex128 is not supported; convert it to real and imaginary"),
    ({"x": np.array(["2026-01-01"] * 4, "M8[D]")}, "convert it to days as integers"),
    ({"z": 1}, "no input and no owner called 'z'; its inputs are x of alice, y of bob"),
    ({"alice": [1]}, "alice gives 2 inputs (x, b), and the list has 1"),
    ({"alice": {"q": 1}}, "alice gives no 'q'"),
    ({"alice": 1}, "pass alice=[x, b]"),
    ({"bob": 3}, "input y of bob is given twice"),
    ({"x": X}, "a value is needed here"),
]


@pytest.mark.parametrize(("change", "says"), INPUTS)
def test_an_input_that_does_not_fit(change: dict[str, Any], says: str) -> None:
    with tacit.local() as run:
        assert run(PLAN, **GOOD) == 11
        with pytest.raises(InputError) as caught:
            run(PLAN, **{**GOOD, **change})
    assert says in str(caught.value)


def test_a_parameters_name_wins_over_an_owners() -> None:
    minus = tacit.function(lambda a, b: tacit.reveal(a - b))
    crossed = minus.trace(tacit.secret("b", range=(0, 9)), tacit.secret("a", range=(0, 9)))
    both = minus.trace(tacit.secret("a", shape=3), tacit.secret("a", shape=3))
    alone = tacit.function(lambda a: tacit.reveal(a)).trace(tacit.secret("a", shape=3))
    with tacit.local(debug=True) as run:
        assert run(crossed, a=1, b=2) == -1
        assert run(crossed, a={"b": 2}, b={"a": 1}) == -1
        with pytest.raises(InputError, match="input a of b: the value has shape"):
            run(crossed, a=[2], b=1)
        for value in ([1, 2, 3], np.arange(1, 4), [[1, 2, 3]], {"a": [1, 2, 3]}):
            assert run(alone, a=value).tolist() == [1, 2, 3]
        assert run(both, a=[[1, 2, 3], [1, 1, 1]]).tolist() == [0, 1, 2]
        assert run(both, a=[1, 2, 3], b=[1, 1, 1]).tolist() == [0, 1, 2]


def test_what_is_no_plan() -> None:
    with tacit.local() as run:
        with pytest.raises(InputError, match="trace it first"):
            run(mixed, **GOOD)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="a plan is needed here, not 3"):
            run(3)  # type: ignore[arg-type]


def test_a_missing_input() -> None:
    with tacit.local() as run, pytest.raises(InputError, match="no value is given for y of bob"):
        run(PLAN, **{name: value for name, value in GOOD.items() if name != "y"})


def test_two_inputs_of_one_name() -> None:
    both = tacit.function(lambda a, b: tacit.reveal(a + b)).trace(
        tacit.secret("alice", range=(0, 1), name="x"), tacit.secret("bob", range=(0, 1), name="x")
    )
    with tacit.local() as run:
        with pytest.raises(InputError, match="alice and bob each give an input called 'x'"):
            run(both, x=1)
        assert run(both, alice=1, bob=0.5) == 1.5
    with pytest.raises(ProgramError, match="give each input of an owner a name of its own"):
        tacit.function(lambda a, b: tacit.reveal(a + b)).trace(
            tacit.secret("alice", name="x"), tacit.secret("alice", name="x")
        )


def test_nullable_columns_of_pandas_are_given_where_nothing_is_missing() -> None:
    with tacit.local() as run:
        columns = {"n": pd.Series([1] * 4, dtype="Int64"), "b": pd.Series([True] * 4, dtype="boolean")}
        assert run(PLAN, **{**GOOD, **columns}) == 11


def test_a_function_that_is_given_too_little_says_so() -> None:
    with pytest.raises(ProgramTypeError, match="missing a required argument: 'b'") as caught:
        tacit.function(lambda a, b: tacit.reveal(a + b)).trace(X)
    assert "test_errors.py" in str(caught.value)


def test_names_of_numpys_types_are_told_in_ours() -> None:
    for given, meant in [(np.int32, "int32"), (bool, "bool_"), (pd.Int64Dtype(), "int64")]:
        with pytest.raises(ProgramTypeError, match=f"use tacit.{meant}"):
            tacit.secret("alice", dtype=given)


@pytest.mark.parametrize(
    ("dtype", "last", "beyond"),
    [
        (tacit.fixed(16), [-(2.0**31), 2.0**31 - 2.0**-16], [2.0**31, -(2.0**31) - 2.0**-16, 1e30]),
        (tacit.fixed(8), [-(2.0**39), 2.0**39 - 2.0**-8], [2.0**39, -(2.0**39) - 2.0**-8]),
        (tacit.int64, [-(2**47), 2**47 - 1], [2**47, -(2**47) - 1, 2**63 - 1]),
    ],
)
def test_a_value_beyond_the_default_range_is_refused(
    dtype: tacit.DType, last: list[float], beyond: list[float]
) -> None:
    plan = tacit.function(lambda x: tacit.reveal(x)).trace(tacit.secret("alice", dtype=dtype))
    with tacit.local() as run:
        for value in last:
            assert run(plan, x=value) == value
        for value in beyond:
            with pytest.raises(InputError, match="outside the declared range"):
                run(plan, x=value)
