"""Tables and quantities for people to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDEST = 60


def table(head: Sequence[str], rows: Sequence[Sequence[str]], sides: str) -> str:
    """Rows under a head; `sides` has "l" or "r" for each column."""
    cells = [list(head), *([_cut(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if side == "l" else cell.rjust(width)
            for cell, width, side in zip(row, widths, sides, strict=True)
        ).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def printable(text: str) -> str:
    """A text in which nothing steers a terminal: names in a plan from elsewhere may hold anything."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def amount(count: int) -> str:
    """A number of bytes, with its thousands apart."""
    return f"{count:,}"


def duration(seconds: float) -> str:
    """A time with three digits."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."
