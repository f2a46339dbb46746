"""A logistic regression that is trained and asked without anybody showing anything.

Two hospitals hold the patients of one study. They train a model on all of them, by gradient descent with a
sigmoid in three pieces, and only the model is revealed.
"""

import numpy as np
import tacit

ROWS, FEATURES, STEPS = 100, 3, 12
FIXED = tacit.fixed(16)


@tacit.function
def train(x1, y1, x2, y2, steps):
    x, y = tacit.concatenate([x1, x2]), tacit.concatenate([y1, y2])
    weights = np.zeros(FEATURES)
    for _ in range(steps):
        error = tacit.sigmoid3(x @ weights) - y
        gradient = x.T @ error / len(x)
        # Clipping keeps the declared ranges narrow; without it they would grow from step to step.
        weights = tacit.clip(weights - gradient, -8, 8)
    return tacit.reveal(weights)


def declare(hospital):
    features = tacit.secret(hospital, shape=(ROWS, FEATURES), dtype=FIXED, range=(-4, 4))
    return features, tacit.secret(hospital, shape=(ROWS,), dtype=tacit.bool_)


plan = train.trace(*declare("north"), *declare("south"), steps=STEPS)

random = np.random.default_rng(2)
x = np.clip(random.normal(size=(2 * ROWS, FEATURES)), -4, 4)
y = x @ [2.0, -1.0, 0.5] + random.normal(scale=0.5, size=2 * ROWS) > 0

if __name__ == "__main__":
    with tacit.local() as run:
        weights = run(plan, north=[x[:ROWS], y[:ROWS]], south=[x[ROWS:], y[ROWS:]])
    print("weights:", np.round(weights, 3))
    print(f"right on {np.mean((x @ weights > 0) == y):.0%} of the patients")
    print(f"{run.report.rounds} rounds, {sum(run.report.bytes.values()):,} bytes, {run.report.seconds:.2f} s")
