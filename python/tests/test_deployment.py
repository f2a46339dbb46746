"""Parties and clients that find one another over TLS."""

from __future__ import annotations

import itertools
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import tacit
from tacit import tables
from tacit.errors import ConnectError, InputError, RunError

if TYPE_CHECKING:
    from pathlib import Path

_tries = itertools.count()


def free_ports(count: int) -> int:
    """The first of some ports in a row on which nobody listens; other ones at every call."""
    while True:
        first = 14_000 + (os.getpid() + 37 * next(_tries)) % 1_000 * 16
        try:
            for port in range(first, first + count):
                socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return first


@pytest.fixture
def seats(tmp_path: Path) -> dict[str, Path]:
    """The configurations of three parties and two clients."""
    paths = tacit.init(tmp_path / "net", parties=3, clients=["alice", "bob"], port=free_ports(3))
    return {path.parent.name: path for path in paths}


@tacit.function
def difference(a: Any, b: Any) -> Any:
    return {
        "larger": tacit.reveal(a > b),
        "by": tacit.reveal(a - b, to="alice"),
        "sum": tacit.reveal(a + b, to="P1"),
    }


SECRETS = [tacit.secret(owner, dtype=tacit.int32, range=(-1000, 1000)) for owner in ("alice", "bob")]


def everybody(seats: dict[str, Path], play: Any) -> dict[str, Any]:
    """What all get who play at once."""
    with ThreadPoolExecutor(len(seats)) as pool:
        parts = {name: pool.submit(play, name, path) for name, path in seats.items()}
        return {name: part.result() for name, part in parts.items()}


@tacit.function
def above(x: Any, threshold: Any, weights: Any) -> Any:
    return tacit.reveal(((x * weights).sum() > threshold), to="alice")


def test_all_parties_give_public_inputs_alike_and_clients_none(seats: dict[str, Path]) -> None:
    threshold = tacit.public(range=(0, 100))
    x = tacit.secret("alice", shape=(2,), range=(0, 9))
    plan = above.trace(x, threshold, tacit.public(shape=(2,), range=(0, 9)))
    public = {"threshold": 13.5, "weights": [1, 2.5]}
    seats = {name: path for name, path in seats.items() if name != "bob"}

    def everybody_gives(given: dict[str, dict[str, Any]]) -> Any:
        def play(name: str, path: Path) -> Any:
            with tacit.connect(path, wait=30) as run:
                try:
                    return run(plan, **given[name])
                except (InputError, RunError) as error:
                    return f"{type(error).__name__}: {error}"

        return everybody(seats, play)

    own = dict.fromkeys(["P0", "P1", "P2"], public) | {"alice": {"x": [4, 4]}}
    assert everybody_gives(own) == {"P0": None, "P1": None, "P2": None, "alice": True}
    other = everybody_gives(own | {"P1": public | {"threshold": 14.5}})
    for party in ("P0", "P1", "P2"):
        assert "RunError" in other[party], other
        assert "public inputs (threshold, weights)" in other[party], other
    assert other["alice"] is not True
    with tacit.connect(seats["P0"]) as run, pytest.raises(InputError, match='"weights", which all parties'):
        run(plan, threshold=13.5)
    with tacit.connect(seats["alice"]) as run, pytest.raises(InputError, match="this is alice, a client"):
        run(plan, x=[4, 4], threshold=13.5)


def test_everybody_learns_what_is_revealed_to_them_and_no_more(seats: dict[str, Path]) -> None:
    plan = difference.trace(*SECRETS)
    given: dict[str, dict[str, Any]] = {"alice": {"a": 7}, "bob": {"bob": [-5]}}
    cost = plan.cost()

    def play(name: str, path: Path) -> Any:
        with tacit.connect(path) as run:
            results = [run(plan, **given.get(name, {})) for _ in range(2)]
            assert run.report is not None
            assert run.report.bytes == {name: cost.bytes[name]}
            return results

    nothing = {"larger": True, "by": None, "sum": None}
    got = everybody(seats, play)
    assert got == {
        "P0": [nothing] * 2,
        "P1": [nothing | {"sum": 2}] * 2,
        "P2": [nothing] * 2,
        "alice": [nothing | {"by": 12}] * 2,
        "bob": [nothing] * 2,
    }


def test_tables_are_joined_in_a_deployment(seats: dict[str, Path]) -> None:
    patient = tables.integer(0, 99)
    people = tacit.table("alice", {"patient": patient, "old": tables.boolean()}, rows=4, unique="patient")
    stays = tacit.table("bob", {"patient": patient, "ward": tables.category(["east", "west"])}, rows=5)
    text = (
        "select ward, count(*) as n from bob b join alice a on a.patient = b.patient where old group by ward"
    )
    plan = tacit.sql(text, to="alice", alice=people, bob=stays)
    given = {
        "alice": {"patient": [7, 3, 50], "old": [True, False, True]},
        "bob": {"patient": [7, 50, 7, 3], "ward": ["west", "east", "west", "east"]},
    }

    def play(name: str, path: Path) -> Any:
        with tacit.connect(path) as run:
            return run(plan, **{owner: table for owner, table in given.items() if owner == name})

    got = everybody(seats, play)
    assert got.pop("alice").to_dict("list") == {"ward": ["east", "west"], "n": [1, 2]}
    assert set(got.values()) == {None}


def test_a_plan_is_priced_with_the_parties_and_the_window_of_a_deployment(seats: dict[str, Path]) -> None:
    @tacit.function
    def compare(a: Any, b: Any) -> Any:
        return tacit.reveal((a < b).sum())

    secrets = [tacit.secret(owner, shape=(40_000,)) for owner in ("alice", "bob")]
    plan = compare.trace(*secrets)
    path = seats["alice"]
    usual = plan.cost(protocol="replicated", config=path)
    assert str(usual) == str(plan.cost(protocol="replicated"))
    text = path.read_text()
    path.write_text(text.replace("[[party]]", "window_bytes = 1\n\n[[party]]", 1).replace('"P1"', '"one"'))
    narrow = plan.cost(protocol="replicated", config=path)
    assert narrow.rounds > usual.rounds
    assert list(narrow.bytes) == ["P0", "one", "P2", "alice", "bob"]
    with pytest.raises(tacit.InputError, match="leave out parties="):
        plan.cost(config=path, parties=["P0", "P1", "P2"])
    path.write_text(text.replace("[[party]]", "window_bytes = 0\n\n[[party]]", 1))
    with pytest.raises(tacit.ConnectError, match="window_bytes is from 1"):
        plan.cost(config=path)


def test_parties_with_other_plans_dont_run(seats: dict[str, Path]) -> None:
    plan = difference.trace(*SECRETS)
    other = tacit.function(lambda a, b: tacit.reveal(a - b)).trace(*SECRETS)
    given: dict[str, dict[str, Any]] = {"alice": {"a": 7}, "bob": {"b": -5}}

    def play(name: str, path: Path) -> str:
        with tacit.connect(path) as run, pytest.raises(RunError) as caught:
            run(other if name == "P2" else plan, **given.get(name, {}))
        return str(caught.value)

    messages = everybody(seats, play)
    # Who is late for the handshake hears of it while the links are made.
    told = ("aborted", "gave up before the run began")
    assert all(any(word in message for word in told) for message in messages.values()), messages
    assert any("disagrees on the outputs" in message for message in messages.values()), messages


def test_inputs_are_checked_before_anything_is_sent(seats: dict[str, Path]) -> None:
    plan = difference.trace(*SECRETS)
    with tacit.connect(seats["alice"]) as run:
        assert repr(run) == "<client alice of P0, P1, P2>"
        with pytest.raises(InputError, match='no value for input "a"'):
            run(plan)
        with pytest.raises(InputError, match="is bob's to give, and this is alice"):
            run(plan, a=1, b=2)
        with pytest.raises(InputError, match="outside the declared range"):
            run(plan, a=1001)


def test_a_party_waits_for_the_others_no_longer_than_it_is_told(seats: dict[str, Path]) -> None:
    with tacit.connect(seats["P0"], wait=0.2) as run, pytest.raises(ConnectError, match="P1"):
        run(difference.trace(*SECRETS))


@pytest.mark.usefixtures("seats")
def test_a_bad_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match=r"parties\.toml"):
        tacit.connect(tmp_path / "parties.toml")
    (tmp_path / "parties.toml").write_text("me = 3")
    with pytest.raises(ConnectError, match=r"parties\.toml"):
        tacit.connect(tmp_path / "parties.toml")
    with pytest.raises(ConnectError, match="not overwritten"):
        tacit.init(tmp_path / "net")
    with pytest.raises(ConnectError, match="a list of names"):
        tacit.init(tmp_path / "other", clients="alice")
    assert not (tmp_path / "other").exists()


def test_a_seat_is_taken_once_and_given_up_in_the_end(seats: dict[str, Path]) -> None:
    with tacit.connect(seats["P0"]) as run, pytest.raises(ConnectError, match="cannot listen"):
        tacit.connect(seats["P0"])
    with pytest.raises(ConnectError, match="connect anew"):
        run(difference.trace(*SECRETS))
    with tacit.connect(seats["P0"]):
        pass


def test_roles_are_settled_or_said(seats: dict[str, Path]) -> None:
    plan = difference.trace(*SECRETS)
    given: dict[str, dict[str, Any]] = {"alice": {"a": 7}, "bob": {"b": -5}}

    def play(protocol: str) -> dict[str, Any]:
        def part(name: str, path: Path) -> Any:
            with tacit.connect(path, protocol) as run:
                run(plan, **given.get(name, {}))
                assert run.report is not None
                return run.report.roles

        return everybody(seats, part)

    said = play("astra roles=201")
    assert set(said.values()) == {("P2", "P0", "P1")}
    settled = play("astra")
    assert len(set(settled.values())) == 1
    assert sorted(settled["alice"]) == ["P0", "P1", "P2"]


def test_a_network_is_given_instead_of_measured(seats: dict[str, Path]) -> None:
    plan = difference.trace(*SECRETS)
    given: dict[str, dict[str, Any]] = {"alice": {"a": 7}, "bob": {"b": -5}}

    def play(net_of_bob: str | None) -> dict[str, Any]:
        def part(name: str, path: Path) -> Any:
            net = net_of_bob if name == "bob" else "wan"
            with tacit.connect(path, protocol="astra comparison=auto", net=net) as run:
                try:
                    result = run(plan, **given.get(name, {}))
                except RunError as error:
                    return str(error)
                assert run.report is not None
                return result["larger"], run.report.comparison

        return everybody(seats, part)

    assert set(play("wan").values()) == {(True, "garbled")}
    assert any("the same --net (in Python net=)" in str(told) for told in play(None).values())


def test_a_network_is_given_to_a_local_run(tmp_path: Path) -> None:
    plan = difference.trace(*SECRETS)
    file = tmp_path / "net.toml"
    file.write_text('default = "1ms,1mbit"\n')
    picked = []
    for net in ("wan", file, None):
        with tacit.local("astra-malicious comparison=auto", net=net) as run:
            run(plan, alice=7, bob=-5)
            assert run.report is not None
            picked.append(run.report.comparison)
    assert picked == ["garbled", "prefix", "prefix"]
    made = tacit.offline(plan, 1, tmp_path / "store", "astra comparison=auto", net="wan")
    assert made.comparison == "garbled"
    with tacit.local(net="nowhere") as run, pytest.raises(InputError, match="nowhere"):
        run(plan, alice=7, bob=-5)
