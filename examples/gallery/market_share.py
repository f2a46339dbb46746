"""Each seller learns its share of a market, the authority how concentrated it is; no turnover is shown."""

import numpy as np
import tacit
from picture import bars

SELLERS = ["north", "south", "east", "west", "harbour"]
MONTHS = 12


@tacit.function
def market(turnovers):
    totals = tacit.stack([turnover.sum() for turnover in turnovers])
    shares = totals / totals.sum()
    own = {seller: tacit.reveal(shares[place], to=seller) for place, seller in enumerate(SELLERS)}
    # The Herfindahl-Hirschman index, of shares in percent: above 1,800 a market is highly concentrated.
    index = ((shares * 100) ** 2).sum()
    return {"shares": own, "index": tacit.reveal(index, to="authority")}


plan = market.trace(
    [tacit.secret(seller, shape=(MONTHS,), range=(0, 1e6), name="turnover") for seller in SELLERS]
)

random = np.random.default_rng(2)
turnovers = {
    seller: np.round(random.uniform(1e4, 4e5) * random.uniform(0.8, 1.2, MONTHS)) for seller in SELLERS
}

if __name__ == "__main__":
    with tacit.local() as run:
        found = run(plan, **{seller: [turnover] for seller, turnover in turnovers.items()})
    totals = np.array([turnover.sum() for turnover in turnovers.values()])
    shares = totals / totals.sum()
    clear = {"shares": dict(zip(SELLERS, shares, strict=True)), "index": ((shares * 100) ** 2).sum()}
    # A share is off by half a step of 2**-16; the index by 20,000 times that, 0.15, and where it is rounded.
    tolerance = {"shares": 2**-16, "index": 0.2}
    print(f"the market's index is {found['index']:.0f}")
    bars("what each seller alone learns: its share", found["shares"])
