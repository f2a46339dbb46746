"""Offline sessions: the parties make what runs need before anybody has an input."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit import _native
from tacit._run import named, network
from tacit._table import amount, duration, table
from tacit.errors import InputError

if TYPE_CHECKING:
    import os

    from tacit._plan import Plan


@dataclass(frozen=True, slots=True)
class Prepared:
    """What an offline session made, as far as this process had parties in it.

    Attributes:
        epoch: The session's identity, in hexadecimal; the same at all parties.
        runs: How many runs can be made with it; 0 of supplies that `tacit.stock` made for any plan.
        supplies: Supplies that were made, from which any plan draws: what they are, and how many. Empty if
            `tacit.stock` found enough.
        disk_bytes: Bytes that it takes on disk, by party.
        sent: Payload bytes by link, sender and receiver; the handshake left out.
        declared: The same as the protocol declares it; empty of supplies.
        seconds: From the handshake until all was on disk everywhere.
        roles: The names of those who play the protocol's P_0, P_1 and so on in runs on it; empty if its
            parties are all alike.
        comparison: How numbers are compared in runs on it, if that was left to the network.
    """

    epoch: str
    runs: int
    disk_bytes: dict[str, int]
    sent: dict[tuple[str, str], int]
    declared: dict[tuple[str, str], int]
    seconds: float
    roles: tuple[str, ...] = ()
    comparison: str | None = None
    supplies: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def _of(made: list[_native.Prepared]) -> Prepared:
        links = {(own.party, to): (sent, declared) for own in made for to, sent, declared in own.links}
        return Prepared(
            made[0].epoch,
            made[0].instances,
            {own.party: own.disk_bytes for own in made},
            {link: sent for link, (sent, _) in links.items()},
            {link: declared for link, (_, declared) in links.items() if declared is not None},
            made[0].seconds,
            tuple(made[0].players),
            made[0].comparison,
            dict(made[0].supplies),
        )

    def __str__(self) -> str:
        rows = [
            [
                party,
                amount(on_disk),
                amount(sum(sent for link, sent in self.sent.items() if link[0] == party)),
            ]
            for party, on_disk in self.disk_bytes.items()
        ]
        what = [f"material for {self.runs} runs"] if self.runs else []
        what += [f"{amount(count)} {kind}" for kind, count in self.supplies.items()]
        head = f"{', '.join(what) or 'enough was there already'}, {duration(self.seconds)}"
        return head + "\n" + table(["party", "bytes on disk", "bytes sent"], rows, "lrr")


def offline(
    plan: Plan,
    count: int,
    store: str | os.PathLike[str],
    protocol: str = "astra",
    *,
    config: str | os.PathLike[str] | None = None,
    anchors: str | os.PathLike[str] | None = None,
    net: str | os.PathLike[str] | None = None,
    wait: float | None = None,
    **parameters: str | int,
) -> Prepared:
    """Makes material for runs of a plan ahead of time: their online phase is then all that is left.

    Under a protocol whose runs draw from supplies ("mascot", "gmw") as much is made as the runs draw, and any
    other plan can draw from it, too.

    All parties of a deployment call it together, each with a store of its own; clients aren't needed. Without
    a configuration all parties are in this process, and `store` has a folder for each. `tacit.connect` and
    `tacit.local` then take their material from the store.

    Args:
        plan: What will be run.
        count: How often, the same for all parties.
        store: The folder for the material of this plan, made if it isn't there; secret. Never copy it.
        protocol: The protocol's name, with its parameters behind it if it is to have any. What it leaves to
            the network is as in stores that are there, or else measured; runs on the material go by it.
        config: This party's `parties.toml`.
        anchors: The folder, outside of the store, of what says once more what is used; if `None`, where this
            user's state is kept.
        net: The network that what is left to it is picked for, instead of measuring; the same for all, as
            `tacit.connect` takes it.
        wait: How many seconds the others are waited for; if `None`, what the configuration says.
        parameters: Values of the protocol's parameters, `soundness=100` as of "replicated-malicious
            soundness=100".

    Raises:
        InputError: There is no such protocol or network, it has no offline phase, or this is a client.
        StoreError: The store can't be used.
        ConnectError: The configuration is wrong, or others don't come.
        RunError: The session was aborted; nothing of it is kept.
    """
    protocol = named(protocol, parameters)
    if config is None:
        if anchors is not None:
            raise InputError("with all parties in this process, anchors lie in the store's folder")
        return Prepared._of(_native.Local(protocol).offline(plan._program, count, store, network(net)))
    made = _native.Seat(config, wait).offline(plan._program, protocol, count, store, anchors, network(net))
    return Prepared._of([made])


def stock(
    store: str | os.PathLike[str],
    protocol: str,
    *,
    up_to: bool = False,
    parties: int | None = None,
    config: str | os.PathLike[str] | None = None,
    anchors: str | os.PathLike[str] | None = None,
    wait: float | None = None,
    **counts: int,
) -> Prepared:
    """Makes supplies for any plan ahead: `tacit.stock("store", "mascot", triples=100_000, masks=1000)`.

    Each call makes them under a key of their own, and a run draws all that it needs from what one call made.
    All parties of a deployment call it together, each with a store of its own. Without a configuration all
    parties are in this process, and `store` has a folder for each. `tacit.connect` and `tacit.local` then
    draw from the store.

    Args:
        store: The folder for the supplies, made if it isn't there; secret. Never copy it.
        protocol: The protocol's name, with its parameters behind it if it is to have any.
        up_to: Make nothing if all parties have as much unused already, from one call.
        parties: How many there are, without a configuration; if `None`, as few as the protocol is for.
        config: This party's `parties.toml`.
        anchors: The folder, outside of the store, of what says once more what is used; if `None`, where this
            user's state is kept.
        wait: How many seconds the others are waited for; if `None`, what the configuration says.
        counts: How much of what, the same for all parties; an error says what the protocol stocks.

    Raises:
        InputError: There is no such protocol, or it doesn't stock that; or this is a client.
        StoreError: The store can't be used.
        ConnectError: The configuration is wrong, or others don't come.
        RunError: The session was aborted; nothing of it is kept.
    """
    named_counts = [(name.replace("_", "-"), count) for name, count in counts.items()]
    if config is None:
        if anchors is not None:
            raise InputError("with all parties in this process, anchors lie in the store's folder")
        return Prepared._of(_native.Local(protocol, parties).stock(named_counts, up_to, store))
    if parties is not None:
        raise InputError("the parties are those of config=; leave out parties=")
    return Prepared._of([_native.Seat(config, wait).stock(protocol, named_counts, up_to, store, anchors)])
