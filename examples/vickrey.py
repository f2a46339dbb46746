"""A Vickrey auction: the highest bid wins and pays the second highest; nothing else is known of any bid.

Two parties compute, and the bidders are their clients: bids stay secret as long as one of the two is honest.

    python vickrey.py --bids 1000

So many bidders are in one process here; a deployment has at most 256 parties and clients together.
"""

import argparse

import numpy as np
import tacit

HIGHEST = 1_000_000


@tacit.function
def vickrey(bids):
    # A tournament, in which half of those who are left fall out at a time. Rows are the bids, who bids, and
    # whom each has outbid so far: the second highest bid is among these. It takes n + log n comparisons.
    rows = tacit.stack([tacit.stack(bids), np.arange(len(bids))])
    while rows.shape[1] > 1:
        if rows.shape[1] % 2:
            rows = tacit.concatenate([rows, np.zeros((len(rows), 1), int)], axis=1)
        left, right = rows[:, 0::2], rows[:, 1::2]
        outbid = left[0] < right[0]
        losers = tacit.where(outbid, left[:1], right[:1])
        rows = tacit.concatenate([tacit.where(outbid, right, left), losers])
    return tacit.reveal(rows[1, 0]), tacit.reveal(rows[2:, 0].max())


def names(count):
    return [f"bidder-{number}" for number in range(count)]


def trace(count):
    bids = [tacit.secret(who, dtype=tacit.int32, range=(0, HIGHEST), name="bid") for who in names(count)]
    return vickrey.trace(bids)


def run_auction(bids, protocol="mascot"):
    with tacit.local(protocol) as run:
        winner, price = run(trace(len(bids)), **dict(zip(names(len(bids)), bids, strict=True)))
    return winner, price, run.report


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bids", type=int, default=10)
    parser.add_argument("--protocol", default="mascot")
    args = parser.parse_args()
    if args.bids < 2:
        parser.error("an auction at the second price takes two bids or more")
    bids = np.random.default_rng().integers(0, HIGHEST, args.bids, endpoint=True)
    winner, price, report = run_auction(bids, args.protocol)
    print(f"bidder {winner} wins and pays {price}: {report.rounds} rounds, {report.seconds:.1f} s")
    # The same in the clear; of equal bids the first wins.
    assert (winner, price) == (np.argmax(bids), np.sort(bids)[-2])
