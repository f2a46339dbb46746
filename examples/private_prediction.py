"""A hospital's model tells patients whether a tumour may be malignant; neither shows the other anything.

The hospital trains a logistic regression in the clear. It calls a tumour malignant from a probability of one
in ten on, to miss none. Patients learn that for their measurements, and no probability; nobody learns the
measurements, the model or the threshold.
"""

import numpy as np
import tacit
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

data = load_breast_cancer()
malignant = data.target_names[data.target] == "malignant"
known, queries, answers, truth = train_test_split(data.data, malignant, random_state=0)

# The owner, in the clear. Bounds are public, and so are the units: powers of two that features don't reach.
estimator = make_pipeline(StandardScaler(), LogisticRegression()).fit(known, answers)
model = tacit.learn.from_sklearn(
    estimator,
    threshold=0.1,
    bounds=tacit.learn.Bounds(weights=256, queries=2, bias=256),
    units=2.0 ** np.ceil(np.log2(data.data.max(axis=0))),
)

# What all others are told of the model; from it everybody makes the same plan.
public = model.public
plan = public.plan(len(queries), owner="hospital", client="patients")

if __name__ == "__main__":
    with tacit.local(protocol="astra") as run:
        outputs = run(plan, patients=public.queries(queries), hospital=model.parameters())
    predictions = public.decode(outputs)
    clear = estimator.predict_proba(queries)[:, 1] > 0.1
    print(f"{np.mean(predictions == clear):.1%} as in the clear, {np.mean(predictions == truth):.1%} right")
    print(f"{run.report.rounds} rounds, {sum(run.report.bytes.values()):,} bytes")
