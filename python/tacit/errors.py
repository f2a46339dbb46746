"""What can go wrong, as exceptions; every message says what happened, where, and what to do about it."""

from __future__ import annotations


class TacitError(Exception):
    """The base of all exceptions of this package."""


class ProgramError(TacitError, ValueError):
    """A program that would go wrong, found while it was traced: nothing has run.

    Attributes:
        message: What is wrong.
        hint: What helps, if that can be told.
        file: The user's file; empty if there is none.
        line: The line in it, from 1; 0 if it isn't known.
        text: The expression.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, file: str = "", line: int = 0, text: str = ""
    ) -> None:
        self.message = message
        self.hint = hint
        self.file = file
        self.line = line
        self.text = text
        super().__init__(message)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: {self.text}\n  " if self.line else ""
        return place + self.message + (f"\n  hint: {self.hint}" if self.hint else "")


class ProgramTypeError(ProgramError, TypeError):
    """An operation that isn't defined for the types it was given."""


class SecretError(ProgramTypeError):
    """A value that nobody knows while a program is traced was used as if it were known."""


class InputError(TacitError, ValueError):
    """An input that doesn't fit its declaration, is missing, or isn't one; nothing was sent."""


class PlanError(TacitError, ValueError):
    """A plan that can't be read, or a value of a program that is finished."""


class CircuitError(TacitError, ValueError):
    """A circuit that can't be read, or gates that don't make one; of a file, the message names the line."""


class ConnectError(TacitError, ConnectionError):
    """A deployment's files are wrong, or its parties can't be brought together; nothing secret was sent."""


class StoreError(TacitError, RuntimeError):
    """A store can't be used, or the parties' have no unused material in common; nothing secret was sent."""


class RunError(TacitError, RuntimeError):
    """A run that was aborted; its message names the peer, the phase and the operation."""


class MismatchError(RunError):
    """A debug run found an operation whose result differs from the clear one."""
