"""What a run will take: exact payload bytes and rounds for every protocol, and a network's time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit import _native
from tacit._run import named
from tacit._table import amount, duration, table
from tacit.errors import InputError, ProgramError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from tacit._native import Price, Program

SHARED = "keys, checks and what they take"
"""What belongs to no line, in words."""


@dataclass(frozen=True, slots=True)
class LineCost:
    """What the operations of one of the user's lines cost.

    Attributes:
        file: The file.
        line: The line, from 1.
        text: The first expression of the line that costs anything.
        bytes: Payload bytes on all links; those of all lines and the protocol's `shared_bytes` add up to all
            that it sends.
        rounds: Rounds in which the line's operations exchange anything. Lines that don't depend on one
            another share rounds, so these don't add up.
        ands: ANDs, where nothing else takes messages, as under `gmw`; else 0.
    """

    file: str
    line: int
    text: str
    bytes: int
    rounds: int
    ands: int = 0


@dataclass(frozen=True, slots=True)
class ProtocolCost:
    """What a run takes under one protocol.

    Attributes:
        protocol: Its name.
        parties: The parties, then the clients.
        bytes: Payload bytes that each of them sends, by name. Exact; framing, TLS and the handshake are left
            out.
        rounds: The longest chain of messages, each of which waits for the one before; inputs and outputs
            included.
        seconds: An estimate of the time that the network takes; computing is left out.
        phases: For each phase its rounds and the payload bytes that each party and client sends.
        lines: The user's lines, the dearest first.
        shared_bytes: Payload bytes on all links that belong to all lines together: clients' keys, checks, and
            what is made for them (triples, proofs).
        shared_rounds: The rounds of these checks.
        comparison: How numbers are compared, if that was left to the network (comparison=auto).
        transfers: Random oblivious transfers from each party to each other one, if triples are made of
            nothing else, as under `gmw`; else 0.
        branches: What the arms of branches take, in words, if there are any.
    """

    protocol: str
    parties: tuple[str, ...]
    bytes: dict[str, int]
    rounds: int
    seconds: float
    phases: dict[str, tuple[int, dict[str, int]]]
    lines: tuple[LineCost, ...]
    shared_bytes: int
    shared_rounds: int
    comparison: str | None = None
    transfers: int = 0
    branches: str | None = None

    @staticmethod
    def _of(protocol: str, price: Price) -> ProtocolCost:
        names = price.endpoints
        sent = dict.fromkeys(names, 0)
        phases = {}
        for phase, rounds, links in price.phases():
            in_phase = dict.fromkeys(names, 0)
            for sender, _, payload in links:
                in_phase[names[sender]] += payload
                sent[names[sender]] += payload
            phases[phase] = rounds, in_phase
        rounds = sum(rounds for rounds, _ in phases.values())
        lines = _by_line(price)
        return ProtocolCost(
            protocol,
            tuple(names),
            sent,
            rounds,
            price.seconds,
            phases,
            lines,
            *price.shared(),
            comparison=price.comparison,
            transfers=price.transfers(),
            branches=price.branches,
        )


class Cost:
    """What a plan costs under each protocol; prints as tables.

    Attributes:
        net: The network that seconds are estimated for: round trip in seconds, bits per second.
        protocols: By name.
        refused: Protocols that can't run the plan, each with the reason.
        assumptions: The lines that assume ranges, on which the costs rest, and what happens if they err.
    """

    def __init__(
        self,
        net: tuple[float, float],
        protocols: dict[str, ProtocolCost],
        refused: dict[str, str],
        assumptions: tuple[str, ...] = (),
    ) -> None:
        self.assumptions = assumptions
        self.net = net
        self.protocols = protocols
        self.refused = refused

    @property
    def bytes(self) -> dict[str, int]:
        """Payload bytes that each party and client sends, under the quickest protocol."""
        return self._best.bytes

    @property
    def rounds(self) -> int:
        """Rounds under the quickest protocol."""
        return self._best.rounds

    @property
    def seconds(self) -> float:
        """Estimated seconds of the network under the quickest protocol."""
        return self._best.seconds

    @property
    def _best(self) -> ProtocolCost:
        return min(self.protocols.values(), key=lambda cost: cost.seconds)

    def to_json(self) -> str:
        """All of it as JSON."""
        rtt, speed = self.net
        return json.dumps(
            {
                "net": {"rtt_seconds": rtt, "bits_per_second": speed},
                "protocols": [_as_json(cost) for cost in self.protocols.values()],
                "refused": self.refused,
                "assumptions": self.assumptions,
            }
        )

    def __str__(self) -> str:
        rtt, speed = self.net
        title = f"on links of {speed / 1e6:g} Mbit/s, {rtt * 1e3:g} ms round trip; payload, without computing"
        rows = [
            [cost.protocol, name, amount(cost.bytes[name]), *last]
            for cost in self.protocols.values()
            for name, last in zip(
                cost.parties,
                [[str(cost.rounds), duration(cost.seconds)], *[["", ""]] * len(cost.parties)],
                strict=False,
            )
        ]
        parts = [title, table(["protocol", "sender", "bytes", "rounds", "network"], rows, "llrrr")]
        for cost in self.protocols.values():
            head = ["line", "expression", "bytes", "rounds", "ANDs"]
            rows = [
                [
                    f"{line.file}:{line.line}",
                    line.text,
                    amount(line.bytes),
                    str(line.rounds),
                    f"{line.ands:,}",
                ]
                for line in cost.lines
            ]
            if cost.shared_bytes:
                rows.append(["all", SHARED, amount(cost.shared_bytes), str(cost.shared_rounds), ""])
            told = 5 if any(line.ands for line in cost.lines) else 4
            title = f"{cost.protocol}, by line\n" if len(self.protocols) > 1 else ""
            parts.append(title + table(head[:told], [row[:told] for row in rows], "llrrr"[:told]))
        parts += [
            f"{cost.protocol}: triples take {cost.transfers:,} random oblivious transfers from each party to "
            "each other one"
            for cost in self.protocols.values()
            if cost.transfers
        ]
        parts += [f"{cost.protocol}: {cost.branches}" for cost in self.protocols.values() if cost.branches]
        parts += [
            f"{cost.protocol}: comparison {cost.comparison}"
            for cost in self.protocols.values()
            if cost.comparison
        ]
        parts += self.assumptions
        parts += [f"{name} can't run it: {reason}" for name, reason in self.refused.items()]
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return str(self)


def price(
    program: Program,
    net: str | None,
    protocol: str | None,
    parties: Sequence[str] | None,
    config: str | os.PathLike[str] | None,
    parameters: Mapping[str, str | int],
) -> Cost:
    """The cost of a program under a protocol, or under all that can run it."""
    if parameters:
        if protocol is None:
            raise InputError(f"{', '.join(parameters)}: of which protocol? Give protocol=, too")
        protocol = named(protocol, parameters)
    given, net = net is not None, "lan" if net is None else net
    profile = _native.network(net)
    names = None if parties is None else list(parties)
    window = None
    if config is not None:
        if names is not None:
            raise InputError("the parties are those of config=; leave out parties=")
        names, window = _native.configured(config)
    costs: dict[str, ProtocolCost] = {}
    refused: dict[str, str] = {}
    reasons: list[ProgramError | InputError] = []
    for name in [protocol] if protocol else _native.protocols():
        try:
            costs[name] = ProtocolCost._of(name, program.price(name, names, window, net, given))
        except (ProgramError, InputError) as error:
            refused[name] = str(error)
            reasons.append(error)
    if not costs:
        raise reasons[0]
    return Cost(profile, costs, refused, tuple(_assumption(*at) for at in program.assumptions()))


def _assumption(file: str, line: int, text: str, watched: bool) -> str:
    how = "assumed, and a run ends where it doesn't hold (under astra-fair a debug run alone)"
    if not watched:
        how = "known by how it is made, and checked by debug runs alone"
    return f"{how}: {file}:{line}: {text}"


def _by_line(price: Price) -> tuple[LineCost, ...]:
    lines: dict[tuple[str, int], LineCost] = {}
    for file, line, text, payload, rounds, ands in price.lines():
        known = lines.get((file, line), LineCost(file, line, text, 0, 0))
        sums = known.bytes + payload, known.rounds + rounds, known.ands + ands
        lines[file, line] = LineCost(file, line, known.text, *sums)
    return tuple(sorted(lines.values(), key=lambda cost: -cost.bytes))


def _as_json(cost: ProtocolCost) -> dict[str, Any]:
    return {
        "protocol": cost.protocol,
        "parties": list(cost.parties),
        "bytes": [cost.bytes[name] for name in cost.parties],
        "rounds": cost.rounds,
        "seconds": cost.seconds,
        "comparison": cost.comparison,
        "phases": {
            phase: {"rounds": rounds, "bytes": [sent[name] for name in cost.parties]}
            for phase, (rounds, sent) in cost.phases.items()
        },
        "lines": [
            {
                "file": line.file,
                "line": line.line,
                "text": line.text,
                "bytes": line.bytes,
                "rounds": line.rounds,
                "ands": line.ands,
            }
            for line in cost.lines
        ],
        "shared": {"bytes": cost.shared_bytes, "rounds": cost.shared_rounds},
        "random_transfers": cost.transfers,
        "branches": cost.branches,
    }
