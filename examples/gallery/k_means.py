"""Two gardens find the groups among all their flowers, and neither shows one."""

import numpy as np
import tacit
from picture import bars
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

STEPS = 8
FIRST = [[5.0, 3.5, 1.5, 0.2], [6.0, 3.0, 4.5, 1.5], [7.0, 3.0, 6.0, 2.0]]


@tacit.function
def groups(one, other):
    flowers = np.concatenate([one, other])
    centres = tacit.learn.k_means(flowers, FIRST, steps=STEPS)
    sizes = np.bincount(tacit.learn.nearest(flowers, centres))
    return tacit.reveal({"centres": centres, "sizes": sizes})


plan = groups.trace(
    tacit.secret("garden", shape=(75, 4), range=(0, 8)), tacit.secret("park", shape=(75, 4), range=(0, 8))
)

flowers = load_iris().data

if __name__ == "__main__":
    with tacit.local() as run:
        found = run(plan, garden=flowers[::2], park=flowers[1::2])
    model = KMeans(3, init=np.array(FIRST), n_init=1, max_iter=STEPS, tol=0, algorithm="lloyd").fit(flowers)
    clear = {"centres": model.cluster_centers_, "sizes": np.bincount(model.predict(flowers))}
    tolerance = 1e-3
    print(*np.round(found["centres"], 2), sep="\n")
    bars("flowers in each group", dict(enumerate(found["sizes"], start=1)))
