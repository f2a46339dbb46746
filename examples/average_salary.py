"""The average salary in three companies, and how many earn less; no company shows its payroll.

The numbers of employees are public (they are the shapes), the salaries are not.
"""

import numpy as np
import tacit

COMPANIES = {"ada": 120, "bay": 80, "cob": 200}


@tacit.function
def survey(salaries):
    everyone = tacit.concatenate(salaries)
    average = everyone.mean()
    return {
        "average": tacit.reveal(average),
        "below it": tacit.reveal((everyone < average).sum()),
        "highest": tacit.reveal(everyone.max()),
    }


salaries = [
    tacit.secret(company, shape=(employees,), dtype=tacit.fixed(8), range=(0, 500_000), name="salaries")
    for company, employees in COMPANIES.items()
]
plan = survey.trace(salaries)

random = np.random.default_rng(1)
payrolls = {company: random.normal(60_000, 12_000, employees) for company, employees in COMPANIES.items()}

if __name__ == "__main__":
    with tacit.local() as run:
        result = run(plan, **payrolls)
    for what, value in result.items():
        print(f"{what}: {value:,.0f}")
    print(f"average, computed in the clear: {np.concatenate(list(payrolls.values())).mean():,.0f}")
