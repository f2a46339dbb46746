"""A sealed-bid auction: who wins, and the second highest bid, which is the price; no other bid is known."""

import numpy as np
import tacit

BIDDERS = ["ann", "ben", "cat", "dan"]


@tacit.function
def auction(bids):
    bids = tacit.stack(bids)
    winner = bids.argmax()
    # The winner's bid is taken out: nobody may know which one that is, so there is no index.
    others = tacit.where(np.arange(len(bids)) == winner, 0, bids)
    return tacit.reveal(winner), tacit.reveal(others.max())


plan = auction.trace([tacit.secret(who, dtype=tacit.int32, range=(0, 10_000), name="bid") for who in BIDDERS])

if __name__ == "__main__":
    with tacit.local() as run:
        winner, price = run(plan, ann=420, ben=1_300, cat=1_250, dan=90)
    print(f"{BIDDERS[winner]} wins and pays {price}")
