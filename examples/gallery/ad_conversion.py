"""Did an advertisement sell anything? The network knows who saw it, the shop who bought; neither says who."""

import numpy as np
import tacit
from picture import bars

SEEN, CONTROL, BUYERS = 120, 120, 60
PEOPLE = 100_000


@tacit.function
def conversion(seen, control, buyers):
    shown = np.isin(seen, buyers).mean()
    others = np.isin(control, buyers).mean()
    return tacit.reveal({"shown": shown, "others": others, "lift": shown - others})


def declare(owner, count):
    return tacit.secret(owner, shape=(count,), dtype=tacit.int32, range=(0, PEOPLE - 1))


plan = conversion.trace(declare("network", SEEN), declare("network", CONTROL), declare("shop", BUYERS))

random = np.random.default_rng(3)
people = random.permutation(PEOPLE)
seen, control = people[:SEEN], people[SEEN : SEEN + CONTROL]
buyers = random.permutation(np.r_[seen[:21], control[:9], people[-30:]])

if __name__ == "__main__":
    with tacit.local() as run:
        found = run(plan, seen=seen, control=control, buyers=buyers)
    shown, others = (np.isin(group, buyers).mean() for group in (seen, control))
    clear = {"shown": shown, "others": others, "lift": shown - others}
    tolerance = 2**-15
    print(f"{found['shown']:.1%} of those who saw it bought, {found['others']:.1%} of the others")
    bars("share of people who bought", {"saw it": found["shown"], "didn't": found["others"]})
