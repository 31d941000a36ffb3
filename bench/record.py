"""Records: parts of the bench that are no pairs of runs.

A part has sections. A section hands over its results, a line of text each: key=value ..., or a failure, which begins with
FAIL:. All of them so far are made into tables and verdicts, and the page is written anew, so that a run that is cut off
leaves what it had. Sections that were not asked for stay if they were recorded at the same commit on the same device.

A verdict is a list item that begins with "met:", "missed:", "not measured:" or "FAIL:".
"""

import os
import re
import signal
import subprocess
import sys
import time

import machine
import processes

RESULTS = os.path.join(machine.TOP, "bench", "results")
VERDICTS = ("met", "missed", "not measured", "FAIL")


class Refused(Exception):
    """Nothing is measured: the exit status, and why."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


def require_device(build):
    """The device; there must be a real one."""
    found = machine.device()
    if not found:
        raise Refused(77, "no NVIDIA GPU here (nvidia-smi lists none)")
    if any(f"{path}/".startswith(f"{build}/sim/") for path in os.environ.get("LD_LIBRARY_PATH", "").split(":")):
        raise Refused(2, "LD_LIBRARY_PATH leads to the simulated driver, of which no figures are taken")
    return found


def make(build, *targets):
    os.makedirs(f"{build}/bench", exist_ok=True)
    with open(f"{build}/bench/build.log", "w+") as log:
        command = ["make", f"-j{len(os.sched_getaffinity(0))}", *targets]
        if subprocess.run(command, cwd=machine.TOP, stdout=log, stderr=subprocess.STDOUT).returncode:
            log.seek(0)
            raise Refused(2, "it cannot be built:\n" + "".join(log.readlines()[-30:]).rstrip())


def last_line(text):
    return (text.strip().splitlines() or [""])[-1]


def grouped(number):
    return f"{int(number):,}".replace(",", " ")


def verdict(good, known, text):
    return f"- {('met' if good else 'missed') if known else 'not measured'}: {text}"


class Record:
    """A part. It has a method for each section, which hands lines to `result`, and `tables`, which makes Markdown of them."""

    name, title = "", ""
    sections = ()

    def __init__(self, build, results=RESULTS):
        self.build = os.path.abspath(build)
        self.path = os.path.join(results, f"{self.name}.md")
        self.scratch = os.path.join(self.build, "bench", "record", self.name)
        self.texts = {}  # of each section
        self.lines = []  # of the section that runs

    # ---- what a part may have of its own ----

    def device(self):
        return require_device(self.build)

    def make(self):
        make(self.build, "all", "bench-programs")

    def about(self):
        """The page's head, between its title and its commit."""
        return (
            f"Written by `bench/run {self.name}`.",
            "",
            f"- device: {self.on}",
            f"- driver: {machine.driver()}",
            f"- CUDA: {machine.cuda()}",
        )

    def tables(self, section, lines):
        return [f"- {line}" for line in lines]

    # ---- the page ----

    def keep(self):
        """What the page already holds of this commit and device."""
        try:
            with open(self.path) as f:
                head, *rest = f.read().split("\n## ")
        except OSError:
            return
        if {f"- commit: {self.commit}", f"- device: {self.on}"} <= set(head.splitlines()):
            texts = (text.split("\n", 1) for text in rest)
            self.texts = {name: text.strip("\n") for name, text in texts if name in self.sections}

    def items(self):
        """The verdicts of all sections, as list items."""
        lines = (line for text in self.texts.values() for line in text.splitlines())
        return [line for line in lines if re.match(f"- ({'|'.join(VERDICTS)}):", line)]

    def tally(self):
        count = {each: sum(line.startswith(f"- {each}:") for line in self.items()) for each in VERDICTS}
        return ", ".join(f"{n} {'failed' if each == 'FAIL' else each}" for each, n in count.items())

    def write(self):
        texts = (f"\n## {name}\n\n{self.texts[name]}\n" for name in self.sections if self.texts.get(name))
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + ".new", "w") as f:
            f.write("\n".join(self.head) + f"\n\n{self.tally()}\n" + "".join(texts))
        os.replace(self.path + ".new", self.path)

    # ---- a section ----

    def result(self, line):
        print(line, flush=True)
        self.lines.append(line)
        self.texts[self.section] = "\n".join(self.tables(self.section, self.lines))
        self.write()

    def measure(self, what, command, environment, limit, prefix=""):
        """Runs a program; its lines, behind the prefix, are results, and those that say FAIL are failures of `what`."""
        status, output, errors = self.execute(command, environment, limit)
        failed = False
        for line in output.splitlines():
            if line.startswith("FAIL "):
                failed = True
                self.result(f"FAIL: {what}: {line.removeprefix('FAIL ')}")
            elif "=" in line:
                self.result(prefix + line)
        if status != 0 and not failed:
            self.result(f"FAIL: {what}: {self.outcome(status, limit, last_line(errors))}")

    @staticmethod
    def execute(command, environment, limit):
        """(exit status, None: it did not end in time; what is on standard output; and on standard error)"""
        try:
            process, status, output = processes.run_one(command, environment, limit)
        except processes.Failed as e:
            return 127, "", str(e)
        return None if process.late else status, output, process.complaints()

    @staticmethod
    def outcome(status, limit, last):
        """How a process ended that did not say it itself."""
        if status is None:
            return f"it did not end within {limit} s"
        return f"exit status {status}" + (f": {last}" if last else "")

    # ---- all of it ----

    def run(self, wanted=()):
        """Measures the sections that are wanted, or all; the exit status."""
        self.on = self.device()
        for section in wanted:
            if section not in self.sections:
                raise Refused(2, f"{self.name} has no section {section}")
        self.commit = machine.commit()
        self.make()
        date = time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime())
        self.head = (f"# {self.title}", "", *self.about(), f"- commit: {self.commit}", f"- date: {date}")
        os.makedirs(self.scratch, exist_ok=True)
        self.keep()
        for self.section in wanted or self.sections:
            self.lines = []
            self.texts.pop(self.section, None)
            getattr(self, self.section)()
        self.write()
        for item in self.items():
            if not item.startswith("- met:"):
                print(f"bench: {item[2:]}")
        print(f"bench: {self.tally()}: {os.path.relpath(self.path)}")
        return int(any(item.startswith("- FAIL:") for item in self.items()))


def attempt(work):
    """Calls `work` for the exit status, which there is too where the bench is refused or interrupted."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, processes.interrupted)
    try:
        return work()
    except Refused as e:
        print(f"bench: {e}", file=sys.stderr)
        return e.status
    except processes.Interrupted:
        processes.kill_all()
        return 130
