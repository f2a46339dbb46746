"""How much less do women earn than men, among all employers of a town, none of whom shows a salary?"""

import numpy as np
import pandas as pd
import tacit
from picture import bars

EMPLOYERS = {"bakery": 40, "mill": 80, "port": 120}


@tacit.function
def wage_gap(pay, woman):
    pay, woman = np.concatenate(pay), np.concatenate(woman)
    women, men = pay[woman], pay[~woman]
    gap = 1 - women.mean() / men.mean()
    return tacit.reveal({"women": women.mean(), "men": men.mean(), "gap": gap})


def declare(employer, staff):
    pay = tacit.secret(employer, shape=(staff,), range=(0, 20_000), name="pay")
    return pay, tacit.secret(employer, shape=(staff,), dtype=tacit.bool_, name="woman")


declared = [declare(*employer) for employer in EMPLOYERS.items()]
plan = wage_gap.trace([pay for pay, _ in declared], [woman for _, woman in declared])

random = np.random.default_rng(1)
tables = {}
for employer, staff in EMPLOYERS.items():
    woman = random.random(staff) < 0.45
    pay = np.round(random.lognormal(8.2, 0.3, staff).clip(1500, 19_000) * np.where(woman, 0.88, 1), 2)
    tables[employer] = pd.DataFrame({"pay": pay, "woman": woman})

if __name__ == "__main__":
    with tacit.local() as run:
        found = run(
            plan, **{name: {"pay": one["pay"], "woman": one["woman"]} for name, one in tables.items()}
        )
    means = pd.concat(tables.values()).groupby("woman")["pay"].mean()
    clear = {"women": means[True], "men": means[False], "gap": 1 - means[True] / means[False]}
    tolerance = 1e-4
    print(f"women {found['women']:.2f}, men {found['men']:.2f}: {found['gap']:.1%} less")
    bars("mean pay in the town", {"women": found["women"], "men": found["men"]})
