"""Measures what GMOD costs, part by part, and keeps the result.

    figures.py [--quick] [--more] [--build DIR] [--results DIR] --device TEXT --commit TEXT [--driver TEXT] [--cuda TEXT] PART...

The result is a JSON file in bench/results for this commit and kind of device; a page and a plot are made of it
(report.py). It is written anew after each step, so a run that is cut off keeps what it had. A part that is complete
goes over to latest.json, in the place of the one that was there, and keeps the commit and the device that it is of.

How many pairs a case is to have is known early (pairs.py). --more goes on with those that the result already has of
a part, until it has so many, instead of starting anew.

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

SCHEMA = "gmod-bench-3"
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


def is_commit(text):
    """Not so of what machine.commit() says of a tree with changes, or of none."""
    return " " not in text and text != "unknown"


def read_json(path):
    """{} where there is none, or it is torn."""
    try:
        with open(path) as f:
            return json.load(f)
    except (OSError, ValueError):
        return {}


class Document:
    """A JSON file of parts, each with its rows and with what it was measured with, which need not be the same for all."""

    MEASURED_WITH = ("commit", "device", "driver", "cuda", "versions")

    def __init__(self, path):
        self.path, self.parts, self.rows = path, {}, {}
        found = read_json(path)
        if found.get("schema") == SCHEMA:
            self.parts, self.rows = found["parts"], {self.key(row): row for row in found["results"]}

    @staticmethod
    def key(row):
        return row["part"], row["group"], row["name"], row["variant"]

    def of(self, part):
        return {key: row for key, row in self.rows.items() if key[0] == part}

    def take_out(self, part):
        """(the part, its rows)"""
        rows = self.of(part)
        for key in rows:
            del self.rows[key]
        return self.parts.pop(part, None), rows

    def put(self, name, part, rows):
        self.take_out(name)
        self.parts[name] = part
        self.rows.update(rows)

    def write(self, head):
        order = {name: i for i, name in enumerate(parts.PARTS)}
        results = sorted(self.rows.values(), key=lambda row: order.get(row["part"], len(order)))
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        write_json(self.path, {**head, "parts": self.parts, "verdicts": pairs.verdicts(results), "results": results})


class Result:
    """What is measured now: in a file of its own, until a part is complete and takes its former one's place in latest.json."""

    SAME = ("schema", "device", "commit", "quick")

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
        self.latest = Document(os.path.join(self.directory, "latest.json"))
        self.own = Document(self.find())

    def find(self):
        for path in sorted(glob.glob(os.path.join(self.directory, "*.json"))):
            before = read_json(path)
            if path != self.latest.path and all(before.get(key) == self.head[key] for key in self.SAME):
                return path
        words = [self.head["date"][:10], slug(self.head["device"]), self.head["commit"][:7]]
        words += ["changed"] if " " in self.head["commit"] else []
        words += ["quick"] if self.head["quick"] else []
        return os.path.join(self.directory, "-".join(words) + ".json")

    def begin(self, name):
        """The part, and what an earlier run of it at the same commit has: that stays until there is something newer."""
        part = {"date": self.head["date"], "seconds": None, "complete": False}
        part.update((key, self.head[key]) for key in Document.MEASURED_WITH)
        before = self.own if name in self.own.parts else self.latest
        known, rows = before.parts.get(name), before.of(name)
        same = known and all(known[key] == part[key] for key in ("commit", "device", "driver", "cuda"))
        self.own.put(name, part, rows if same else {})
        return part, (known, rows) if same else (None, {})

    def take(self, rows):
        self.own.rows.update((Document.key(row), row) for row in rows)

    def take_missing(self, rows):
        for row in rows:
            self.own.rows.setdefault(Document.key(row), row)

    def save(self):
        self.own.write(self.head)

    def complete(self, name):
        """What is quick, or of no commit, stays where it is."""
        if self.head["quick"] or not is_commit(self.head["commit"]):
            return
        self.latest.put(name, *self.own.take_out(name))
        self.latest.write(self.head)
        if self.own.parts:
            self.save()
        else:
            report.remove(self.own.path)

    def reports(self):
        """Writes their pages; what there is to say."""
        return [report.write(each.path) for each in (self.own, self.latest) if os.path.exists(each.path)]


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

    def go_on(self, part, rows):
        """Takes over what an earlier run has; the seconds that it took."""
        for measured in self.measured:
            case = measured.case
            of = {key[3]: row for key, row in rows.items() if key[1:3] == (case.group, case.name)}
            measured.go_on(of)
        return part["seconds"] or 0 if part else 0

    def save(self, measured):
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
        count = f"{measured.case.name}, {len(measured.gmod)} of {measured.wanted()}"
        ratios = pairs.ratios(measured.gmod, measured.native)
        return count + (f", {pairs.percent(pairs.median(ratios)):+.2f} %" if ratios else "")

    def warm_up(self):
        """What a first run pays does not depend on the environment and options: a command has one for all its cases."""
        warm = []
        for measured in self.measured:
            needs = measured.case.needs
            if needs and not importlib.util.find_spec(needs):
                measured.status, measured.error = "skipped", f"python3 has no {needs}"
            elif self.wants_warmth(measured) and not (measured.warms_alike and measured.case.commands in warm):
                self.progress.say(f"{measured.case.name}, warming up")
                measured.step(measured.warm_up)
                warm.append(measured.case.commands)
            self.save(measured)

    def wants_warmth(self, measured):
        return self.progress.left() and self.wants_pairs(measured)

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
        return measured.status == "ok" and len(measured.gmod) < measured.wanted()

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
        done, earlier = self.result.begin(self.name)
        before = self.go_on(*earlier) if self.more else 0
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
        self.result.complete(self.name)
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


# ---- all of it ----


def read_plan(path):
    with open(path) as f:
        plan = json.load(f)
    return {name: (part["seconds"], [Case(part=name, **case) for case in part["cases"]]) for name, part in plan.items()}


def arguments(words):
    parser = argparse.ArgumentParser(description="Measures what GMOD costs.")
    parser.add_argument("--quick", action="store_true", help="fewer cases, three pairs of each")
    parser.add_argument("--more", action="store_true", help="add to the pairs that there are at this commit")
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
    if options.more and not is_commit(options.commit):
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
        result = Result(options)
        try:
            failures = run(options, wanted, variants, result)
        except processes.Interrupted:
            processes.kill_all()
            status = 130
    for failure in failures:
        print(f"FAIL {failure}")
    for line in result.reports():
        print(line)
    return status or bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
