"""Medians and quartiles of patients in two clinics, of whom neither shows one."""

import numpy as np
import tacit
from picture import bars
from sklearn.datasets import load_diabetes

COLUMNS = ["age", "bmi", "bp"]
ROWS = 60


@tacit.function
def survey(east, west):
    patients = np.concatenate([east, west])
    return {
        name: tacit.reveal(np.percentile(patients[:, place], [25, 50, 75]))
        for place, name in enumerate(COLUMNS)
    }


shape = (ROWS, len(COLUMNS))
plan = survey.trace(
    tacit.secret("east", shape=shape, range=(0, 200)), tacit.secret("west", shape=shape, range=(0, 200))
)

patients = load_diabetes(as_frame=True, scaled=False).data[COLUMNS]
east, west = patients[:ROWS], patients[ROWS : 2 * ROWS]

if __name__ == "__main__":
    with tacit.local() as run:
        found = run(plan, east=east, west=west)
    both = patients[: 2 * ROWS]
    clear = {name: both[name].quantile([0.25, 0.5, 0.75]).to_numpy() for name in COLUMNS}
    tolerance = 1e-4
    for name, quartiles in found.items():
        print(name, *np.round(quartiles, 2))
    bars("medians of both clinics", {name: quartiles[1] for name, quartiles in found.items()})
