"""What pairs of measurements say: a median with its interval, and the verdict against a target.

The interval is the distribution-free one of the median: of n sorted samples, the k-th and the (n+1-k)-th, with the
greatest k for which at least 95 % of all sets of n samples would have the true median between them (the binomial
distribution of n tosses of a coin). It assumes nothing about how the samples are distributed. Below six samples no
interval reaches 95 %: then it is the least and the greatest, with the level that they do reach.
"""

from math import ceil, comb, sqrt

LEVEL = 0.95
PAIRS_AT_LEAST = 7

# Percent of overhead. "each" and "mean" are limits of the upper end of the interval; a strict one may not be reached.
# "paper" is what "Efficient Buffer Overflow Detection on GPU" measured: mean and greatest.
TARGETS = {
    "coarse": {"count": 10, "each": 1.5, "mean": 0.5, "strict": False, "paper": {"mean": 4.2, "each": 9.7}},
    "training": {"count": 4, "each": 0.5, "mean": 0.3, "strict": True, "paper": {"mean": 0.8, "each": 1.8}},
    "frameworks": {"count": 3, "each": 0.5, "mean": None, "strict": True, "paper": {}},
}


# ns of a sweep for each live buffer, of the case of the group `footprint` with so many.
SWEEP = {"name": "100000 buffers of 4 KiB", "limit": 35}


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def lower_quartile(values):
    """The least of them that a quarter of them do not exceed."""
    return sorted(values)[ceil(len(values) / 4) - 1]


def coverage(n, k):
    """How likely the true median lies between the k-th least and the k-th greatest of n samples."""
    return 1 - 2 * sum(comb(n, i) for i in range(k)) / 2**n


def interval(values):
    """(low, high, level) of the median."""
    ordered, k = sorted(values), 1
    while k + 1 <= len(ordered) // 2 and coverage(len(ordered), k + 1) >= LEVEL:
        k += 1
    return ordered[k - 1], ordered[-k], coverage(len(ordered), k)


def ratios(slow, fast):
    """There is none to nothing, as to the memory that ten buffers take natively."""
    return [s / f for s, f in zip(slow, fast) if f]


def apart(values):
    """A against A: each run without GMOD beside the one before it."""
    return ratios(values[1:], values[:-1])


def percent(ratio):
    return (ratio - 1) * 100


# ---- verdicts ----


def enough(row):
    return row["pairs"] >= PAIRS_AT_LEAST and row["interval_level"] >= LEVEL


def judge(low, high, limit, strict):
    """pass: even the upper end keeps the limit; miss: not even the lower end does."""
    if high < limit or (high == limit and not strict):
        return "pass"
    if low > limit or (low == limit and strict):
        return "miss"
    return "inconclusive"


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
    if not enough(row):
        why = f"{row['pairs']} of {PAIRS_AT_LEAST} pairs"
        return verdict(group, row["name"], "each", limit, value, low, high, "inconclusive", why)
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
    if not all(map(enough, good)):
        why = f"fewer than {PAIRS_AT_LEAST} pairs of some"
        return verdict(group, "mean", "mean", target["mean"], value, low, high, "inconclusive", why)
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


def widest_first(rows, mean):
    """Names, first the one whose interval keeps the mean's open most."""
    end = "ratio_high" if mean["value_percent"] <= mean["limit_percent"] else "ratio_low"
    return [row["name"] for row in sorted(rows, key=lambda row: -abs(row[end] - row["ratio_median"]))]


def undecided(results):
    """What more pairs could help to a verdict: of each group where there is something, in the order of the targets,
    (group, names without a verdict, other names that the mean is waiting for).
    """
    open_ones = [one for one in verdicts(results) if one["verdict"] == "inconclusive" and one["group"] in TARGETS]
    found = []
    for group in dict.fromkeys(one["group"] for one in open_ones):
        ours = {one["name"]: one for one in open_ones if one["group"] == group}
        mean = ours.pop("mean", None)
        good = [row for row in results if row["group"] == group and row["variant"] == "gmod" and row["status"] == "ok"]
        others = [row for row in good if row["name"] not in ours]
        found.append((group, list(ours), widest_first(others, mean) if mean else []))
    return found
