"""Parties that serve, and clients that ask them."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import tacit
from tacit.errors import RunError
from tests.test_deployment import free_ports

if TYPE_CHECKING:
    from pathlib import Path


def test_clients_ask_parties_that_serve_and_stay_connected(tmp_path: Path) -> None:
    port = free_ports(3)
    paths = tacit.init(tmp_path / "net", clients=["alice", "bob"], port=port)
    seats = {path.parent.name: path for path in paths}
    secret = tacit.secret("guest", range=(0, 99))
    plan = tacit.function(lambda x: tacit.reveal(x * x, to="guest")).trace(secret)
    other = tacit.function(lambda x: tacit.reveal(x + x, to="guest")).trace(secret)
    (tmp_path / "plans").mkdir()
    plan.save(tmp_path / "plans" / "square.plan")
    line = [sys.executable, "-m", "tacit", "serve", str(tmp_path / "plans"), "--runs", "6", "--open", "guest"]
    line += ["--json"]
    servers = [
        subprocess.Popen(
            [*line, "--config", str(seats[name])], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for name in ("P0", "P1", "P2")
    ]

    def ask(name: str) -> list[int]:
        with tacit.connect(seats[name], plays="guest", wait=60) as run:
            with pytest.raises(RunError, match="doesn't serve the program of hash"):
                run(other, x=1)
            return [run(plan, x=x) for x in range(3)]

    try:
        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(ask, ["alice", "bob"])) == [[0, 1, 4]] * 2
        for server in servers:
            told, error = server.communicate(timeout=120)
            assert server.returncode == 0, error
            assert len(told.splitlines()) == 6
    finally:
        for server in servers:
            server.kill()
