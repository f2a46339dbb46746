"""Which treatment helps whom? A hospital, a laboratory and a pharmacy join what they know of patients."""

import numpy as np
import pandas as pd
import tacit
from picture import bars
from tacit import tables

PATIENTS = 400
TREATMENTS = ["diet", "enzyme", "none"]

person = tables.integer(0, 9999)
hospital = tacit.table(
    "hospital",
    {"patient": person, "born": tables.date("1930-01-01", "2020-12-31"), "score": tables.integer(0, 100)},
    rows=PATIENTS,
    unique="patient",
)
laboratory = tacit.table(
    "laboratory",
    {"patient": person, "variant": tables.category(["a", "b", "wild"])},
    rows=600,
    unique="patient",
)
pharmacy = tacit.table(
    "pharmacy",
    {"patient": person, "treatment": tables.category(TREATMENTS), "doses": tables.integer(0, 365)},
    rows=500,
    unique="patient",
)


@tacit.function
def cohort(hospital, laboratory, pharmacy):
    carriers = laboratory[laboratory["variant"] != "wild"]
    known = hospital.join(carriers, on="patient").join(pharmacy, on="patient", how="left")
    known = known.assign(treatment=lambda t: t["treatment"].fill_null("none"))
    adults = known[known["born"] < "2003-01-01"]
    # Nobody is to learn of groups that are so small that they tell of a patient.
    groups = adults.group_by("variant", "treatment").agg(patients="count", score=("score", "mean"))
    return tacit.reveal(groups[groups["patients"] >= 5], to="hospital")


plan = cohort.trace(hospital, laboratory, pharmacy)

random = np.random.default_rng(7)
everybody = random.permutation(2000)
ill, tested, treated = everybody[:380], everybody[100:650], everybody[50:480]
given = {
    "hospital": pd.DataFrame(
        {
            "patient": ill,
            "born": pd.Timestamp("1930-01-01")
            + pd.to_timedelta(random.integers(0, 33_000, len(ill)), unit="D"),
            "score": random.integers(20, 101, len(ill)),
        }
    ),
    "laboratory": pd.DataFrame(
        {"patient": tested, "variant": random.choice(["a", "b", "wild"], len(tested))}
    ),
    "pharmacy": pd.DataFrame(
        {
            "patient": treated,
            "treatment": random.choice(TREATMENTS[:2], len(treated)),
            "doses": random.integers(1, 366, len(treated)),
        }
    ),
}


def in_the_clear():
    carriers = given["laboratory"].query("variant != 'wild'")
    known = given["hospital"].merge(carriers, on="patient").merge(given["pharmacy"], on="patient", how="left")
    known["treatment"] = known["treatment"].fillna("none")
    adults = known[known["born"] < "2003-01-01"]
    groups = adults.groupby(["variant", "treatment"], as_index=False)
    result = groups.agg(patients=("score", "size"), score=("score", "mean"))
    return result[result["patients"] >= 5]


def by_group(frame):
    rows = frame.itertuples(index=False)
    return {f"{row.variant}, {row.treatment}": [row.patients, row.score] for row in rows}


if __name__ == "__main__":
    with tacit.local() as run:
        found = by_group(run(plan, **given))
    clear, tolerance = by_group(in_the_clear()), 1e-4
    for group, (patients, score) in found.items():
        print(f"variant {group}: {patients} patients, mean score {score:.1f}")
    bars("mean score of adults with a variant", {group: score for group, (_, score) in found.items()})
