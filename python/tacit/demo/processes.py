"""The five processes: made, started, listened to, and ended whatever happens."""

from __future__ import annotations

import json
import queue
import random
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import tacit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

SERVERS = ("P0", "P1", "P2")
ROLES = {**dict.fromkeys(SERVERS, "server"), "owner": "owner", "client": "client"}
"""Who takes part, and the module that each of them runs."""

_CONNECT = 10
"""Seconds for which everybody tries to reach the others at the start of a run."""
_GRACE = _CONNECT + 5
"""Seconds in which the others have to stop by themselves once one has failed."""
_LINGER = 2
"""Seconds between asking a process to end and killing it."""


class Processes:
    """The demo's processes, in a `with` statement, at the end of which none of them is left.

    Attributes:
        failures: What went wrong, by who noticed it: known once `told` has come to its end.
    """

    def __init__(self, folder: Path, models: Sequence[str]) -> None:
        """Takes the folders that `deploy` made, and the models to be asked in turn. `with` starts them."""
        self.failures: dict[str, str] = {}
        self._folder = folder
        self._models = models
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._lines: queue.Queue[tuple[str, str | None]] = queue.Queue()

    def __enter__(self) -> Self:
        with ExitStack() as started:
            started.callback(self._end)
            for name, role in ROLES.items():
                self._start(name, role)
            started.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def told(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What the processes tell, with the name of the one that does, until all have ended."""
        open_ = set(self._running)
        deadline = None
        while open_:
            try:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                name, line = self._lines.get(timeout=left)
            except queue.Empty:
                break
            if line is not None:
                yield name, json.loads(line)
                continue
            open_.remove(name)
            code = self._running[name].wait()
            if code:
                self.failures[name] = self._reason(name, code)
                deadline = deadline or time.monotonic() + _GRACE
        for name in sorted(open_):
            self.failures[name] = f"didn't stop within {_GRACE} s of the first failure, and was ended"

    def _start(self, name: str, role: str) -> None:
        folder = self._folder / name
        with (folder / "errors.txt").open("w") as errors:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", f"tacit.demo.{role}", str(folder), *self._models],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                # Ctrl-C is for this process alone; it ends the others.
                start_new_session=True,
            )
        self._running[name] = process
        threading.Thread(target=self._listen, args=(name, process), daemon=True).start()

    def _listen(self, name: str, process: subprocess.Popen[str]) -> None:
        if process.stdout:
            with process.stdout as lines:
                for line in lines:
                    self._lines.put((name, line))
        self._lines.put((name, None))

    def _reason(self, name: str, code: int) -> str:
        """Why a process ended."""
        errors = (self._folder / name / "errors.txt").read_text(errors="replace").strip()
        if code < 0:
            return f"was ended by signal {-code}" + (f"\n{errors}" if errors else "")
        return errors or f"ended with exit code {code}"

    def _end(self) -> None:
        for process in self._running.values():
            process.terminate()
        deadline = time.monotonic() + _LINGER
        for process in self._running.values():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def deploy(folder: Path) -> None:
    """Makes a folder for each of the five, with a key of its own, for runs on this machine.

    Raises:
        ConnectError: A folder is there already.
    """
    clients = [name for name in ROLES if name not in SERVERS]
    for config in tacit.init(folder, len(SERVERS), clients, port=_free_ports(len(SERVERS))):
        with config.open("a") as file:
            file.write(f"\n[limits]\nconnect_seconds = {_CONNECT}\n")


def _free_ports(count: int) -> int:
    """The first of as many ports in a row that nobody listens on.

    They are taken from below those that systems give to outgoing connections.
    """
    while True:
        first = random.randrange(10_000, 32_000)
        try:
            with ExitStack() as sockets:
                for port in range(first, first + count):
                    sockets.enter_context(socket.create_server(("127.0.0.1", port)))
        except OSError:
            continue
        return first
