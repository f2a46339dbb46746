"""Two banks train one model of who pays back, on customers that neither shows, and score with it."""

import numpy as np
import tacit
from picture import bars
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

NAMES = ["income", "debt", "years", "late"]
ROWS = 120


@tacit.function
def train(x1, paid1, x2, paid2):
    x, paid = np.concatenate([x1, x2]), np.concatenate([paid1, paid2])
    weights, bias = tacit.learn.logistic_regression(x, paid, alpha=1.0, epochs=6)
    return tacit.reveal({"weights": weights, "bias": bias}, to=["first", "second"])


def declare(bank):
    x = tacit.secret(bank, shape=(ROWS, len(NAMES)), range=(-8, 8), name="x")
    return x, tacit.secret(bank, shape=(ROWS,), dtype=tacit.bool_, name="paid")


plan = train.trace(*declare("first"), *declare("second"))

x, paid = make_classification(
    2 * ROWS, 4, n_informative=3, n_redundant=1, n_clusters_per_class=1, random_state=4
)
x, paid = x.clip(-8, 8), paid.astype(bool)

if __name__ == "__main__":
    with tacit.local() as run:
        found = run(plan, first=[x[:ROWS], paid[:ROWS]], second=[x[ROWS:], paid[ROWS:]])
    model = LogisticRegression(tol=1e-10).fit(x, paid)
    clear = {"weights": model.coef_[0], "bias": model.intercept_[0]}
    tolerance = 5e-3
    right = np.mean((x @ found["weights"] + found["bias"] > 0) == paid)
    print(f"right about {right:.0%} of customers; one bank's own model about", end=" ")
    print(f"{LogisticRegression().fit(x[:ROWS], paid[:ROWS]).score(x, paid):.0%}")
    bars("weights of the joint model", dict(zip(NAMES, found["weights"], strict=True)))
