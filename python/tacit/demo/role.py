"""How the demo's processes are started and what they say: lines of JSON, and errors for people to read."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from tacit.errors import TacitError

if TYPE_CHECKING:
    from collections.abc import Callable


def play(part: Callable[..., None]) -> None:
    """Plays a part, with the command line's arguments; ends the process with 1 if it can't go on."""
    try:
        part(*sys.argv[1:])
    except TacitError as error:
        sys.exit(str(error))


def tell(**facts: Any) -> None:
    """Writes a line of JSON to standard output."""
    print(json.dumps(facts), flush=True)
