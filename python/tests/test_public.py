"""Values that all parties hold and each run says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tacit
from tacit.errors import InputError, ProgramError, SecretError

if TYPE_CHECKING:
    from pathlib import Path


@tacit.function
def scored(x: Any, weights: Any, least: Any) -> Any:
    score = (x * weights).sum(axis=1)
    return {
        "score": tacit.reveal(score, to="alice"),
        "many": tacit.reveal((score > least).sum()),
        "same": tacit.reveal(x @ weights),
    }


DECLARED = {
    "x": tacit.secret("alice", shape=(4, 3), range=(-9, 9)),
    "weights": tacit.public(shape=(3,), range=(-4, 4)),
    "least": tacit.public(dtype=tacit.int32, range=(0, 50)),
}
X = np.array([[1, 2, 3], [-1, 0.5, 8], [9, 9, 9], [0, 0, 0]])


@pytest.mark.parametrize("protocol", ["replicated", "replicated-malicious", "mascot", "gmw"])
def test_one_plan_serves_all_values(protocol: str) -> None:
    plan = scored.trace(**DECLARED)
    assert [(one.owner, one.name, one.shape) for one in plan.inputs] == [("alice", "x", (4, 3))]
    public = [(one.owner, one.name, one.shape, one.range) for one in plan.public_inputs]
    assert public == [("all", "weights", (3,), (-4.0, 4.0)), ("all", "least", (), (0, 50))]
    with tacit.local(protocol) as run:
        for weights, least in ([[1, -1.5, 2], 5], [[0, 4, -4], 50], [[1, 1, 1], 0]):
            got = run(plan, alice=X, weights=weights, least=least)
            np.testing.assert_allclose(got["score"], X @ weights, atol=1e-4)
            np.testing.assert_allclose(got["same"], X @ weights, atol=1e-4)
            assert got["many"] == (X @ weights > least).sum()


def test_a_debug_run_compares_operations_on_them() -> None:
    with tacit.local(debug=True) as run:
        assert run(scored.trace(**DECLARED), x=X, weights=[1, -1.5, 2], least=5)["many"] == 2


def test_bits_are_operands_of_circuits_and_of_choices() -> None:
    def enciphered(key: Any, block: Any, chosen: Any) -> Any:
        cipher = tacit.crypto.aes128(key, block)
        return tacit.reveal(cipher), tacit.reveal(np.where(chosen, key[0], key[1]))

    bits: dict[str, Any] = {"shape": (128,), "dtype": tacit.bool_}
    plan = tacit.function(enciphered).trace(
        tacit.secret("alice", **bits), tacit.public(**bits), tacit.public(dtype=tacit.bool_)
    )
    key, block = tacit.bits(bytes(range(16))), tacit.bits(bytes.fromhex("00112233445566778899aabbccddeeff"))
    with tacit.local() as run:
        cipher, first = run(plan, key=key, block=block, chosen=True)
    assert bytes(tacit.bytes_of(cipher)).hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"
    assert first == key[0]


def test_products_with_them_take_no_message() -> None:
    x = tacit.secret("alice", shape=(1000,), dtype=tacit.int32, range=(0, 9))
    local = tacit.function(lambda x, w: tacit.reveal((x * w).sum())).trace
    known = local(x, tacit.public(shape=(1000,), dtype=tacit.int32, range=(0, 9)))
    secret = local(x, tacit.secret("P0", shape=(1000,), dtype=tacit.int32, range=(0, 9)))
    assert sum(known.cost(protocol="replicated").bytes.values()) < sum(
        secret.cost(protocol="replicated").bytes.values()
    )


def test_a_plan_shows_them_and_is_saved_with_them(tmp_path: Path) -> None:
    plan = scored.trace(**DECLARED)
    told = str(plan)
    assert "alice gives x: fixed(16) (4, 3), -9 to 9" in told
    assert "all parties give weights: fixed(16) (3,), -4 to 4" in told
    assert "all parties give least: int8 (), 0 to 50" in told
    plan.save(tmp_path / "scored.plan")
    read = tacit.Plan.load(tmp_path / "scored.plan")
    assert (read, read.public_inputs) == (plan, plan.public_inputs)
    with tacit.local() as run:
        assert run(read, x=X, weights=[1, 1, 1], least=26)["many"] == 1


def test_what_does_not_fit_is_refused_by_name() -> None:
    plan = scored.trace(**DECLARED)
    with tacit.local() as run:
        with pytest.raises(InputError, match="no value is given for least of all parties"):
            run(plan, x=X, weights=[1, 1, 1])
        with pytest.raises(InputError, match=r"public input weights: the value has shape \(2,\)"):
            run(plan, x=X, weights=[1, 1], least=1)
        with pytest.raises(InputError, match=r'public input "least".*51'):
            run(plan, x=X, weights=[1, 1, 1], least=51)
        with pytest.raises(InputError, match="x of alice, weights of all parties"):
            run(plan, weight=[1, 1, 1])
    with tacit.local("astra") as run, pytest.raises(ProgramError, match="public inputs"):
        run(plan, x=X, weights=[1, 1, 1], least=1)


def test_a_declaration_is_no_value() -> None:
    declared = tacit.public(shape=2, name="w", dtype=tacit.int8)
    assert repr(declared) == "tacit.public(shape=(2,), dtype=int8, name='w')"
    with pytest.raises(SecretError, match=r"tacit\.public only declares"):
        declared + 1
    with pytest.raises(ProgramError, match="can't be the name"):
        tacit.public(name="")
    with pytest.raises(ProgramError, match="already knows"):
        tacit.function(lambda a, b: tacit.reveal(a + b)).trace(declared, tacit.public(name="w"))
