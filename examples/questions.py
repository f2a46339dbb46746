"""A dozen questions about data of two owners, in plain NumPy: the same functions answer them in the clear."""

import inspect
import sys

import numpy as np
import tacit

random = np.random.default_rng(20)


def rents(north, south):
    rent = np.concatenate([north, south])
    return {
        "mean": np.mean(rent),
        "spread": np.std(rent),
        "half pay less than": np.median(rent),
        "nine in ten pay less than": np.percentile(rent, 90),
    }


def do_marks_and_hours_go_together(marks, hours):
    return np.corrcoef(marks, hours)[0, 1]


def waiting_times(monday, friday):
    counts, _ = np.histogram(np.append(monday, friday), bins=np.arange(0, 181, 20))
    return counts


def highest_bids(ours, theirs):
    return np.sort(np.concatenate([ours, theirs]))[-4:]


def patients_of_both(clinic, hospital):
    return np.isin(clinic, hospital).sum()


def weights_of_a_credit_score(features, paid):
    w = np.zeros(3)
    for _ in range(15):
        likely = 1 / (1 + np.exp(-(features @ w)))
        w = w - 0.2 * features.T @ (likely - paid) / len(paid)
    return w


def turnover_of_branches(branch, amount):
    return [amount[branch == number].sum() for number in range(4)]


def steepest_rise(last_year, this_year):
    return np.max((this_year - last_year) / last_year)


def inequality(east, west):
    wealth = np.sort(np.concatenate([east, west]))
    part = np.cumsum(wealth) / wealth.sum()
    return 1 - 2 * part.mean()


def odds_of_one_row(scores, row):
    powers = np.exp(scores[row] - scores[row].max())
    return powers / powers.sum()


def after_a_payment(balances, account, amount):
    left = balances.copy()
    left[account] -= amount
    left[left < 0] = 0
    return left


def busiest_hours(visits, capacity):
    free = np.zeros_like(visits)
    free[visits < capacity] = 1
    return free.sum(), np.argmax(visits / capacity)


def money(count, most):
    return np.round(random.uniform(1, most, count), 2)


NUMBER = {"dtype": tacit.fixed(16)}
RENT = NUMBER | {"range": (0, 5_000)}
MARK = NUMBER | {"range": (0, 100)}
MINUTES = NUMBER | {"range": (0, 200)}
WEALTH = NUMBER | {"range": (0, 100_000)}
ID = {"dtype": tacit.int32, "range": (0, 999)}
CREDIT = random.normal(size=(80, 3)).clip(-4, 4).round(3)

# What each question is asked about: arrays, and what everybody knows of them.
QUESTIONS = [
    (rents, [(money(60, 5_000), RENT), (money(40, 5_000), RENT)]),
    (do_marks_and_hours_go_together, [(money(50, 100), MARK), (money(50, 100), MARK)]),
    (waiting_times, [(money(30, 180), MINUTES), (money(45, 180), MINUTES)]),
    (highest_bids, [(money(25, 5_000), RENT), (money(25, 5_000), RENT)]),
    (patients_of_both, [(random.permutation(999)[:60], ID), (random.permutation(999)[:70], ID)]),
    (
        weights_of_a_credit_score,
        [
            (CREDIT, NUMBER | {"range": (-4, 4)}),
            ((CREDIT @ [1, -2, 0.5] > 0).astype(float), NUMBER | {"range": (0, 1)}),
        ],
    ),
    (
        turnover_of_branches,
        [(random.integers(0, 4, 90), {"dtype": tacit.int8, "range": (0, 3)}), (money(90, 5_000), RENT)],
    ),
    (
        steepest_rise,
        [(money(50, 5_000), RENT | {"range": (1, 5_000)}), (money(50, 5_000), RENT | {"range": (1, 5_000)})],
    ),
    (inequality, [(money(40, 100_000), WEALTH), (money(40, 100_000), WEALTH)]),
    (
        odds_of_one_row,
        [
            (random.uniform(-3, 3, (6, 4)), NUMBER | {"range": (-3, 3)}),
            (np.array(2), {"dtype": tacit.int8, "range": (0, 5)}),
        ],
    ),
    (
        after_a_payment,
        [
            (money(12, 5_000), RENT),
            (np.array(7), {"dtype": tacit.int8, "range": (0, 11)}),
            (np.array(4_999.5), RENT),
        ],
    ),
    (
        busiest_hours,
        [
            (random.integers(1, 60, 24), {"dtype": tacit.int16, "range": (0, 60)}),
            (random.integers(20, 50, 24), {"dtype": tacit.int16, "range": (1, 60)}),
        ],
    ),
]


def traced(function, data, learners="all"):
    """The plan of a question about secrets, each of an owner called like its parameter."""
    names = [*inspect.signature(function).parameters]
    secrets = [
        tacit.secret(name, shape=np.shape(array), **known)
        for name, (array, known) in zip(names, data, strict=True)
    ]
    return tacit.function(lambda *values: tacit.reveal(function(*values), learners)).trace(*secrets)


def asked(plan, data, protocol="replicated"):
    """What a plan finds."""
    with tacit.local(protocol) as run:
        return run(plan, **{one.owner: [array] for one, (array, _) in zip(plan.inputs, data, strict=True)})


if __name__ == "__main__":
    for question, data in QUESTIONS:
        found = asked(traced(question, data), data, *sys.argv[1:2])
        clear = question(*(array for array, _ in data))
        print(
            question.__name__.replace("_", " "), f"  in secret: {found}", f"  in the clear: {clear}", sep="\n"
        )
