#!/usr/bin/env bash
# The bench's statistics, and the verdicts that go by them.
. "$(dirname "$0")/testlib"
needs_bench_modules

# ---- statistics ----

python "the median" <<'PYTHON'
from pairs import median
assert median([3, 1, 2]) == 2 and median([4, 1, 2, 3]) == 2.5 and median([7]) == 7
PYTHON

# The ranks of tables of the sign test.
python "its interval is the narrowest of order statistics that holds 95 %" <<'PYTHON'
from pairs import interval
for n, k, level in ((7, 1, 0.9844), (8, 1, 0.9922), (9, 2, 0.9609), (10, 2, 0.9785), (12, 3, 0.9614), (20, 6, 0.9586),
                    (25, 8, 0.9567)):
    low, high, found = interval([7 * i % n + 1 for i in range(n)] if n % 7 else range(n, 0, -1))
    assert (low, high, round(found, 4)) == (k, n + 1 - k, level), (n, low, high, found)
PYTHON
python "of few samples it is their range, and says how little that holds" <<'PYTHON'
from pairs import interval
assert interval([5]) == (5, 5, 0) and interval([2, 1]) == (1, 2, 0.5) and interval([3, 1, 2]) == (1, 3, 0.75)
assert interval([1, 2, 3, 4, 5])[2] < 0.95 <= interval([1, 2, 3, 4, 5, 6])[2]
PYTHON
python "A against A is each run beside the one before" <<'PYTHON'
from pairs import apart
assert apart([2, 3, 6]) == [1.5, 2] and apart([1]) == []
PYTHON
python "95 % of such intervals hold the true median" <<'PYTHON'
import random
from pairs import interval
draw = random.Random(1)
held = sum(low <= 0 <= high for low, high, _ in (interval([draw.gauss(0, 1) for _ in range(9)]) for _ in range(4000)))
assert 0.95 < held / 4000 < 0.975, held
PYTHON

# ---- how many pairs ----

python "so many pairs that the interval is as narrow as wanted, in both orders as often" <<'PYTHON'
from pairs import half_width, pairs_for
for noise, width, pairs in ((0.01, 0.5, 8), (0.5, 0.5, 12), (1, 0.5, 30), (0.5, 0.25, 30), (3, 0.5, 234), (9, 0.5, 400)):
    assert pairs_for(noise, width) == pairs, (noise, width, pairs_for(noise, width))
    assert pairs == 400 or half_width(pairs, noise) <= width and (pairs == 8 or half_width(pairs - 2, noise) > width)
PYTHON
python "and it is, in runs of normal noise" <<'PYTHON'
import random
from statistics import median
from pairs import interval, pairs_for
draw = random.Random(2)
for noise in (0.4, 1, 1.5):
    found = [interval([draw.gauss(0, noise) for _ in range(pairs_for(noise, 0.5))]) for _ in range(600)]
    assert 0.3 < median((high - low) / 2 for low, high, _ in found) < 0.52, noise
PYTHON
python "the noise is that of a pair, whatever disturbed a run of it" <<'PYTHON'
import random
from pairs import noise
draw = random.Random(3)
found = [noise([draw.gauss(1.1, 0.01) for _ in range(8)]) for _ in range(2000)]
assert 0.9 < sum(found) / len(found) < 1.2, sum(found) / len(found)
assert abs(noise([1, 1.01] * 4) - noise([1, 1.01] * 3 + [1, 9])) < 0.1
PYTHON
python "the plan is of what has a target, and goes by the first pairs" <<'PYTHON'
from pairs import planned
ratios = [1, 1.006] * 4
count, noise, width = planned("coarse", ratios)
assert (count, round(noise, 2), width) == (10, 0.44, 0.5)
assert planned("coarse", ratios + [2, 9]) == (count, noise, width)
assert planned("coarse", ratios[:7]) == planned("short", ratios) == (None, None, None)
PYTHON

# What the whole method does where the truth is the limit itself: runs whose noise is normal, heavy-tailed (some are
# disturbed by tens of percent) or of two kinds (where buffers lie makes a process one or the other), a drift, and an
# advantage for who comes second. Of those a pass would be false.
cat >"$work/method.py" <<'PYTHON'
import functools
import random
import pairs

LIMIT, BENCHES = 0.5, 1000
pairs_for = functools.lru_cache(pairs.pairs_for)

def normal(draw):
    return draw.gauss(1, 0.004)

def disturbed(draw):
    return draw.gauss(1, 0.002) * (1 + (draw.random() < 0.1) * draw.uniform(0, 0.3))

def two_kinds(draw):
    return draw.gauss(1, 0.001) * (1.004 if draw.random() < 0.3 else 1)

def bench(draw, run, truth, drift=0.0, second=0.0):
    """The verdict on a case whose overhead is truth percent."""
    count, ratios = pairs.PAIRS_AT_LEAST, []
    while len(ratios) < count:
        i = len(ratios)
        times = [run(draw) * (1 + drift * i / 30), run(draw) * (1 + drift * (i + 0.5) / 30) * (1 - second)]
        native, gmod = reversed(times) if i % 2 else times
        ratios.append(gmod * (1 + truth / 100) / native)
        if len(ratios) == count == pairs.PAIRS_AT_LEAST:
            count = pairs_for(round(pairs.noise(ratios), 1), 0.25)
    low, high, level = pairs.interval(ratios)
    assert level >= pairs.LEVEL
    return pairs.judge(pairs.percent(low), pairs.percent(high), LIMIT, True)

def share(outcome, *arguments, **more):
    draw = random.Random(7)
    return sum(bench(draw, *arguments, **more) == outcome for _ in range(BENCHES)) / BENCHES
PYTHON
PYTHONPATH=$PYTHONPATH:$work
python "at the limit at most 5 % pass, whatever the noise is like" <<'PYTHON'
from method import *
for run in (normal, disturbed, two_kinds):
    assert share("pass", run, LIMIT) <= 0.05, (run.__name__, share("pass", run, LIMIT))
PYTHON
python "nor more where the machine drifts, or who comes second has an advantage" <<'PYTHON'
from method import *
for more in ({"drift": 0.05}, {"second": 0.003}):
    assert share("pass", normal, LIMIT, **more) <= 0.05, more
PYTHON
python "and what costs nothing passes" <<'PYTHON'
from method import *
assert share("pass", normal, 0) >= 0.75, share("pass", normal, 0)
assert share("miss", normal, 1) >= 0.75, share("miss", normal, 1)
PYTHON
python "the mean of ten at its limit passes as seldom" <<'PYTHON'
import random
import pairs
draw, passed = random.Random(5), 0
for _ in range(600):
    rows = []
    for i in range(10):
        ratios = [draw.gauss(1.005, 0.004 * (1 + i / 5)) for _ in range(12)]
        low, high, level = pairs.interval(ratios)
        rows.append({"group": "coarse", "name": str(i), "variant": "gmod", "status": "ok", "error": None, "pairs": 12,
                     "planned": 12, "ratio_median": pairs.median(ratios), "ratio_low": low, "ratio_high": high})
    passed += pairs.verdict_mean("coarse", rows)["verdict"] == "pass"
assert passed / 600 <= 0.05, passed
PYTHON

# ---- verdicts ----

cat >"$work/rows.py" <<'PYTHON'
import pairs
def row(name, low, middle, high, group="coarse", count=8, status="ok", planned=8):
    return {"group": group, "name": name, "variant": "gmod", "status": status, "error": None, "pairs": count,
            "planned": planned, "ratio_median": 1 + middle / 100, "ratio_low": 1 + low / 100, "ratio_high": 1 + high / 100}
def outcome(rows):
    return {v["name"]: v["verdict"] for v in pairs.verdicts(rows)}
PYTHON
PYTHONPATH=$PYTHONPATH:$work
python "a verdict goes by the ends of the interval" <<'PYTHON'
from rows import *
got = outcome([row("a", -1, 0, 1.5), row("b", -1, 1, 1.51), row("c", 1.51, 2, 3), row("d", 1.4, 2, 3)])
assert got == {"a": "pass", "b": "open", "c": "miss", "d": "open", "mean": "no result"}, got
PYTHON
python "where less than the target is wanted, the target itself is not enough" <<'PYTHON'
from pairs import judge
assert judge(0, 0.5, 0.5, False) == "pass" and judge(0, 0.5, 0.5, True) == "open"
assert judge(0.5, 0.5, 0.5, True) == "miss" and judge(0.5, 1, 0.5, False) == "open"
PYTHON
python "fewer pairs than planned are no pass, nor are too few for a plan" <<'PYTHON'
from rows import *
assert outcome([row("a", 0, 0, 0, count=7)])["a"] == "open" and outcome([row("a", 9, 9, 9, count=7)])["a"] == "open"
assert outcome([row("a", 0, 0, 0, count=7, planned=None)])["a"] == "open"
assert outcome([row(str(i), 0, 0, 0, count=7 if i == 3 else 8) for i in range(10)])["mean"] == "open"
PYTHON
python "the mean needs all of its group" <<'PYTHON'
from rows import *
ten = [row(str(i), 0.1, 0.2, 0.3) for i in range(10)]
assert outcome(ten)["mean"] == "pass" and outcome(ten[:9])["mean"] == "no result"
assert outcome(ten[:9] + [row("9", 0, 0, 0, status="no result")])["mean"] == "no result"
assert outcome(ten[:9] + [row("9", 0, 0, 0, status="failed")])["mean"] == "fail"
assert outcome(ten[:9] + [row("9", 8, 9, 10)])["mean"] == "miss"
PYTHON
python "its interval adds up theirs as squares" <<'PYTHON'
from rows import *
mean = pairs.verdicts([row(n, 0.1, 0.2, 0.6, "training") for n in "abcd"])[-1]
assert [round(mean[k], 6) for k in ("low_percent", "value_percent", "high_percent")] == [0.15, 0.2, 0.4], mean
assert mean["verdict"] == "open" and mean["paper_percent"] == 0.8
PYTHON
python "a sweep's verdict goes by its interval too" <<'PYTHON'
import pairs
def sweep(low, high, status="ok", name=pairs.SWEEP["name"]):
    row = {"group": "footprint", "name": name, "variant": "gmod", "status": status, "error": None,
           "values": {"ns_per_buffer": (low + high) / 2, "ns_low": low, "ns_high": high}}
    return [(v["name"], v["verdict"]) for v in pairs.verdicts([row])]
said = "a sweep of 100000 buffers of 4 KiB"
assert sweep(20, 35) == [(said, "pass")] and sweep(20, 35.1) == [(said, "open")], sweep(20, 35.1)
assert sweep(35.1, 40) == [(said, "miss")] and sweep(1, 2, "failed") == [(said, "fail")]
assert sweep(1, 2, "skipped") == [(said, "no result")] and sweep(1, 2, name="1000 buffers of 4 KiB") == []
PYTHON
python "its row says nanoseconds" <<'PYTHON'
import report
one = {"group": "footprint", "name": "a sweep", "strict": False, "limit_ns": 35, "value_ns": 22.84, "low_ns": 21, "high_ns": 24.5,
       "verdict": "pass", "why": None}
assert list(report.verdict_rows({"verdicts": [one]})) == [
    ("footprint", "a sweep", "22.8 ns", "21.0 to 24.5", "<= 35 ns", "pass", "-")]
none = {key: value for key, value in one.items() if not key.endswith("_ns") or key == "limit_ns"}
assert list(report.verdict_rows({"verdicts": [{**none, "verdict": "fail", "why": "exit status 3"}]})) == [
    ("footprint", "a sweep", "-", "-", "<= 35 ns", "fail: exit status 3", "-")]
PYTHON

finish
