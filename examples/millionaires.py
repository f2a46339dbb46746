"""Who of two is richer, in how many of a thousand accounts, and by how much in all?"""

import numpy as np
import tacit


@tacit.function
def richer(a, b):  # whose numbers are larger, and by how much in all?
    return tacit.reveal((a > b).sum(), to="all"), tacit.reveal((a - b).sum(), to="alice")


a = tacit.secret("alice", shape=(1000,), dtype=tacit.fixed(16), range=(0, 1e6))
b = tacit.secret("bob", shape=(1000,), dtype=tacit.fixed(16), range=(0, 1e6))
plan = richer.trace(a, b)

if __name__ == "__main__":
    print(plan.cost(net="wan"))  # bytes, rounds, seconds, per protocol and per line; nothing has run
    with tacit.local(protocol="replicated") as run:  # all parties inside this process
        print(run(plan, alice=[np.random.rand(1000) * 1e6], bob=[np.random.rand(1000) * 1e6]))
