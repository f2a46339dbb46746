"""Offline sessions: the parties make what runs need before anybody has an input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit import _native
from tacit._run import network
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
        runs: How many runs can be made with it.
        disk_bytes: Bytes that it takes on disk, by party.
        sent: Payload bytes by link, sender and receiver; the handshake left out.
        declared: The same as the protocol declares it.
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

    @staticmethod
    def _of(made: list[_native.Prepared]) -> Prepared:
        links = {(own.party, to): (sent, declared) for own in made for to, sent, declared in own.links}
        return Prepared(
            made[0].epoch,
            made[0].instances,
            {own.party: own.disk_bytes for own in made},
            {link: sent for link, (sent, _) in links.items()},
            {link: declared for link, (_, declared) in links.items()},
            made[0].seconds,
            tuple(made[0].players),
            made[0].comparison,
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
        head = f"material for {self.runs} runs, {duration(self.seconds)}"
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
) -> Prepared:
    """Makes material for runs of a plan ahead of time: their online phase is then all that is left.

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

    Raises:
        InputError: There is no such protocol or network, it has no offline phase, or this is a client.
        StoreError: The store can't be used.
        ConnectError: The configuration is wrong, or others don't come.
        RunError: The session was aborted; nothing of it is kept.
    """
    if config is None:
        if anchors is not None:
            raise InputError("with all parties in this process, anchors lie in the store's folder")
        return Prepared._of(_native.Local(protocol).offline(plan._program, count, store, network(net)))
    made = _native.Seat(config, wait).offline(plan._program, protocol, count, store, anchors, network(net))
    return Prepared._of([made])
