"""One case of the bench: what it runs, how a pair of samples is taken, and the rows of the result that come of it."""

import os
import random
from dataclasses import dataclass, field
from math import isfinite, nan

import pairs
import processes
from processes import Failed, Skipped, TimedOut, closing, events, few_cpus, fields

# What GMOD's thread may take of a core, in percent: `max_cpu`, what it may have saved of the half second before or put off, in the two
# seconds that the shortest job without turns has, and what the clocks do not tell apart.
MONITOR_AT_MOST = 1.35

# Where a program's buffers lie is drawn for each run: before its first one, it allocates up to so many MiB, by twos.
PAD_MIB = 128


def pad(draw):
    """What of the environment moves a program's buffers, by a random.Random."""
    return {"BENCH_PAD_MIB": str(2 * draw.randrange(PAD_MIB // 2))}


# What is kept of each run beside its sample, by the name that the program gives it, and what a row calls their median.
BESIDE = {"quartile_ms": "quartile", "cpu_ms": "cpu_ms", "memory_bytes": "memory_bytes", "tokens": "tokens"}
BESIDE.update(monitor_percent="monitor_percent", each_ms="each_ms", each_99_ms="each_99_ms")

# What a row has not yet, and some never.
UNKNOWN = ("median", "ratio_median", "ratio_low", "ratio_high", "interval_level")
UNKNOWN += ("guarded_permille", "late", "findings", "degraded")

NO_TIME = ("skipped", "no time was left")


@dataclass
class Case:
    part: str
    group: str
    name: str
    unit: str = "ms"
    commands: list = field(default_factory=list)  # side by side; a sample is a run of all of them
    key: str | None = "ms"  # the sample is the number behind KEY= of the first; None: the time until all have ended
    per: str | None = None  # also give the sample in us, divided by the number behind this key
    environment: dict = field(default_factory=dict)
    with_gmod: dict = field(default_factory=dict)  # of the environment, in runs under GMOD only
    options: str = ""  # for GMOD
    values: dict = field(default_factory=dict)  # what to say about the case beside the figures
    once: bool = False  # no pairs: all that one run under GMOD prints
    beside: bool = False  # and all that one without prints
    planted: bool = False  # findings are wanted
    turns: bool = False  # a pair's two processes, one job each, live at the same time and take turns
    plants: str = ""  # the kernel that stores behind a buffer: see Planted
    pages: bool = False  # what moves of its managed memory: see Pages
    covers: int = 950  # permille of the bytes that are to be guarded, for a result; 0: it has none
    cpus: int | None = 4  # run on the same few CPUs, and GMOD's thread with them; None: on all
    limit: float = 60  # seconds for a run
    takes: float = 0  # seconds that a pair is expected to take: none is begun with less left
    pairs: int = pairs.PAIRS_AT_LEAST  # fewer where a run is no measurement; of others these say how many there are to be
    memcheck: int = 0  # runs under compute-sanitizer
    memcheck_command: list = field(default_factory=list)  # instead of commands
    memcheck_limit: float = 60  # seconds
    needs: str | None = None  # a Python module


def middle(values):
    return pairs.median(values) if values else None


class Measurement:
    """What has been measured of a case so far: A without GMOD and B with it, A B and B A in turn, a process at a time or, if
    the case says so, both alive and taking turns.

    Failures end up in its rows.
    """

    warms_alike = True  # another case's warm-up by the same command will do

    def __init__(self, case, variants):
        self.case, self.variants = case, variants
        self.commands = case.commands
        self.samples = {"native": [], "gmod": [], "memcheck": []}
        self.beside = {"native": {}, "gmod": {}, "memcheck": {}}
        self.status, self.error = "ok", None
        self.memcheck_status, self.memcheck_error = "ok", None
        self.permille, self.late, self.findings, self.degraded = None, None, None, None
        self.printed = {}
        self.seconds = None  # that the last pair took

    @property
    def native(self):
        return self.samples["native"]

    @property
    def gmod(self):
        return self.samples["gmod"]

    def attempt(self, step):
        """(status, error) of a step."""
        try:
            step()
        except Skipped as e:
            return "skipped", str(e)
        except TimedOut as e:
            return "timed out", str(e)
        except Failed as e:
            return "failed", str(e)
        return "ok", None

    def step(self, step):
        if self.status == "ok":
            self.status, self.error = self.attempt(step)

    # ---- runs ----

    def place(self, variant):
        """Where the program's buffers are to lie: drawn, the same in each bench of this case and number of run."""
        draw = random.Random(f"{self.case.group} {self.case.name} {variant} {len(self.samples[variant])}")
        return pad(draw)

    def prepare(self, variant, more=None):
        """(what to run, GMOD's log). more: of the environment"""
        extra = {**self.place(variant), **self.case.environment, **(more or {})}
        extra.update(self.case.with_gmod if variant == "gmod" else {})
        environment, log = self.variants.environment(variant, extra, self.case.options)
        return [(self.variants.command(variant, command), environment) for command in self.commands], log

    def run(self, variant, limit, more=None):
        """The sample."""
        runs, log = self.prepare(variant, more)
        return self.read(log, *processes.run_all(runs, limit, few_cpus(self.case.cpus)))

    def read(self, log, outputs, ms, cpu_ms):
        """The sample of what has run."""
        printed = [fields(output) for output in outputs]
        self.printed = {"cpu_ms": cpu_ms, **printed[0]}
        if log:
            self.note_closing(log, sum(int(p.get("bytes", 0)) for p in printed))
        return ms if self.case.key is None else self.number(self.case.key)

    def number(self, key, kind=float):
        try:
            found = kind(self.printed[key])
        except (KeyError, ValueError):
            found = nan
        if not isfinite(found):
            raise Failed(f"it says no {key}=NUMBER")
        return found

    def note_closing(self, log, asked):
        total = closing(log)
        if total is None:
            raise Failed("no closing line of GMOD's")
        part = processes.share(total, asked)
        if part is not None:
            self.permille = part if self.permille is None else min(self.permille, part)
        self.late = (self.late or 0) + total["late"]
        self.findings = (self.findings or 0) + total["findings"]
        self.degraded = (self.degraded or 0) + total["degraded"]
        if total["degraded"] or (total["findings"] and not self.case.planted):
            reasons = sorted({note["text"] for note in events(log, "note") if note["text"].startswith("degraded: ")})
            what = f"GMOD in a healthy program: {total['findings']} findings, {total['degraded']} degraded"
            raise Failed("; ".join([what, *reasons]))

    def beside_it(self):
        """What the last run says beside its sample."""
        return {kept: self.number(key) for key, kept in BESIDE.items() if key in self.printed}

    def sample(self, variant):
        return self.run(variant, self.case.limit), self.beside_it()

    def in_turns(self, order):
        """The samples of a pair that lives at the same time: what else the machine does meets both."""
        begun = [self.prepare(variant) for variant in order]
        runs = [run for of_one, _ in begun for run in of_one]
        outputs, ms, cpu_ms = processes.run_all(runs, 2 * self.case.limit, few_cpus(self.case.cpus), turns=True)
        found = {}
        for variant, (_, log), output in zip(order, begun, outputs):
            found[variant] = self.read(log, [output], ms, cpu_ms), self.beside_it()
        return found

    def take(self, variant, found):
        """All runs of a case say the same things."""
        value, beside = found
        self.samples[variant].append(value)
        for kept, number in beside.items():
            self.beside[variant].setdefault(kept, []).append(number)

    def warm_up(self):
        """What the first run pays and no later one: files that are not in memory yet, code that is compiled."""
        self.run("native", self.case.limit)

    def add_pair(self):
        order = ("native", "gmod") if len(self.native) % 2 == 0 else ("gmod", "native")
        found = self.in_turns(order) if self.case.turns else {variant: self.sample(variant) for variant in order}
        for variant in order:
            self.take(variant, found[variant])

    def plan(self):
        return pairs.planned(self.case.group, pairs.ratios(self.gmod, self.native))

    def wanted(self):
        """Pairs: with the least number of them it is known how many there are to be."""
        return self.plan()[0] or self.case.pairs

    def add_memcheck(self, limit):
        """limit: seconds, of each run"""
        self.commands = [self.case.memcheck_command] if self.case.memcheck_command else self.case.commands
        try:
            for _ in range(self.case.memcheck):
                self.samples["memcheck"].append(self.run("memcheck", limit))
        finally:
            self.commands = self.case.commands

    def try_memcheck(self, left):
        """Tries it with the seconds that are left: fewer than it may take are no time, if it does not end in them."""
        limit = min(self.case.memcheck_limit, left)
        outcome = self.attempt(lambda: self.add_memcheck(limit))
        if outcome[0] == "timed out" and limit < self.case.memcheck_limit:
            outcome = NO_TIME
        self.memcheck_status, self.memcheck_error = outcome

    def wants_memcheck(self):
        return self.case.memcheck and not self.samples["memcheck"] and self.status == self.memcheck_status == "ok"

    def touched(self):
        return bool(self.native or self.gmod or self.status != "ok")

    def go_on(self, rows):
        """Takes over the pairs of an earlier run at the same commit, as rows by variant: new ones join them."""
        row = rows.get("gmod")
        if not row or row["status"] != "ok" or "values" in row:
            return
        for variant in ("native", "gmod"):
            self.samples[variant] = list(row["samples"][variant])
            self.beside[variant] = {key: list(values) for key, values in row["beside"][variant].items()}
        kept = ("guarded_permille", "late", "findings", "degraded")
        self.permille, self.late, self.findings, self.degraded = (row.get(key) for key in kept)
        self.seconds = row["seconds_of_pair"]
        tool = rows.get("memcheck")
        if tool and tool["status"] != "skipped":
            self.samples["memcheck"] = list(tool["samples"]["memcheck"])
            self.memcheck_status, self.memcheck_error = tool["status"], tool["error"]

    # ---- rows ----

    def row(self, variant, status="ok", error=None):
        case = self.case
        row = {"part": case.part, "group": case.group, "name": case.name, "variant": variant, "unit": case.unit}
        row.update(status=status, error=error, pairs=0, native_median=middle(self.native))
        return {**row, **dict.fromkeys(UNKNOWN)}

    def with_ratios(self, row, values, ratios):
        row["pairs"] = len(ratios)
        row["median"] = middle(values)
        if ratios and row["status"] == "ok":
            row["ratio_median"] = pairs.median(ratios)
            row["ratio_low"], row["ratio_high"], row["interval_level"] = pairs.interval(ratios)
        return row

    def again_row(self):
        row = self.with_ratios(self.row("again"), self.native, pairs.apart(self.native))
        row["samples"] = {"native": self.native}
        return row

    def outcome(self):
        """(status, error) of the row of gmod."""
        if self.status != "ok":
            return self.status, self.error
        if not self.gmod:
            return NO_TIME
        taken = middle(self.beside["gmod"].get("monitor_percent")) or 0
        if taken > MONITOR_AT_MOST:
            return "failed", f"GMOD's thread takes {taken:.2f} % of a core"
        if self.case.covers and (self.permille is None or self.permille < self.case.covers):
            share_of = "none" if self.permille is None else f"{self.permille / 10:.1f} %"
            return "no result", f"{share_of} of the bytes guarded"
        return "ok", None

    def gmod_row(self):
        row = self.row("gmod", *self.outcome())
        row = self.with_ratios(row, self.gmod, pairs.ratios(self.gmod, self.native))
        noise = pairs.apart(self.native)
        low, high, _ = pairs.interval(noise) if noise else (None, None, None)
        row.update(noise_median=middle(noise), noise_low=low, noise_high=high)
        row.update(guarded_permille=self.permille, late=self.late, findings=self.findings, degraded=self.degraded)
        row["planned"], row["planned_noise_percent"], row["planned_width_percent"] = self.plan()
        row["seconds_of_pair"] = self.seconds
        row["samples"] = {"native": self.native, "gmod": self.gmod}
        row["beside"] = {variant: self.beside[variant] for variant in ("native", "gmod")}
        self.say_quartiles(row)
        if self.case.per and self.native and self.gmod and self.case.per in self.printed:
            times = {"native": middle(self.native), "gmod": middle(self.gmod)}
            count = self.number(self.case.per)
            row["us_per_" + self.case.per] = {variant: ms * 1e3 / count for variant, ms in times.items()}
        return row

    def say_quartiles(self, row):
        """What the lower quartiles of the processes' blocks say, beside the medians, which are the figure."""
        native, gmod = (self.beside[variant].get("quartile", []) for variant in ("native", "gmod"))
        ratios = pairs.ratios(gmod, native)
        if ratios and row["status"] == "ok":
            row["quartile_median"] = pairs.median(ratios)
            row["quartile_low"], row["quartile_high"], _ = pairs.interval(ratios)

    def memcheck_row(self):
        row = self.row("memcheck", self.memcheck_status, self.memcheck_error)
        values = self.samples["memcheck"]
        if row["status"] == "ok" and not values:
            row["status"], row["error"] = NO_TIME
        ratios = [value / middle(self.native) for value in values] if self.native else []
        row = self.with_ratios(row, values, ratios)
        row["samples"] = {"native": self.native, "memcheck": values}
        return row

    def rows(self):
        rows = [self.again_row()] if len(self.native) > 1 else []
        rows.append(self.gmod_row())
        if self.case.memcheck:
            rows.append(self.memcheck_row())
        return rows


def numbers(printed):
    """What of key=value is a number."""
    found = {}
    for key, text in printed.items():
        try:
            found[key] = float(text)
        except ValueError:
            pass
    return found


class Once(Measurement):
    """One run under GMOD, perhaps one without it before; the figures are what they print."""

    def __init__(self, case, variants):
        super().__init__(case, variants)
        self.native_values = {}

    def warm_up(self):
        pass

    def add_pair(self):
        if self.case.beside:
            self.native.append(self.run("native", self.case.limit))
            self.native_values, self.printed = numbers(self.printed), {}
        self.gmod.append(self.run("gmod", self.case.limit))

    def gmod_row(self):
        row = super().gmod_row()
        row["values"] = {**self.case.values, **numbers(self.printed)}
        if self.case.beside:
            row["native_values"] = self.native_values
        return row


class Pages(Measurement):
    """How much of a program's managed memory moves, and by how many faults. That is counted in runs of their own, which
    come first: the counting takes time, and times are of runs without it.
    """

    KEYS = ("htod_bytes", "dtoh_bytes", "cpu_faults", "gpu_faults")
    warms_alike = False

    def __init__(self, case, variants):
        super().__init__(case, variants)
        self.counts = {"native": {}, "gmod": {}}

    def warm_up(self):
        for variant in self.counts:
            self.counts[variant] = self.count(variant)

    def count(self, variant):
        said = os.path.join(self.variants.scratch, "pages")
        if os.path.exists(said):
            os.remove(said)
        self.run(variant, self.case.limit, {"CUDA_INJECTION64_PATH": self.variants.pages, "GMOD_PAGES": said})
        try:
            with open(said) as f:
                text = f.read()
        except OSError:
            raise Failed("the driver did not load libpages.so") from None
        if text.startswith("skipped: "):
            raise Skipped(text.removeprefix("skipped: ").strip())
        return self.complete(numbers(fields(text)))

    def complete(self, counts):
        """Counts to which nothing is missing."""
        if any(key not in counts for key in self.KEYS):
            raise Failed("libpages.so does not say all of its counts")
        if counts.pop("dropped", 0):
            raise Failed("records of page traffic were dropped")
        return counts

    def touched(self):
        return super().touched() or bool(self.counts["gmod"])

    def gmod_row(self):
        row = super().gmod_row()
        row["values"], row["native_values"] = {**self.case.values, **self.counts["gmod"]}, self.counts["native"]
        return row


class Planted(Measurement):
    """Whether a store behind a buffer is found, how soon, and what the program's own kernels take meanwhile.

    The program says so itself: `planted`, when it stored, and behind what; the same without the store is `timed`.
    """

    def __init__(self, case, variants):
        super().__init__(case, variants)
        self.trials = []
        self.values = {}  # of memcheck

    def words(self, variant):
        return [*self.case.commands[0], "timed" if variant == "native" else "planted"]

    def run(self, variant, limit):
        self.commands = [self.words(variant)]
        return super().run(variant, limit)

    def warm_up(self):
        self.run("native", self.case.limit)

    def note_closing(self, log, asked):
        super().note_closing(log, asked)
        self.trials.append(self.trial(events(log, "finding")))

    def trial(self, findings):
        """What GMOD said of one store. A finding may be given twice, at first while it may still grow."""
        seen = [f["corruption"]["seen"] for f in findings if f.get("corruption")]
        last = findings[-1] if findings else {}
        suspects = [s["symbol"] or "" for s in last.get("suspects", [])]
        trial = {
            "class": last.get("class"),
            "buffer_bytes": self.number("buffer_bytes"),
            "size_named": last.get("size") == self.number("buffer_bytes"),
            "kernel_named": any(self.case.plants in symbol for symbol in suspects),
        }
        if seen:
            first = min(map(processes.stamp_ns, seen))
            trial["at_most_us"] = (first - self.number("planted_after_ns", int)) / 1e3
            trial["at_least_us"] = max(0, (first - self.number("planted_by_ns", int)) / 1e3)
        return trial

    def found(self):
        return [trial for trial in self.trials if "at_most_us" in trial]

    def outcome(self):
        status, error = super().outcome()
        missed = len(self.trials) - len(self.found())
        if status == "ok" and missed:
            return "failed", f"{missed} of {len(self.trials)} not found"
        return status, error

    def gmod_row(self):
        row, found = super().gmod_row(), self.found()
        row["values"] = {
            **self.case.values,
            "runs": len(self.trials),
            "found": len(found),
            "class": ", ".join(sorted({trial["class"] for trial in found})),
            "size_named": sum(trial["size_named"] for trial in found),
            "kernel_named": sum(trial["kernel_named"] for trial in found),
            "latency_us": middle([trial["at_most_us"] for trial in found]),
            "latency_at_least_us": middle([trial["at_least_us"] for trial in found]),
            "latency_most_us": max((trial["at_most_us"] for trial in found), default=None),
        }
        if self.trials:
            row["values"]["buffer_bytes"] = self.trials[-1]["buffer_bytes"]
        return row

    def add_memcheck(self, limit):
        """A store that memcheck finds ends its kernel, and not the program."""
        environment, _ = self.variants.environment("memcheck", self.case.environment)
        options = ("--destroy-on-device-error", "kernel")
        command = self.variants.command("memcheck", self.words("memcheck"), options)
        output = processes.run_tool(command, environment, limit)
        said = [line.strip("= ") for line in output.splitlines() if line.startswith("=")]
        if not any("ERROR SUMMARY" in line for line in said):
            raise Failed("memcheck says no ERROR SUMMARY")
        writes = [line for line in said if "Invalid __global__ write" in line]
        found = bool(writes) and any(self.case.plants in line for line in said)
        self.values = {"found": int(found), "said": (writes or [said[-1]])[0]}
        if "kernel_ms" in fields(output):
            self.samples["memcheck"].append(float(fields(output)["kernel_ms"]))

    def memcheck_row(self):
        row = super().memcheck_row()
        if self.values and row["status"] == "skipped":
            row["status"], row["error"] = "no result", "the program did not end well"
        row["values"] = self.values
        return row


def measurement(case, variants):
    kinds = ((Once, case.once), (Planted, case.plants), (Pages, case.pages))
    kind = next((kind for kind, wanted in kinds if wanted), Measurement)
    return kind(case, variants)
