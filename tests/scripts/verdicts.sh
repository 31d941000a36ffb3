#!/usr/bin/env bash
# The bench's statistics, and the verdicts that go by them.
. "$(dirname "$0")/testlib"
needs_bench_modules

# ---- statistics ----

python "the median" <<'PYTHON'
from pairs import median
assert median([3, 1, 2]) == 2 and median([4, 1, 2, 3]) == 2.5 and median([7]) == 7
PYTHON

python "the lower quartile" <<'PYTHON'
from pairs import lower_quartile
assert lower_quartile([5]) == 5 and lower_quartile([4, 3, 2, 1]) == 1 and lower_quartile(range(12, 0, -1)) == 3
assert lower_quartile([9, 9, 1, 9, 2]) == 2
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

# ---- verdicts ----

cat >"$work/rows.py" <<'PYTHON'
import pairs
def row(name, low, middle, high, group="coarse", count=7, status="ok"):
    return {"group": group, "name": name, "variant": "gmod", "status": status, "error": None, "pairs": count,
            "ratio_median": 1 + middle / 100, "ratio_low": 1 + low / 100, "ratio_high": 1 + high / 100,
            "interval_level": pairs.interval(list(range(count)))[2]}
def outcome(rows):
    return {v["name"]: v["verdict"] for v in pairs.verdicts(rows)}
PYTHON
PYTHONPATH=$PYTHONPATH:$work
python "a verdict goes by the ends of the interval" <<'PYTHON'
from rows import *
got = outcome([row("a", -1, 0, 1.5), row("b", -1, 1, 1.51), row("c", 1.51, 2, 3), row("d", 1.4, 2, 3)])
assert got == {"a": "pass", "b": "inconclusive", "c": "miss", "d": "inconclusive", "mean": "no result"}, got
PYTHON
python "where less than the target is wanted, the target itself is not enough" <<'PYTHON'
from pairs import judge
assert judge(0, 0.5, 0.5, False) == "pass" and judge(0, 0.5, 0.5, True) == "inconclusive"
assert judge(0.5, 0.5, 0.5, True) == "miss" and judge(0.5, 1, 0.5, False) == "inconclusive"
PYTHON
python "fewer than seven pairs are no pass" <<'PYTHON'
from rows import *
assert outcome([row("a", 0, 0, 0, count=6)])["a"] == "inconclusive"
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
assert mean["verdict"] == "inconclusive" and mean["paper_percent"] == 0.8
PYTHON
python "an open case calls for more pairs; for an open mean those that keep it open most" <<'PYTHON'
from rows import *
four = [row(n, 0, 0.1, 0.2, "training") for n in "abcd"]
assert pairs.undecided(four) == []
four[0] = row("a", 0, 0.1, 0.6, "training")
assert pairs.undecided(four) == [("training", ["a"], [])], pairs.undecided(four)
four[1] = row("b", 0, 0.1, 1.6, "training")
four[2] = row("c", -2, 0.1, 0.3, "training")
four[3] = row("d", -0.1, 0.1, 0.4, "training")
assert pairs.undecided(four) == [("training", ["a", "b"], ["d", "c"])], pairs.undecided(four)
# What is above its target has to get its lower end there.
high = [row(n, 0.1, 0.4, 0.45, "training") for n in "abcd"]
high[2] = row("c", -1, 0.4, 0.41, "training")
assert pairs.undecided(high) == [("training", [], ["c", "a", "b", "d"])], pairs.undecided(high)
# Groups in the order of the targets.
both = [row("j", 0, 0.1, 0.6, "frameworks")] + four
assert [group for group, _, _ in pairs.undecided(both)] == ["training", "frameworks"]
assert pairs.undecided([row("a", 9, 9, 9), row("e", 0, 0, 0, "elsewhere", 1)]) == []
PYTHON
python "and the first group has them until there is no time" <<'PYTHON'
from types import SimpleNamespace
from rows import *
import figures
class Part(figures.Part):
    def __init__(self, rows, times):
        self.result = SimpleNamespace(results=lambda: rows)
        self.measured = [SimpleNamespace(case=SimpleNamespace(**r), status="ok", gmod=[], native=[]) for r in rows]
        self.progress, self.times, self.helped = SimpleNamespace(say=lambda text: None), times, []
    def status(self, measured):
        return measured.case.name
    def add(self, measured):
        left = self.times.get(measured.case.name, 0)
        if left:
            self.times[measured.case.name] -= 1
            self.helped.append(measured.case.name)
        return left > 0
both = [row("j", 0, 0.1, 0.6, "frameworks"), row("k", 0, 0.1, 0.6, "frameworks")]
both += [row(n, 0, 0.1, 0.6 if n == "a" else 0.9 if n == "b" else 0.2, "training") for n in "abcd"]
part = Part(both, {"a": 3, "b": 2, "c": 1, "j": 2})
part.decide()
assert part.helped == list("ababacjj"), part.helped
PYTHON

python "a sweep's verdict goes by its interval too" <<'PYTHON'
import pairs
def sweep(low, high, status="ok", name=pairs.SWEEP["name"]):
    row = {"group": "footprint", "name": name, "variant": "gmod", "status": status, "error": None,
           "values": {"ns_per_buffer": (low + high) / 2, "ns_low": low, "ns_high": high}}
    return [(v["name"], v["verdict"]) for v in pairs.verdicts([row])]
said = "a sweep of 100000 buffers of 4 KiB"
assert sweep(20, 35) == [(said, "pass")] and sweep(20, 35.1) == [(said, "inconclusive")], sweep(20, 35.1)
assert sweep(35.1, 40) == [(said, "miss")] and sweep(1, 2, "failed") == [(said, "fail")]
assert sweep(1, 2, "skipped") == [(said, "no result")] and sweep(1, 2, name="1000 buffers of 4 KiB") == []
PYTHON
python "and more pairs do not help it" <<'PYTHON'
import pairs
row = {"group": "footprint", "name": pairs.SWEEP["name"], "variant": "gmod", "status": "ok", "error": None,
       "values": {"ns_per_buffer": 35, "ns_low": 30, "ns_high": 40}}
assert pairs.undecided([row]) == []
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
