"""Programs under `replicated-malicious`: same results, declared cost, errors that say what to do."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tacit
from tacit.demo.models import MODELS
from tacit.demo.training import train
from tests.support import F16, revealed, rounded, same
from tests.test_deployment import free_ports

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "replicated-malicious"
PARAMETERS = ["", "soundness=100", "challenges=fiat-shamir"]
PAGE = Path(__file__).parents[2] / "docs" / "protocols" / f"{NAME}.md"


@pytest.fixture(params=PARAMETERS)
def protocol(request: pytest.FixtureRequest) -> str:
    return f"{NAME} {request.param}".strip()


def ran(protocol: str, function: Callable[..., Any], *arrays: Any, dtype: tacit.DType, **options: Any) -> Any:
    """What a function computes on arrays, each of which has an owner of its own; the cost is as declared."""
    owners = ["P0", "alice", "bob"][: len(arrays)]
    secrets = [
        tacit.secret(owner, shape=np.shape(array), dtype=dtype, **options)
        for owner, array in zip(owners, arrays, strict=True)
    ]
    plan = tacit.function(revealed(function)).trace(*secrets)
    with tacit.local(protocol=protocol) as run:
        result = run(plan, **{owner: [array] for owner, array in zip(owners, arrays, strict=True)})
    assert run.report is not None
    assert run.report.bytes == plan.cost(protocol=protocol).bytes
    return result


def test_bools(protocol: str) -> None:
    x, y = np.random.default_rng(1).integers(0, 2, (2, 65)).astype(bool)
    got = ran(protocol, lambda x, y: [x & y, x | ~y, x ^ y, (x & y).any(), x.sum()], x, y, dtype=tacit.bool_)
    for one, expected in zip(got, [x & y, x | ~y, x ^ y, (x & y).any(), x.sum()], strict=True):
        same(one, expected)


def test_integers(protocol: str) -> None:
    x, y = np.random.default_rng(2).integers(-1000, 1000, (2, 4, 5))
    got = ran(
        protocol,
        lambda x, y: [x + y, x * y, x > y, tacit.where(x == y, x, -y), x @ y.T, (x * y).max(), abs(x).sum()],
        x,
        y,
        dtype=tacit.int32,
        range=(-1000, 1000),
    )
    expected = [x + y, x * y, x > y, np.where(x == y, x, -y), x @ y.T, (x * y).max(), abs(x).sum()]
    for one, other in zip(got, expected, strict=True):
        same(one, other)


def test_fixed_point(protocol: str) -> None:
    x, y = rounded(np.random.default_rng(3).uniform(-50, 50, (2, 33)))
    got = ran(
        protocol,
        lambda x, y: [x - y, x * y, tacit.maximum(x, y), x < 0.5],
        x,
        y,
        dtype=F16,
        range=(-50, 50),
    )
    for one, other in zip(got, [x - y, rounded(x * y), np.maximum(x, y), x < 0.5], strict=True):
        same(one, other)


def test_integers_that_wrap(protocol: str) -> None:
    x, y = np.random.default_rng(4).integers(0, 2**64, (2, 3), dtype=np.uint64)
    for one, other in zip(
        ran(protocol, lambda x, y: [x + y, x * y], x, y, dtype=tacit.ring(64)), [x + y, x * y], strict=True
    ):
        same(one, other)


def test_ciphers_hashes_and_circuits(protocol: str) -> None:
    key, blocks = tacit.bits(bytes(range(16))), tacit.bits(np.arange(48, dtype=np.uint8).reshape(3, 16))
    encrypted = ran(protocol, tacit.crypto.aes128, key, blocks, dtype=tacit.bool_)
    same(encrypted, tacit.crypto.aes128(key, blocks))
    digest = ran(protocol, tacit.crypto.sha256, tacit.bits(b"abc"), dtype=tacit.bool_)
    assert tacit.bytes_of(digest).tobytes() == hashlib.sha256(b"abc").digest()
    adder = tacit.circuit("adder64")
    x, y = (np.random.default_rng(5).integers(0, 2, (2, 7, 64))).astype(bool)
    same(ran(protocol, adder, x, y, dtype=tacit.bool_), adder(x, y))


@pytest.mark.parametrize("name", ["linear-regression", "logistic-regression", "linear-svm", "ten-digits"])
def test_models_of_scikit_learn_predict_as_under_the_other_protocol(name: str) -> None:
    model = replace(MODELS[name], rows=3)
    trained = train(MODELS[name])
    found = []
    for protocol in ("replicated", NAME):
        with tacit.local(protocol=protocol) as run:
            queries = model.predictor.queries(trained.queries[:3])
            found.append(run(model.plan, queries=queries, **trained.model.parameters()))
    same(found[1], found[0])
    if model.task != "regression":
        same(found[1].astype(int), trained.clear[:3])


def test_a_debug_run_compares_every_operation() -> None:
    plan = tacit.function(lambda x: tacit.reveal((x * x).sum())).trace(
        tacit.secret("alice", shape=(9,), range=(-9, 9))
    )
    with tacit.local(protocol=NAME, debug=True) as run:
        assert run(plan, x=np.arange(9)) == 204


def numbers(row: str) -> list[int]:
    return [int(cell.replace(",", "")) for cell in row.strip("| ").split("|")]


ROWS = [numbers(row) for row in re.findall(r"^\|(?: [\d,]+ \|){7}$", PAGE.read_text(), re.MULTILINE)]


def test_the_page_has_the_table_of_proofs() -> None:
    assert [row[0] for row in ROWS] == [1, 4096, 4097, 1 << 16, 1 << 20, 1 << 22, 10 << 22]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[0]))
def test_proofs_cost_what_the_page_says(row: list[int]) -> None:
    ands, *expected = row
    bits = [tacit.secret(owner, shape=(ands,), dtype=tacit.bool_) for owner in ("P0", "P1")]
    plan = tacit.function(lambda x, y: tacit.reveal(x & y, to="P2")).trace(*bits)
    found: list[int] = []
    for parameters in PARAMETERS:
        name = f"{NAME} {parameters}".strip()
        rounds, sent = plan.cost(protocol=name).protocols[name].phases["verify"]
        assert len(set(sent.values())) == 1
        found += [sent["P0"], rounds]
    assert found == expected


def test_cost_compares_protocols_and_says_who_can_not() -> None:
    x = tacit.secret("alice", shape=(100,), dtype=tacit.int64, range=(-(2**31), 2**31 - 1))
    y = tacit.secret("bob", shape=(100,), dtype=tacit.int64, range=(-(2**31), 2**31 - 1))
    plan = tacit.function(lambda x, y: tacit.reveal(x * y)).trace(x, y)
    cost = plan.cost()
    # A product of 64 bits is one element in a ring, and thousands of ANDs of bits.
    for name in ("replicated", NAME):
        assert cost.protocols[name].phases["online"][1]["P0"] == 100 * 8
    hashed = f"{NAME} challenges=fiat-shamir"
    bits = plan.cost(protocol=hashed).protocols[hashed].phases["online"]
    assert bits[1]["P0"] > 100 * 1000 / 8
    assert f"{NAME}, by line" in str(cost)
    assert set(cost.refused) == {"astra-fair"}
    assert "outputs to parties alone" in cost.refused["astra-fair"]
    assert "keys, checks and what they take" in str(cost)
    z = tacit.secret("alice", shape=(2,), dtype=tacit.modular(2**61 - 1))
    prime = tacit.function(lambda z: tacit.reveal(z * z)).trace(z)
    cost = prime.cost()
    assert "replicated" in cost.protocols
    assert NAME not in cost.protocols
    assert "arithmetic modulo 2^61-1" in cost.refused[NAME]
    assert f"{NAME} can't run it" in str(cost)
    assert json.loads(cost.to_json())["refused"] == cost.refused
    for wrong in (
        lambda: prime.cost(protocol=NAME),
        lambda: tacit.local(protocol=NAME)(prime, z=[1, 2]),
    ):
        with pytest.raises(tacit.ProgramError, match=r"arithmetic modulo 2\^61-1") as found:
            wrong()
        assert Path(found.value.file).name == "test_malicious.py"


KNOWN = "it has soundness=50 or 100, challenges=interactive or fiat-shamir"
WRONG = [
    ("malicious", "there are: replicated, replicated-malicious"),
    (f"{NAME},soundness=100", "parameters stand behind the name"),
    ("astra-malicous", 'did you mean "astra-malicious"?'),
    (f"{NAME} soundness=80", "soundness is 50 or 100, not"),
    (f"{NAME} sondness=100", 'did you mean "soundness"?'),
    (f"{NAME} zero-sharing=computational", KNOWN),
    (f"{NAME} soundness=100 challenges=fiat-shamir", "challenges=fiat-shamir doesn't go with soundness=100"),
]


@pytest.mark.parametrize(("name", "says"), WRONG)
def test_wrong_names_say_what_there_is(name: str, says: str) -> None:
    with pytest.raises(tacit.InputError, match=re.escape(says)):
        tacit.local(protocol=name)


def test_it_is_for_three_parties() -> None:
    plan = tacit.function(lambda x: tacit.reveal(x)).trace(tacit.secret("alice"))
    with pytest.raises(tacit.InputError, match="is for 3 parties, not for 2"):
        plan.cost(protocol=NAME, parties=["P0", "P1"])


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "tacit", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=300)


OPTIONS = [
    ([], "", 9),
    (["--soundness", "100"], " soundness=100", 9),
    (["--challenges", "fiat-shamir"], " challenges=fiat-shamir", 3),
]


@pytest.mark.parametrize(("options", "parameters", "rounds"), OPTIONS, ids=["usual", "soundness", "hashed"])
def test_the_command_runs_it(options: list[str], parameters: str, rounds: int) -> None:
    chosen = ["--protocol", NAME, *options]
    added = command("circuit", "adder64", "--simulate", "--input", "0=1", "--input", "1=2", *chosen)
    assert (added.returncode, added.stdout) == (0, "output 0=0000000000000003\n")
    bill = json.loads(command("circuit", "aes128", "--cost", "--json", *chosen).stdout)["protocols"]
    # Not priced as if there were no parameters.
    (name,) = bill
    assert name == NAME + parameters
    assert bill[name]["phases"]["verify"]["rounds"] == rounds


def test_the_command_runs_and_prices_programs(tmp_path: Path) -> None:
    program = tmp_path / "dot.py"
    program.write_text(
        "import tacit\n"
        "x = tacit.secret('alice', shape=(3,), dtype=tacit.int32, range=(-9, 9))\n"
        "y = tacit.secret('bob', shape=(3,), dtype=tacit.int32, range=(-9, 9))\n"
        "plan = tacit.function(lambda x, y: tacit.reveal((x * y).sum())).trace(x, y)\n"
    )
    inputs = []
    for name, values in [("x", [1, -2, 3]), ("y", [4, 5, -6])]:
        np.save(tmp_path / f"{name}.npy", np.array(values))
        inputs += ["--input", f"{name}={tmp_path / name}.npy"]
    done = command("run", program, "--simulate", "--protocol", NAME, "--soundness", "100", *inputs)
    assert (done.returncode, done.stdout) == (0, "output 0, to all:\n-24\n")
    priced = command("cost", program)
    assert priced.returncode == 0
    assert [line for line in priced.stdout.splitlines() if line.startswith("replicated")] == [
        "replicated",
        NAME,
    ]
    asked = command("cost", program, "--soundness", "100")
    assert asked.returncode == 2
    assert "Give --protocol" in asked.stderr


def test_a_deployment_runs_it_and_notices_another_protocol(tmp_path: Path) -> None:
    net = tmp_path / "net"
    tacit.init(net, clients=["alice"], port=free_ports(3))
    program = tmp_path / "twice.py"
    program.write_text(
        "import tacit\n"
        "x = tacit.secret('alice', shape=(2,), range=(0, 9))\n"
        "plan = tacit.function(lambda x: tacit.reveal(x * x, to='alice')).trace(x)\n"
    )
    np.save(tmp_path / "x.npy", np.array([3, 4]))

    def start(name: str, *options: str) -> subprocess.Popen[str]:
        line = [
            sys.executable,
            "-m",
            "tacit",
            "run",
            str(program),
            "--config",
            str(net / name / "parties.toml"),
        ]
        return subprocess.Popen([*line, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    for chosen, code in [(f"{NAME}", 0), ("replicated", 1)]:
        servers = [start(name, "--protocol", NAME) for name in ("P0", "P1", "P2")]
        client = start("alice", "--protocol", chosen, "--input", f"x={tmp_path / 'x.npy'}")
        printed, error = client.communicate(timeout=120)
        assert client.returncode == code, error
        if code == 0:
            assert "9" in printed
            assert "16" in printed
        else:
            assert "disagrees on the protocol" in error
        for server in servers:
            server.communicate(timeout=120)
            assert server.returncode == code
