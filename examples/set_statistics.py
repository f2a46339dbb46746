"""What two lists of patients have in common: how many, and their average age. The lists stay secret.

Every pair is compared, so this is for lists of a few hundred.
"""

import numpy as np
import tacit

COUNT = 150


@tacit.function
def overlap(left, right, age):
    same = left.reshape(-1, 1) == right.reshape(1, -1)
    common = same.any(axis=1)
    return {
        "patients in both": tacit.reveal(common.sum()),
        "sum of their ages": tacit.reveal(tacit.where(common, age, 0).sum()),
    }


plan = overlap.trace(
    tacit.secret("east", shape=(COUNT,), dtype=tacit.int32),
    tacit.secret("west", shape=(COUNT,), dtype=tacit.int32),
    tacit.secret("east", shape=(COUNT,), dtype=tacit.int16, range=(0, 120)),
)

random = np.random.default_rng(3)
east, west = random.choice(400, COUNT, replace=False), random.choice(400, COUNT, replace=False)
ages = random.integers(20, 90, COUNT)

if __name__ == "__main__":
    with tacit.local() as run:
        result = run(plan, east=[east, ages], west=[west])
    count, total = result.values()
    print(f"{count} patients are in both lists, {total / count:.1f} years old on average")
