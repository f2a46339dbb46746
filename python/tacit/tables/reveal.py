"""Tables on their way out: nobody learns where rows come from, nor what stands in those that don't count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from tacit._functions import where
from tacit._handles import Handle, Revealed
from tacit._location import fault
from tacit.errors import SecretError
from tacit.tables.decode import described

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit._tensor import Tensor
    from tacit.tables.table import Table


class RevealedTable(Handle):
    """A table that is revealed at the end of a run; the traced function returns it, a run gives a DataFrame.

    Attributes:
        parts: What is revealed of it, by name.
        description: Names and types of its columns.
    """

    __slots__ = ("description", "parts")

    def __init__(self, parts: dict[str, Revealed], description: dict[str, Any]) -> None:
        self.parts = parts
        self.description = description

    def _refuse(self, use: str) -> NoReturn:
        raise fault(
            SecretError,
            f"a revealed table is known only after the run, so the program can't use it for {use}",
            "return it, and start a second program with what the run gives back",
        )

    def __repr__(self) -> str:
        return f"<revealed table of {', '.join(name for name, _ in self.description['columns'])}>"


def revealed(table: Table, reveal: Callable[[Tensor], Revealed]) -> RevealedTable:
    """Reveals the rows that count, in an order that says nothing that isn't in them or was asked for."""
    settled = table.settled()
    there = settled.valid
    parts = {"rows": reveal(there)}
    for name, column in settled.columns.items():
        known = there if column.valid is None else there & column.valid
        for number, part in enumerate(column.parts):
            parts[f"{name}#{number}"] = reveal(_shown(known, part))
        if column.valid is not None:
            parts[f"{name}?"] = reveal(known)
    for place, (_, wrong) in enumerate(settled.faults):
        parts[f"fault {place}"] = reveal(wrong)
    types = {name: column.type.nullable(column.valid is not None) for name, column in settled.columns.items()}
    return RevealedTable(parts, described(types, [message for message, _ in settled.faults]))


def _shown(there: Tensor, part: Tensor) -> Tensor:
    """A tensor, with one and the same value where nothing is to be seen."""
    if part.dtype.kind == "bool":
        return part & there
    low, high = part.range
    return where(there, part, min(max(low, 0), high))
