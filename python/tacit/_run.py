"""Runs: with all parties in this process, or as one party or client of a deployment."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit import _native
from tacit._inputs import assigned
from tacit._plan import Plan
from tacit._table import amount, duration, table
from tacit.errors import ConnectError, InputError
from tacit.tables.given import titles

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self


@dataclass(frozen=True, slots=True)
class Report:
    """What a run took, as it was measured.

    Attributes:
        bytes: Payload bytes that each party and client of this process sent, by name; the handshake left out.
        phases: The same for each phase, setup (the handshake) included.
        wire_bytes: Bytes on the wire by name, with handshake, framing and encryption.
        rounds: Rounds of the online phase.
        seconds: From the first message to the last.
        roles: The names of those who played the protocol's P_0, P_1 and so on; empty if its parties are all
            alike.
        comparison: How numbers were compared, if that was left to the network: "prefix" or "garbled".
        material: Where its material came from, if from a store: the offline session that made it, and the
            number of its instance.
        read: Which kept values the run read, by the program's names: {"weights": "weights@3"}.
        kept: What it kept: ("weights@4",).
    """

    bytes: dict[str, int]
    phases: dict[str, dict[str, int]]
    wire_bytes: dict[str, int]
    rounds: int
    seconds: float
    roles: tuple[str, ...] = ()
    comparison: str | None = None
    material: tuple[str, int] | None = None
    read: dict[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()

    @staticmethod
    def _of(run: _native.Run) -> Report:
        phases: dict[str, dict[str, int]] = {}
        for name, sent, _ in run.endpoints:
            for phase, payload in sent:
                phases.setdefault(phase, {})[name] = payload
        names = [name for name, _, _ in run.endpoints]
        total = {
            name: sum(sent[name] for phase, sent in phases.items() if phase != "setup") for name in names
        }
        wire = {name: wire for name, _, wire in run.endpoints}
        roles = tuple(run.players)
        stays = dict(run.read), tuple(run.kept)
        return Report(
            total, phases, wire, run.rounds, run.seconds, roles, run.comparison, run.material, *stays
        )

    def __str__(self) -> str:
        rows = [[name, amount(sent), amount(self.wire_bytes[name])] for name, sent in self.bytes.items()]
        head = f"{self.rounds} rounds online, {duration(self.seconds)}"
        if self.roles:
            head += "; roles: " + ", ".join(f"{role} = {name}" for role, name in enumerate(self.roles))
        if self.comparison:
            head += f"; comparison {self.comparison}"
        return head + "\n" + table(["sender", "bytes", "on the wire"], rows, "lrr")


class Runner:
    """Runs plans: `run(plan, ...)`. Made by `tacit.local` and `tacit.connect`, for a `with` statement.

    What a plan keeps (`tacit.keep`) stays as shares of the parties, in memory or in a folder: later runs of
    the same runner, or on the same folder, read it.

    Attributes:
        report: What the last run took; `None` before the first.
    """

    report: Report | None = None

    def __call__(
        self, plan: Plan, /, *given: Any, kept: Any = None, keep_rows: Any = None, **inputs: Any
    ) -> Any:
        """Runs a plan.

        Args:
            plan: What to run.
            given: Nothing: inputs are named.
            kept: Which kept value is read for each `tacit.kept` of the plan, by its name: {"weights":
                "weights@3"}, or {"weights": "old_weights"} for the newest of another name. What isn't named
                is the newest of its own name, and {"keys": "principals[17,42]"} are rows of a table. All
                parties say the same. A client of parties that serve says it where they leave it to requests.
            keep_rows: Which rows of a table, counted from 0, what the plan keeps under the table's name
                becomes: {"principals": [17]}. All other rows stay. Without it the value is kept whole.
            inputs: The inputs, either by owner (`alice=[x, y]`, in the order of the function's parameters, or
                `alice={"x": ..., "y": ...}`; a single one also as it is: `alice=x`) or each by its name
                (`x=...`); a name that an owner and an input have is the input's. Numbers, nested lists,
                arrays, and pandas Series and DataFrames. A table is a DataFrame, an Arrow table, a dict of
                columns, or the path of a Parquet, Arrow or CSV file. What is declared by `tacit.public` is
                given by its name; in a deployment by each party, and by no client.

        Returns:
            What the traced function returns, with a number or an array in the place of everything revealed;
            `None` for what isn't revealed to this party or client, and a DataFrame for a table. Bools,
            integers (int64; uint64 to a modulus of up to 64 bits, Python's to one of more), float64.

        Raises:
            InputError: An input is missing or doesn't fit, or this is no plan; nothing was sent.
            RunError: The run was aborted.
        """
        if not isinstance(plan, Plan):
            hint = "; trace it first: run(f.trace(...), ...)" if hasattr(plan, "trace") else ""
            raise InputError(f"a plan is needed here, not {plan!r}{hint}")
        if given:
            names = ", ".join(f"{owner}=..." for owner in dict.fromkeys(one.owner for one in plan.inputs))
            raise InputError(f"inputs are given by name: run(plan, {names})")
        run = self._run(plan, inputs, _fill(kept), _rows(keep_rows))
        self.report = Report._of(run)
        return plan._restore(run.outputs)

    @property
    def kept(self) -> tuple[str, ...]:
        """What is kept: ("weights@1", "weights@2")."""
        raise NotImplementedError

    def drop(self, value: str) -> None:
        """Drops a kept value ("weights@2"), or all of a name ("weights"). Each party of a deployment does so.

        Raises:
            InputError: There is none.
        """
        raise NotImplementedError

    def refresh(self, name: str) -> str:
        """Gives the newest value of a name fresh shares, all parties together: "weights@4".

        An old copy of one party's folder and a new one of another's don't combine then. The value and what it
        may be used for stay; the old version is dropped.

        Raises:
            InputError: There is none, or it isn't the same at all parties.
            RunError: The run was aborted.
        """
        raise NotImplementedError

    def _run(
        self, plan: Plan, inputs: dict[str, Any], kept: dict[str, str], rows: dict[str, str]
    ) -> _native.Run:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _fill(kept: Any) -> dict[str, str]:
    """Which kept value is read for each of a plan's, once it is known to say so."""
    if kept is None:
        return {}
    if not isinstance(kept, Mapping) or not all(
        isinstance(word, str) for pair in kept.items() for word in pair
    ):
        raise InputError(f'kept= says what is read by name, as {{"weights": "weights@3"}}; this is {kept!r}')
    return dict(kept)


def _rows(rows: Any) -> dict[str, str]:
    """Which rows of tables are kept, as the core reads it."""
    if rows is None:
        return {}
    said = f"keep_rows= says which rows of a table are kept, as {{'principals': [17]}}; this is {rows!r}"
    if not isinstance(rows, Mapping):
        raise InputError(said)
    known = {}
    for name, numbers in rows.items():
        if not isinstance(name, str) or isinstance(numbers, str):
            raise InputError(said)
        try:
            listed = [operator.index(number) for number in numbers]
        except TypeError:
            raise InputError(said) from None
        known[name] = f"{name}[{','.join(map(str, listed))}]"
    return known


class _LocalRunner(Runner):
    """All parties and clients in this process."""

    def __init__(
        self,
        protocol: str,
        parties: int | None,
        debug: bool,
        store: str | os.PathLike[str] | None,
        net: str | os.PathLike[str] | None,
        state: str | os.PathLike[str] | None,
        progress: bool,
    ) -> None:
        self._local = _native.Local(protocol, parties, state, progress)
        self._debug = debug
        self._store = store
        self._net = network(net)

    def _run(
        self, plan: Plan, inputs: dict[str, Any], kept: dict[str, str], rows: dict[str, str]
    ) -> _native.Run:
        values = assigned(plan._declared, inputs, plan.tables)
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            missing = [one for one, value in zip(plan._declared, values, strict=True) if value is None]
            raise InputError(f"no value is given for {', '.join(titles(missing, plan.tables))}")
        return self._local.run(plan._program, known, self._debug, kept, rows, self._store, self._net)

    @property
    def kept(self) -> tuple[str, ...]:
        return tuple(self._local.kept())

    def drop(self, value: str) -> None:
        self._local.drop(value)

    def refresh(self, name: str) -> str:
        return self._local.refresh(name)

    def __exit__(self, *_: object) -> None:
        # Another runner may open the folder of what is kept.
        self._local.close()

    def __repr__(self) -> str:
        return f"<local run of {', '.join(self._local.parties)}{', debugging' * self._debug}>"


class _SeatRunner(Runner):
    """One party or client of a deployment."""

    def __init__(
        self,
        seat: _native.Seat,
        protocol: str,
        store: str | os.PathLike[str] | None,
        anchors: str | os.PathLike[str] | None,
        net: str | os.PathLike[str] | None,
    ) -> None:
        self._seat: _native.Seat | None = seat
        self._protocol = protocol
        self._store = store
        self._anchors = anchors
        self._net = network(net)

    def _run(
        self, plan: Plan, inputs: dict[str, Any], kept: dict[str, str], rows: dict[str, str]
    ) -> _native.Run:
        values = assigned(plan._declared, inputs, plan.tables)
        places = (self._store, self._anchors)
        return self._taken().run(plan._program, self._protocol, values, kept, rows, *places, self._net)

    @property
    def kept(self) -> tuple[str, ...]:
        return tuple(self._taken().kept())

    def drop(self, value: str) -> None:
        self._taken().drop(value)

    def refresh(self, name: str) -> str:
        return self._taken().refresh(name)

    def _taken(self) -> _native.Seat:
        """The seat, which isn't given up."""
        if self._seat is None:
            raise ConnectError("this seat was given up at the end of its `with` statement; connect anew")
        return self._seat

    def __exit__(self, *_: object) -> None:
        # A party's port is closed with the seat, and its state.
        self._seat = None

    def __repr__(self) -> str:
        if self._seat is None:
            return "<a seat that was given up>"
        kind = "party" if self._seat.is_party else "client"
        return f"<{kind} {self._seat.name} of {', '.join(self._seat.parties)}>"


def connect(
    config: str | os.PathLike[str],
    protocol: str = "replicated",
    *,
    wait: float | None = None,
    store: str | os.PathLike[str] | None = None,
    anchors: str | os.PathLike[str] | None = None,
    net: str | os.PathLike[str] | None = None,
    state: str | os.PathLike[str] | None = None,
    plays: str | None = None,
    tag: str = "",
    progress: bool = False,
    **parameters: str | int,
) -> Runner:
    """Takes the seat of one party or client of a deployment: its `run` is this one's part of a joint run.

    All parties and clients that a plan names have to call `run` with the same plan, each with its own inputs.
    Where the parties serve (`tacit serve`), `run` of a client asks them for a run, and the client stays
    connected from run to run. What isn't revealed to this one is `None` in the result. A party's port is
    open until the end of the `with` statement, so `run` can be called again and again.

    Args:
        config: This one's `parties.toml`, as `tacit.init` or the command `tacit init` writes it.
        protocol: The protocol's name, with its parameters behind it if it is to have any, the same for all:
            "replicated", "replicated-malicious", "replicated-malicious soundness=100", "astra",
            "astra-malicious", "astra-fair", "mascot", "gmw". Of those of astra the parties measure the
            network and settle their roles by it; "astra roles=201" says them: the third party plays P_0, the
            first P_1. With "astra comparison=auto" they also settle how numbers are compared;
            `report.comparison` says it.
        wait: How many seconds this one waits for the others at the start of a run; if `None`, what the
            configuration says. Whom it waits for is logged as a warning of the logger "tacit".
        store: A party's folder of material that `tacit.offline` made for the plan that is run; each run uses
            an instance of it, and all parties have to take theirs from their stores.
        anchors: The folder of the store's anchor, if it isn't this user's usual one.
        net: The network that what is left to it (comparison=auto, and the roles of "astra") is picked for,
            instead of measuring: "lan", "wan", round trip and speed such as "20ms,1gbit", or a file with a
            value for each pair, as `--net` of the commands takes it. The same for all, clients too.
        state: A party's folder for what plans keep (`tacit.keep`), sealed under its private key; without one
            it stays in memory until the end of the `with` statement. One process at a time has it.
        plays: Which name of plans a client plays, if it isn't its own; where the parties serve.
        tag: A client meets those alone in a run who give the same tag; where the parties serve.
        progress: Show on a terminal how far a run is that takes longer than a second, and at which line.
        parameters: Values of the protocol's parameters, `soundness=100` as of "replicated-malicious
            soundness=100".

    Raises:
        ConnectError: The configuration is wrong, or the port can't be had. A run raises it too, if others
            don't come.
        InputError: `wait` is no time.
    """
    seat = _native.Seat(config, wait, state, plays, tag, progress)
    return _SeatRunner(seat, named(protocol, parameters), store, anchors, net)


def init(
    folder: str | os.PathLike[str],
    parties: int = 3,
    clients: Sequence[str] = (),
    *,
    host: str = "127.0.0.1",
    port: int = 7700,
) -> list[Path]:
    """Makes a folder for each party and client of a new deployment: its key, certificate and `parties.toml`.

    Args:
        folder: Where the folders go. The parties are called P0, P1, ...
        parties: How many compute.
        clients: Names of those who only give inputs or get results.
        host: The address of all parties; edit it in every `parties.toml` for machines of their own.
        port: The first party's port; the others' follow.

    Returns:
        The paths of the configurations, the parties' first.

    Raises:
        ConnectError: A name, a port or their number won't do, or a folder is there already.
    """
    if isinstance(clients, str):
        raise ConnectError(f"clients={clients!r}: a list of names is needed, such as [{clients!r}]")
    return _native.init(folder, parties, list(clients), host, port)


def local(
    protocol: str = "replicated",
    *,
    parties: int | None = None,
    debug: bool = False,
    store: str | os.PathLike[str] | None = None,
    net: str | os.PathLike[str] | None = None,
    state: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **parameters: str | int,
) -> Runner:
    """Runs plans with all parties in this process, each in a thread: to try things out.

    The messages are those of a deployment, but nothing is kept secret from this process.

    Args:
        protocol: The protocol's name, with its parameters behind it if it is to have any: "replicated",
            "replicated-malicious", "replicated-malicious soundness=100", "astra", "astra-malicious",
            "astra-malicious comparison=garbled", "astra-fair", "mascot", "gmw".
        parties: How many parties there are; if `None`, the fewest that the protocol is for.
        debug: Compare every operation with the same one in the clear. The first that differs is a
            `MismatchError` which names its line. Everything is revealed within the run, so it takes longer.
        store: A folder in which `tacit.offline` made material for the plan that is run; each run uses an
            instance of it.
        net: A network that what is left to it (comparison=auto, and the roles of "astra") is picked for, as
            `tacit.connect` takes it; links within this process take no time, so without it all is as usual.
        state: A folder in which the parties keep what plans keep (`tacit.keep`), each in a folder of its own;
            without one it stays in memory until the end of the `with` statement.
        progress: Show on a terminal how far a run is that takes longer than a second, and at which line.
        parameters: Values of the protocol's parameters, `soundness=100` as of "replicated-malicious
            soundness=100".

    Raises:
        InputError: No protocol has that name, or not these parameters, or it isn't for so many parties. A run
            raises it too, if there is no such network.
    """
    if debug and store is not None:
        raise InputError("a debug run takes no material from a store: it makes its own")
    return _LocalRunner(named(protocol, parameters), parties, debug, store, net, state, progress)


def named(protocol: str, parameters: Mapping[str, str | int]) -> str:
    """A protocol's name with its parameters, as the core takes it."""
    words = [f"{name.replace('_', '-')}={value}" for name, value in parameters.items()]
    return " ".join([protocol, *words])


def network(net: str | os.PathLike[str] | None) -> str | None:
    """A network as the core takes it."""
    return None if net is None else os.fspath(net)
