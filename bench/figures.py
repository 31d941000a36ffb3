"""Measures what GMOD costs, part by part, and keeps the result.

    figures.py [--quick] [--more] [--build DIR] [--results DIR] --device TEXT --commit TEXT [--driver TEXT] [--cuda TEXT] PART...
    figures.py --pilot FILE ... PART...

The result is a JSON file in bench/results, which parts measured later at the same commit on the same kind of device
join; a page and a plot are made of it (report.py). Once it has all parts of latest.json, it takes that one's place. It
is written anew after each step, so a run that is cut off keeps what it had.

How many pairs a case is to have is known beforehand (pairs.py). --more goes on with those that the result already has of
a part, until it has so many, instead of starting anew.

--pilot runs each case that has a target a few times without GMOD, and writes its noise to FILE: no result.

--plan FILE takes the table of parts from a JSON file, {"PART": {"seconds": S, "cases": [{...}]}}, instead of parts.py.
It is for tests, which measure nothing: such a result never goes to bench/results.

Exit status: 0, 1 something failed (a missed target is no failure), 2 not understood, 130 interrupted.
"""

import argparse
import glob
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import signal
import sys
import tempfile
import time

import machine
import pairs
import parts
import processes
import report
from cases import NO_TIME, Case, measurement

SCHEMA = "gmod-bench-2"
PILOT_RUNS = 10
HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results")


# ---- the result ----


def write_json(path, document):
    """All of it or nothing."""
    with open(path + ".new", "w") as f:
        json.dump(document, f, indent=1)
        f.write("\n")
    os.replace(path + ".new", path)


def slug(text):
    """The name of a device as a part of a file's name."""
    text = re.sub(r"^1 x |NVIDIA ", "", text).lower()
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-")


def versions():
    found = {"python": platform.python_version(), "kernel": platform.release(), "cpu": machine.cpu()}
    for module in ("torch", "jax", "numpy"):
        try:
            found[module] = importlib.metadata.version(module)
        except importlib.metadata.PackageNotFoundError:
            found[module] = None
    return found


class Result:
    """The JSON file: what it holds already of this commit and device, and what is measured now."""

    def __init__(self, options):
        self.directory = options.results
        self.head = {
            "schema": SCHEMA,
            "date": time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime()),
            "device": options.device,
            "driver": options.driver,
            "cuda": options.cuda,
            "commit": options.commit,
            "quick": options.quick,
            "versions": versions(),
        }
        self.path, before = self.find()
        self.same_driver = all(before.get(key) == self.head[key] for key in ("driver", "cuda"))
        self.parts = before.get("parts", {})
        self.rows = {self.key(row): row for row in before.get("results", [])}

    def find(self):
        for path in sorted(glob.glob(os.path.join(self.directory, "*.json"))):
            try:
                with open(path) as f:
                    before = json.load(f)
            except (OSError, ValueError):
                continue
            if all(before.get(key) == self.head[key] for key in ("schema", "device", "commit", "quick")):
                return path, before
        words = [self.head["date"][:10], slug(self.head["device"]), self.head["commit"][:7]]
        words += ["changed"] if " " in self.head["commit"] else []
        words += ["quick"] if self.head["quick"] else []
        return os.path.join(self.directory, "-".join(words) + ".json"), {}

    @staticmethod
    def key(row):
        return row["part"], row["group"], row["name"], row["variant"]

    def of(self, case):
        """The rows of a case, by variant, where they are of this driver, too."""
        if not self.same_driver:
            return {}
        found = (row for key, row in self.rows.items() if key[:3] == (case.part, case.group, case.name))
        return {row["variant"]: row for row in found}

    def take(self, rows):
        self.rows.update((self.key(row), row) for row in rows)

    def take_missing(self, rows):
        for row in rows:
            self.rows.setdefault(self.key(row), row)

    def results(self):
        order = {name: i for i, name in enumerate(parts.PARTS)}
        return sorted(self.rows.values(), key=lambda row: order.get(row["part"], len(order)))

    def save(self):
        results = self.results()
        document = {**self.head, "parts": self.parts, "verdicts": pairs.verdicts(results), "results": results}
        os.makedirs(self.directory, exist_ok=True)
        before, latest = self.path, os.path.join(self.directory, "latest.json")
        if self.has_parts_of(latest):
            self.path = latest
        write_json(self.path, document)
        if before != self.path:
            report.remove(before)

    def has_parts_of(self, path):
        """Whether it can stand for that result: it has each of its parts, if that is one."""
        try:
            with open(path) as f:
                return set(json.load(f)["parts"]) <= set(self.parts)
        except (OSError, ValueError, KeyError):
            return True


# ---- progress ----


class Progress:
    """One line on a terminal, else a line every ten seconds at most."""

    def __init__(self, later):
        self.later, self.deadline, self.part = later, 0, ""
        self.terminal = sys.stderr.isatty()
        self.said = 0

    def begin(self, part, seconds, later):
        self.part, self.deadline, self.later = part, time.monotonic() + seconds, later

    def left(self):
        return max(0, self.deadline - time.monotonic())

    def say(self, text):
        if not self.terminal and time.monotonic() - self.said < 10:
            return
        self.said = time.monotonic()
        left = int(self.left() + self.later)
        line = f"bench: {self.part}: {text}; at most {left // 60}:{left % 60:02d} left"
        print(f"\r\033[K{line[:118]}" if self.terminal else line, end="" if self.terminal else "\n", file=sys.stderr)
        sys.stderr.flush()

    def end(self, text):
        print(("\r\033[K" if self.terminal else "") + f"bench: {self.part}: {text}", file=sys.stderr, flush=True)


# ---- a part ----


class Part:
    def __init__(self, name, cases, variants, result, progress, more):
        self.name, self.result, self.progress, self.more = name, result, progress, more
        self.measured = [measurement(case, variants) for case in cases]

    def go_on(self):
        """Takes over what the result has; the seconds that it took."""
        for measured in self.measured:
            measured.go_on(self.result.of(measured.case))
        return self.result.parts.get(self.name, {}).get("seconds") or 0

    def save(self, measured):
        """What an earlier run of the part has of a case stays until there is something newer."""
        if measured.touched():
            rows = measured.rows()
            self.result.take(row for row in rows if (row["status"], row["error"]) != NO_TIME)
            self.result.take_missing(rows)
            self.result.save()

    def add(self, measured):
        """One more pair, if there is time; whether there was."""
        if max(measured.seconds or 0, measured.case.takes) > self.progress.left() or not self.progress.left():
            return False
        begin = time.monotonic()
        measured.step(measured.add_pair)
        measured.seconds = round(time.monotonic() - begin, 3)
        self.save(measured)
        return True

    def status(self, measured):
        count = f"{measured.case.name}, {len(measured.gmod)} of {measured.case.pairs}"
        ratios = pairs.ratios(measured.gmod, measured.native)
        return count + (f", {pairs.percent(pairs.median(ratios)):+.2f} %" if ratios else "")

    def warm_up(self):
        for measured in self.measured:
            needs = measured.case.needs
            if needs and not importlib.util.find_spec(needs):
                measured.status, measured.error = "skipped", f"python3 has no {needs}"
            elif self.progress.left():
                self.progress.say(f"{measured.case.name}, warming up")
                measured.step(measured.warm_up)
            self.save(measured)

    def measure(self):
        """Round by round, so that what cuts it off costs each case as much."""
        wanted = list(self.measured)
        while wanted:
            for measured in list(wanted):
                if self.wants_pairs(measured):
                    self.progress.say(self.status(measured))
                    if self.add(measured) and self.wants_pairs(measured):
                        continue
                wanted.remove(measured)

    @staticmethod
    def wants_pairs(measured):
        return measured.status == "ok" and len(measured.gmod) < measured.case.pairs

    def add_memcheck(self, measured):
        if not measured.wants_memcheck() or not self.progress.left():
            return
        self.progress.say(f"{measured.case.name} under memcheck")
        measured.try_memcheck(self.progress.left())
        self.save(measured)

    def memcheck(self):
        for measured in self.measured:
            self.add_memcheck(measured)

    def run(self):
        begin = time.monotonic()
        done = {"date": self.result.head["date"], "seconds": None, "complete": False}
        before = self.go_on() if self.more else 0
        self.result.parts[self.name] = done
        try:
            self.warm_up()
            self.measure()
            self.memcheck()
            rows = [row for measured in self.measured for row in measured.rows()]
            self.result.take_missing(rows)
            done["complete"] = True
        finally:
            done["seconds"] = before + round(time.monotonic() - begin)
            self.result.save()
        self.progress.end(self.tally(rows, done["seconds"]))
        return self.failures(rows)

    @staticmethod
    def tally(rows, seconds):
        count = {}
        for row in rows:
            count[row["status"]] = count.get(row["status"], 0) + 1
        return ", ".join(f"{n} {status}" for status, n in sorted(count.items())) + f"; {seconds} s"

    @staticmethod
    def failures(rows):
        """What failed. That compute-sanitizer took too long is a figure."""
        return [
            f"{row['group']}: {row['name']}, {row['variant']}: {row['error']}"
            for row in rows
            if row["status"] == "failed" or (row["status"] == "timed out" and row["variant"] != "memcheck")
        ]


# ---- the pilot ----


def pilot(options, wanted, variants):
    """The noise of each case with a target joins what the file has, if that is of the same device; what failed."""
    head = {"device": options.device, "commit": options.commit, "date": time.strftime("%Y-%m-%d", time.gmtime())}
    try:
        with open(options.pilot) as f:
            known = json.load(f)
    except OSError:
        known = {}
    document = {**head, "runs": PILOT_RUNS, "noise": known.get("noise", {}) if known.get("device") == options.device else {}}
    failures, progress = [], Progress(0)
    for name, (seconds, cases) in wanted:
        progress.begin(name, seconds, 0)
        for measured in (measurement(case, variants) for case in cases if case.group in pairs.TARGETS):
            progress.say(f"{measured.case.name}, pilot")
            measured.step(measured.warm_up)
            for _ in range(PILOT_RUNS):
                measured.step(measured.add_native)
            case = measured.case
            if measured.status == "ok":
                document["noise"].setdefault(case.group, {})[case.name] = round(pairs.noise(measured.native), 3)
            elif measured.status != "skipped":
                failures.append(f"{case.group}: {case.name}: {measured.error}")
            write_json(options.pilot, document)
        progress.end("pilot")
    return failures


# ---- all of it ----


def read_plan(path):
    with open(path) as f:
        plan = json.load(f)
    table = {name: (part["seconds"], [Case(part=name, **case) for case in part["cases"]]) for name, part in plan.items()}
    return parts.with_plans(table)


def arguments(words):
    parser = argparse.ArgumentParser(description="Measures what GMOD costs.")
    parser.add_argument("--quick", action="store_true", help="fewer cases, three pairs of each")
    parser.add_argument("--more", action="store_true", help="add to the pairs that there are at this commit")
    parser.add_argument("--pilot", metavar="FILE", help="only find out how many pairs there are to be")
    parser.add_argument("--build", default="build")
    parser.add_argument("--results", default=RESULTS)
    parser.add_argument("--plan", help="a JSON file instead of parts.py, for tests")
    parser.add_argument("--device", required=True)
    parser.add_argument("--driver")
    parser.add_argument("--cuda")
    parser.add_argument("--commit", required=True)
    parser.add_argument("parts", nargs="+", metavar="PART")
    options = parser.parse_args(words)
    if options.plan and os.path.realpath(options.results) == os.path.realpath(RESULTS):
        parser.error("a result of --plan does not go to bench/results")
    if not options.device:
        parser.error("there is no device")
    if options.more and (" " in options.commit or options.commit == "unknown"):
        parser.error("--more joins pairs of one commit, and this tree is not at one")
    return parser, options


def run(options, wanted, variants, result):
    """Measures; what failed."""
    failures = []
    progress = Progress(0)
    for i, (name, (seconds, cases)) in enumerate(wanted):
        progress.begin(name, seconds, sum(later for _, (later, _) in wanted[i + 1 :]))
        failures += Part(name, cases, variants, result, progress, options.more).run()
    return failures


def main(words):
    parser, options = arguments(words)
    table = read_plan(options.plan) if options.plan else parts.table(options.quick)
    known = [*table, *parts.PARTS]
    for name in options.parts:
        if name not in known:
            parser.error(f"there is no part {name}; there are {', '.join(table)}")
        if name not in table:
            print(f"bench: {name}: left out of a quick run", file=sys.stderr)
    wanted = [(name, table[name]) for name in options.parts if name in table]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, processes.interrupted)
    status, failures = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        variants = processes.Variants(options.build, scratch)
        result = None if options.pilot else Result(options)
        try:
            failures = run(options, wanted, variants, result) if result else pilot(options, wanted, variants)
        except processes.Interrupted:
            processes.kill_all()
            status = 130
    for failure in failures:
        print(f"FAIL {failure}")
    if result and os.path.exists(result.path):
        print(report.write(result.path))
    return status or bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
