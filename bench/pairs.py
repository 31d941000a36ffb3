"""What pairs of measurements say: how many there are to be, their median with its interval, and the verdict on a target.

The interval is the distribution-free one of the median: of n sorted samples, the k-th and the (n+1-k)-th, with the
greatest k for which at least 95 % of all sets of n samples would have the true median between them (the binomial
distribution of n tosses of a coin). It assumes nothing about how the samples are distributed. Below six samples no
interval reaches 95 %: then it is the least and the greatest, with the level that they do reach.

How many pairs there are to be is known once the least number of them is there: from how far their ratios are from one
another, which says nothing of where they lie, and the width that is wanted.
"""

from functools import lru_cache
from math import sqrt
from statistics import NormalDist, quantiles

LEVEL = 0.95
PAIRS_AT_LEAST, PAIRS_AT_MOST = 8, 400  # of the most, an hour has room for few cases

# Percent of overhead. "each" and "mean" are limits of the upper end of the interval; a strict one may not be reached.
# "width" is how far the ends of a case's interval may be from its median: a third of the limit, half of it where the
# noise is great. "paper" is what "Efficient Buffer Overflow Detection on GPU" measured: mean and greatest.
TARGETS = {
    "coarse": {"count": 10, "each": 1.5, "mean": 0.5, "width": 0.5, "strict": False, "paper": {"mean": 4.2, "each": 9.7}},
    "training": {"count": 4, "each": 0.5, "mean": 0.3, "width": 0.25, "strict": True, "paper": {"mean": 0.8, "each": 1.8}},
    "two GPUs": {"count": 1, "each": 0.5, "mean": None, "width": 0.25, "strict": True, "paper": {}},
    "frameworks": {"count": 1, "each": 0.5, "mean": None, "width": 0.25, "strict": True, "paper": {}},
    "decode": {"count": 3, "each": 1, "mean": None, "width": 0.5, "strict": True, "paper": {}},
    "unified": {"count": 1, "each": 0.5, "mean": None, "width": 0.25, "strict": True, "paper": {}},
    "tensors, a sample": {"count": 2, "each": 1.5, "mean": None, "width": 0.5, "strict": False, "paper": {}},
    "tensors, beside PyTorch's pool": {"count": 1, "each": 2.5, "mean": None, "width": 0.8, "strict": False, "paper": {}},
    "tensors, all": {"count": 2, "each": 25, "mean": None, "width": 5, "strict": False, "paper": {}},
}


# ns of a sweep for each live buffer, of the case of the group `footprint` with so many.
SWEEP = {"name": "100000 buffers of 4 KiB", "limit": 35}


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


@lru_cache(maxsize=None)
def rank(n):
    """(k, level): of n sorted samples the interval is from the k-th to the (n+1-k)-th, and how likely it holds the median."""
    k, exactly, fewer = 1, n, 1  # of the 2**n outcomes of n tosses, those with k heads, and with fewer
    while k + 1 <= n // 2 and 2 * (fewer + exactly) / 2**n <= 1 - LEVEL:
        fewer += exactly
        exactly = exactly * (n - k) // (k + 1)
        k += 1
    return k, 1 - 2 * fewer / 2**n


def interval(values):
    """(low, high, level) of the median."""
    ordered, (k, level) = sorted(values), rank(len(values))
    return ordered[k - 1], ordered[-k], level


def ratios(slow, fast):
    """There is none to nothing, as to the memory that ten buffers take natively."""
    return [s / f for s, f in zip(slow, fast) if f]


def apart(values):
    """A against A: each run without GMOD beside the one before it."""
    return ratios(values[1:], values[:-1])


def percent(ratio):
    return (ratio - 1) * 100


# ---- how many pairs ----


def noise(values):
    """The standard deviation of ratios, in percent, as if they were normal: from the middle half of them, so that a single
    disturbed run does not decide how many there are to be.
    """
    low, _, high = quantiles(values, n=4)
    return 100 * (high - low) / 1.349


def half_width(n, deviation):
    """How far the ends of the interval of n normal samples are from their middle, as a rule (Blom 1958)."""
    k, _ = rank(n)
    return deviation * NormalDist().inv_cdf((n + 1 - k - 0.375) / (n + 0.25))


def pairs_for(noise_percent, width_percent):
    """The fewest whose interval is so narrow, if the noise is normal; both orders as often. The most, if no number is."""
    counts = range(PAIRS_AT_LEAST, PAIRS_AT_MOST, 2)
    return next((n for n in counts if half_width(n, noise_percent) <= width_percent), PAIRS_AT_MOST)


def planned(group, found):
    """(pairs, noise, width): what a case of the group is to have, by the first of its ratios; all None where it has no target,
    or too few of them yet.
    """
    if group not in TARGETS or len(found) < PAIRS_AT_LEAST:
        return None, None, None
    found, width = noise(found[:PAIRS_AT_LEAST]), TARGETS[group]["width"]
    return pairs_for(found, width), found, width


# ---- verdicts ----


def missing(row):
    """Why the row cannot have a verdict yet, or None: it has not all the pairs that it is to have."""
    wanted = row["planned"] or PAIRS_AT_LEAST
    return f"{row['pairs']} of {wanted} pairs" if row["pairs"] < wanted else None


def judge(low, high, limit, strict):
    """pass: even the upper end keeps the limit; miss: not even the lower end does."""
    if high < limit or (high == limit and not strict):
        return "pass"
    if low > limit or (low == limit and strict):
        return "miss"
    return "open"


def verdict(group, name, what, limit, value, low, high, outcome, why=None):
    target = TARGETS[group]
    return {
        "group": group,
        "name": name,
        "limit_percent": limit,
        "strict": target["strict"],
        "value_percent": value,
        "low_percent": low,
        "high_percent": high,
        "paper_percent": target["paper"].get(what),
        "verdict": outcome,
        "why": why,
    }


def verdict_each(group, row):
    limit, strict = TARGETS[group]["each"], TARGETS[group]["strict"]
    if row["status"] != "ok":
        outcome = "fail" if row["status"] in ("failed", "timed out") else "no result"
        return verdict(group, row["name"], "each", limit, None, None, None, outcome, row["error"])
    value, low, high = (percent(row[key]) for key in ("ratio_median", "ratio_low", "ratio_high"))
    why = missing(row)
    if why:
        return verdict(group, row["name"], "each", limit, value, low, high, "open", why)
    return verdict(group, row["name"], "each", limit, value, low, high, judge(low, high, limit, strict))


def verdict_mean(group, rows):
    """The mean of the medians. Its interval: theirs are independent, so the distances to their ends add up as squares."""
    target = TARGETS[group]
    good = [row for row in rows if row["status"] == "ok"]
    if len(good) < target["count"]:
        why = f"{len(good)} of {target['count']} have a result"
        outcome = "fail" if any(row["status"] in ("failed", "timed out") for row in rows) else "no result"
        return verdict(group, "mean", "mean", target["mean"], None, None, None, outcome, why)
    value = percent(sum(row["ratio_median"] for row in good) / len(good))
    low = value - 100 * sqrt(sum((row["ratio_median"] - row["ratio_low"]) ** 2 for row in good)) / len(good)
    high = value + 100 * sqrt(sum((row["ratio_high"] - row["ratio_median"]) ** 2 for row in good)) / len(good)
    if any(map(missing, good)):
        return verdict(group, "mean", "mean", target["mean"], value, low, high, "open", "pairs are missing of some")
    outcome = judge(low, high, target["mean"], target["strict"])
    return verdict(group, "mean", "mean", target["mean"], value, low, high, outcome)


def verdict_sweep(row):
    """A run cuts its time into pieces, and gives their median with its interval."""
    limit = SWEEP["limit"]
    said = {"group": row["group"], "name": f"a sweep of {row['name']}", "strict": False, "limit_ns": limit}
    if row["status"] != "ok":
        outcome = "fail" if row["status"] in ("failed", "timed out") else "no result"
        return {**said, "verdict": outcome, "why": row["error"]}
    value, low, high = (row["values"][key] for key in ("ns_per_buffer", "ns_low", "ns_high"))
    outcome = judge(low, high, limit, strict=False)
    return {**said, "value_ns": value, "low_ns": low, "high_ns": high, "verdict": outcome, "why": None}


def verdicts(results):
    """All that these rows of results allow, in their order, the mean of a group behind its rows."""
    said = []
    for group, target in TARGETS.items():
        rows = [row for row in results if row["group"] == group and row["variant"] == "gmod"]
        said += [verdict_each(group, row) for row in rows]
        if rows and target["mean"] is not None:
            said.append(verdict_mean(group, rows))
    sweeps = [row for row in results if row["group"] == "footprint" and row["name"] == SWEEP["name"]]
    return said + [verdict_sweep(row) for row in sweeps if row["variant"] == "gmod"]

