"""Circuits from names, files and builders, on secret and on public bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tests.support import computed, same

INSTANCES = [1, 63, 64, 65]


def random_bits(*shape: int, seed: int = 7) -> Any:
    return np.random.default_rng(seed).integers(0, 2, shape).astype(bool)


def numbers(bits: Any) -> Any:
    """What vectors of at most 64 bits are as numbers."""
    return (bits.astype(np.uint64) << np.arange(bits.shape[-1], dtype=np.uint64)).sum(-1, dtype=np.uint64)


def of(*values: int, bits: int = 64) -> Any:
    return tacit.bits(np.array(values, "<u8").view(np.uint8).reshape(len(values), 8))[:, :bits]


def traced(circuit: Any, *arrays: Any) -> Any:
    """What a circuit of one output computes on shares."""
    return computed(circuit, *arrays, dtype=tacit.bool_)


@pytest.mark.parametrize("instances", INSTANCES)
def test_many_instances_on_shares_and_in_the_clear(instances: int) -> None:
    adder = tacit.circuit("adder64")
    a, b = random_bits(instances, 64), random_bits(instances, 64, seed=8)
    clear = adder(a, b)
    same(numbers(clear), numbers(a) + numbers(b))
    same(traced(adder, a, b), clear)


def test_axes_broadcast() -> None:
    less = tacit.circuit("less32")
    a, b = of(3, 5, bits=32).reshape(2, 1, 32), of(4, 5, 6, bits=32)
    expected = np.array([[True, True, True], [False, False, True]])[..., None]
    same(less(a, b), expected)
    same(traced(less, a, b), expected)
    same(traced(less, a[0, 0], b), expected[0])
    same(less(a[0, 0], b[1]), expected[0, 1])
    same(traced(less, a[0, 0], b[1]), expected[0, 1])
    # Public bits beside secret ones.
    same(computed(lambda secret: less(secret, b), a, dtype=tacit.bool_), expected)


def test_what_a_circuit_says_of_itself() -> None:
    adder = tacit.circuit("adder64")
    assert (adder.inputs, adder.outputs, adder.ands, adder.depth) == ((64, 64), (64,), 63, 63)
    assert repr(adder) == "<circuit (64, 64) -> (64), 63 ANDs, depth 63>"
    assert tacit.circuit(adder) is adder
    assert "adder64" in tacit.circuits.names()


def test_several_outputs_are_a_tuple() -> None:
    halves = tacit.circuit(b"2 4\n2 1 1\n2 1 1\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n")
    a, b = np.array([[False], [True], [True]]), np.array([[True], [True], [False]])
    total, carry = halves(a, b)
    same(total, a ^ b)
    same(carry, a & b)

    @tacit.function
    def both(a: Any, b: Any) -> Any:
        total, carry = halves(a, b)
        return tacit.reveal(total), tacit.reveal(carry)

    bits = tacit.bool_
    plan = both.trace(
        tacit.secret("x", shape=(3, 1), dtype=bits), tacit.secret("y", shape=(3, 1), dtype=bits)
    )
    with tacit.local() as run:
        for got, expected in zip(run(plan, x=a, y=b), (total, carry), strict=True):
            same(got, expected)


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    less = tacit.circuit("less32")
    less.save(tmp_path / "less.txt")
    for source in (tmp_path / "less.txt", str(tmp_path / "less.txt"), (tmp_path / "less.txt").read_bytes()):
        again = tacit.circuit(source)
        assert (again.inputs, again.outputs, again.ands) == (less.inputs, less.outputs, less.ands)
        same(again(of(6, 7, bits=32), of(7, 7, bits=32)), [[True], [False]])


def test_a_circuit_made_gate_by_gate() -> None:
    build = tacit.circuits.Builder()
    a, b = build.input(3), build.input(3)
    one = build.constant(True)
    equal = one
    for left, right in zip(a, b, strict=True):
        equal = build.and_(equal, build.not_(build.xor(left, right)))
    build.output([equal])
    build.output([build.not_(equal), one])
    circuit = tacit.circuit(build)
    # The constant is folded: one AND less than there are bits.
    assert (circuit.inputs, circuit.outputs, circuit.ands) == ((3, 3), (1, 2), 2)
    same_bits, rest = circuit(of(5, 6, bits=3), of(5, 5, bits=3))
    same(same_bits, [[True], [False]])
    same(rest, [[False, True], [True, True]])


def test_gates_that_do_not_go_together() -> None:
    build = tacit.circuits.Builder()
    with pytest.raises(tacit.CircuitError, match="wire 0 is none"):
        build.xor(0, 2)
    a, b = build.input(2)
    for wrong in (lambda: build.and_(a, 2), lambda: build.not_(2), lambda: build.output([a, 2])):
        with pytest.raises(tacit.CircuitError, match="wire 2 is none"):
            wrong()
    for far in (-1, 1 << 32, 1 << 100):
        for wrong in (
            lambda far=far: build.xor(a, far),
            lambda far=far: build.and_(far, b),
            lambda far=far: build.not_(far),
            lambda far=far: build.output([a, far]),
        ):
            with pytest.raises(tacit.CircuitError, match=f"wire {far} is none of this circuit's"):
                wrong()
    build.and_(a, b)
    with pytest.raises(tacit.CircuitError, match="before the first gate"):
        build.input(1)


def test_inputs_have_as_many_bits_as_a_circuit_may_have() -> None:
    build = tacit.circuits.Builder()
    for far in (-1, 1 << 32, 1 << 100):
        with pytest.raises(ValueError, match=rf"an input has 0 to 2\^24 bits, not {far}"):
            build.input(far)
    with pytest.raises(ValueError, match=r"at most 2\^24 bits of inputs"):
        build.input((1 << 24) + 1)
    assert build.input(0) == []
    assert build.input(2) == [0, 1]


def test_what_is_no_circuit(tmp_path: Path) -> None:
    with pytest.raises(tacit.CircuitError, match="adder63 is no circuit's name and can't be read"):
        tacit.circuit("adder63")
    bad = tmp_path / "bad.txt"
    bad.write_text("1 3\n2 1 1\n1 1\n2 1 0 9 2 AND\n")
    with pytest.raises(tacit.CircuitError, match=r"bad\.txt, line 4: .*wire 9"):
        tacit.circuit(bad)
    with pytest.raises(tacit.CircuitError, match="line 1: "):
        tacit.circuit(b"")


WRONG: list[tuple[tuple[Any, ...], type[tacit.ProgramError], str]] = [
    ((np.zeros(64, bool),), tacit.ProgramError, "the circuit has 2 inputs; 1 were given"),
    ((np.zeros(64, bool), np.zeros(63, bool)), tacit.ProgramError, "input 1 of the circuit takes 64 bits"),
    ((np.zeros(64, bool), np.zeros(64, int)), tacit.ProgramTypeError, "int"),
    ((np.zeros((2, 64), bool), np.zeros((3, 64), bool)), tacit.ProgramError, "shapes"),
]


@pytest.mark.parametrize(("operands", "error", "says"), WRONG)
def test_errors_name_the_user_s_line(
    operands: tuple[Any, ...], error: type[tacit.ProgramError], says: str
) -> None:
    adder = tacit.circuit("adder64")
    with pytest.raises(error, match=says) as clear:
        adder(*operands)
    assert (Path(clear.value.file).name, clear.value.text) == ("test_circuits.py", "adder(*operands)")

    @tacit.function
    def wrong(*secrets: Any) -> Any:
        return tacit.reveal(adder(*secrets))

    dtypes = [tacit.bool_ if operand.dtype == bool else tacit.int8 for operand in operands]
    secrets = [
        tacit.secret("alice", shape=operand.shape, dtype=dtype, name=str(place))
        for place, (operand, dtype) in enumerate(zip(operands, dtypes, strict=True))
    ]
    with pytest.raises(error, match=says) as found:
        wrong.trace(*secrets)
    assert (Path(found.value.file).name, found.value.text) == ("test_circuits.py", "adder(*secrets)")


def test_what_is_no_value_yet_is_refused() -> None:
    adder = tacit.circuit("adder64")
    with pytest.raises(tacit.ProgramTypeError):
        adder(tacit.secret("alice", shape=(64,), dtype=tacit.bool_), np.zeros(64, bool))


def test_bits_are_the_bytes_from_the_least_on() -> None:
    same(tacit.bits(b"\x01\x80"), np.eye(16, dtype=bool)[0] | np.eye(16, dtype=bool)[15])
    data = np.random.default_rng(5).integers(0, 256, (3, 5), dtype=np.uint8)
    bits = tacit.bits(data)
    assert bits.shape == (3, 40)
    same(numbers(bits[:, 8:16]), data[:, 1].astype(np.uint64))
    same(tacit.bytes_of(bits), data)
    assert tacit.bytes_of(tacit.bits(bytearray(b"tacit"))).tobytes() == b"tacit"
    assert tacit.bits(b"").shape == (0,)


def test_what_is_no_bits_or_bytes() -> None:
    no_bytes: list[Any] = ["text", [1, 2], np.zeros(3), np.uint8(3)]
    no_bits: list[Any] = [b"bytes", [1, 0], np.zeros(8, np.uint8)]
    for wrong in no_bytes:
        with pytest.raises(TypeError, match=r"tacit\.bits takes bytes or an array of uint8"):
            tacit.bits(wrong)
    for wrong in no_bits:
        with pytest.raises(TypeError, match=r"tacit\.bytes_of takes an array of bools"):
            tacit.bytes_of(wrong)
    with pytest.raises(ValueError, match="9 bits along the last axis"):
        tacit.bytes_of(np.zeros(9, bool))
