"""A service that predicts: three servers keep a model as shares, and answer whoever is enrolled.

The owner gives its model once and goes. From then on it lies with the servers, who know nothing of it.
Each customer asks with rows of its own, as often as it likes, over connections that stay. It learns its
scores, and nobody learns its rows. The model says who may read it: this one plan, whose scores go to the
customer alone. All servers enforce that, each by itself: none can have anything else computed on the model.

Here everybody is on this machine; elsewhere each has its own folder on its own.
"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import tacit

SERVERS = ["P0", "P1", "P2"]
CUSTOMERS = ["ann", "ben", "cleo", "dora"]
FEATURES = 8
UNIT = {"dtype": tacit.fixed(16), "range": (-8, 8)}


@tacit.function
def predict(model, row):
    return tacit.reveal(row @ model, to="customer")


@tacit.function
def publish(model):
    tacit.keep(model, "model", readers=[ANSWER], learners=["customer"])


# `customer` is nobody's name: the servers say that any client may play it.
ANSWER = predict.trace(
    tacit.kept("model", shape=FEATURES, **UNIT), tacit.secret("customer", shape=FEATURES, **UNIT)
)
ENROL = publish.trace(tacit.secret("owner", shape=FEATURES, **UNIT))


def free_ports(count):
    """The first of so many in a row."""
    for first in range(20_000 + os.getpid() % 10_000, 60_000, count):
        with contextlib.suppress(OSError), contextlib.ExitStack() as probes:
            for port in range(first, first + count):
                probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first
    sys.exit("no ports are free")


def keep(seats, weights):
    """All servers and the owner together, once."""

    def part(name):
        state = None if name == "owner" else seats[name].parent / "state"
        with tacit.connect(seats[name], state=state, wait=60) as run:
            run(ENROL, **({"model": weights} if name == "owner" else {}))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(part, ["owner", *SERVERS]))


def serve(seat, plan):
    """One server, until it is ended."""
    line = [sys.executable, "-m", "tacit", "serve", str(plan), "--config", str(seat), "--open", "customer"]
    return subprocess.Popen([*line, "--state", str(seat.parent / "state")], stdout=subprocess.DEVNULL)


def ask(seat, rows):
    """One customer, row by row over the same connections."""
    with tacit.connect(seat, plays="customer", wait=60) as run:
        return [run(ANSWER, row=row) for row in rows]


if __name__ == "__main__":
    random = np.random.default_rng(1)
    weights = random.uniform(-1, 1, FEATURES)
    rows = {name: random.uniform(-8, 8, (5, FEATURES)) for name in CUSTOMERS}
    with tempfile.TemporaryDirectory() as folder:
        paths = tacit.init(Path(folder) / "net", clients=["owner", *CUSTOMERS], port=free_ports(3))
        seats = {path.parent.name: path for path in paths}
        keep(seats, weights)
        plan = Path(folder) / "answer.plan"
        ANSWER.save(plan)
        servers = [serve(seats[name], plan) for name in SERVERS]
        try:
            with ThreadPoolExecutor(len(CUSTOMERS)) as pool:
                scores = list(pool.map(ask, (seats[name] for name in CUSTOMERS), rows.values()))
        finally:
            for server in servers:
                server.terminate()
                server.wait()
    error = np.abs(np.array(scores) - [rows[name] @ weights for name in CUSTOMERS]).max()
    if error > 0.001:
        sys.exit(f"a score is {error} off")
    print(f"{np.size(scores)} answers to {len(CUSTOMERS)} customers, at most {error:.5f} off")
