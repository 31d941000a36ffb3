"""Runs what is measured, with and without GMOD, and reads what both say."""

import calendar
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from math import isfinite, nan

import machine

GUARDED_AT_LEAST = 950  # permille of the bytes; below that a row is no result
SKIPPED = 77

running = set()
starting = interruptions = 0


class Failed(Exception):
    pass


class TimedOut(Failed):
    pass


class Skipped(Exception):
    pass


class Interrupted(BaseException):
    pass


# ---- processes ----


def interrupted(number, frame):
    """For SIGINT and SIGTERM."""
    global interruptions
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)  # once is enough
    interruptions += 1
    if not starting:
        raise Interrupted


@contextlib.contextmanager
def uninterrupted():
    """A child that is being started is interrupted when it is known, or it would stay behind."""
    global starting
    starting += 1
    try:
        yield
    finally:
        starting -= 1
        if interruptions and not starting:
            raise Interrupted


def few_cpus():
    """The last four CPUs, where there are twice as many or more, else all of them.

    On a virtual machine CPUs are not alike, since some share a core with somebody else's load, and a process that moves
    among them measures that: ResNet-50's blocks of the same process differed by 20 %, on the same four CPUs by 2 %.
    """
    cpus = sorted(os.sched_getaffinity(0))
    return set(cpus[-4:] if len(cpus) >= 8 else cpus)


@contextlib.contextmanager
def children_on(cpus):
    """What this thread starts meanwhile runs on these CPUs; None: on all."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Process:
    """A child in a process group of its own, which ends with it: at the latest after `limit` seconds."""

    def __init__(self, command, environment, limit, stdin=subprocess.DEVNULL):
        self.command, self.limit, self.late = command, limit, False
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        self.timer = None
        with uninterrupted():
            self.start(command, environment, stdin)
            running.add(self)
            self.allow(limit)

    def start(self, command, environment, stdin):
        try:
            self.child = subprocess.Popen(
                command,
                env=environment,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as e:
            raise Failed(f"{os.path.basename(command[0])}: {e.strerror}") from None

    def allow(self, seconds):
        """Begins the time anew. A timer, because waiting with a limit would look at the child only now and then."""
        if self.timer:
            self.timer.cancel()
        self.limit = seconds
        self.timer = threading.Timer(seconds, self.expire)
        self.timer.daemon = True
        self.timer.start()

    def expire(self):
        self.late = True
        self.kill()

    def kill(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def wait(self):
        status = self.child.wait()
        self.timer.cancel()
        running.discard(self)
        return status

    def complaints(self):
        """What is on its standard error."""
        self.errors.seek(0)
        return self.errors.read()

    def complain(self, status, said=""):
        """Raises what the status means, if it means that something is wrong."""
        if self.late:
            raise TimedOut(f"not done after {self.limit:g} s")
        if status == 0:
            return
        lines = [x for x in f"{said}\n{self.complaints()}".splitlines() if x.strip()]
        last = f": {lines[-1].strip()[:300]}" if lines else ""
        if status == SKIPPED:
            raise Skipped(f"{os.path.basename(self.command[-1])}{last}")
        raise Failed((f"signal {-status}" if status < 0 else f"exit status {status}") + last)


def kill_all():
    for process in list(running):
        process.kill()
        process.wait()


def run_all(commands, environment, limit, cpus=None):
    """Starts them all and waits for them all: (their outputs, milliseconds until the last ended)."""
    begin = time.monotonic_ns()
    processes = []
    try:
        with children_on(cpus):
            for command in commands:
                processes.append(Process(command, environment, limit))
        outputs = [p.child.stdout.read() for p in processes]
        statuses = [p.wait() for p in processes]
    except Failed:
        for p in processes:
            p.kill()
            p.wait()
        raise
    ms = (time.monotonic_ns() - begin) / 1e6
    for process, status, output in zip(processes, statuses, outputs):
        process.complain(status, output)
    return outputs, ms


def run_one(command, environment, limit):
    """Waits for the end of a command: (the process, its exit status, its output)."""
    process = Process(command, environment, limit)
    output = process.child.stdout.read()
    return process, process.wait(), output


def run_tool(command, environment, limit):
    """What a tool has said of a program, whatever became of that: what the tool looks for makes programs fail."""
    process, status, output = run_one(command, environment, limit)
    if process.late or status == SKIPPED:
        process.complain(status, output)
    return output


def fields(output):
    """The key=value words of an output, without a sanitizer's own lines."""
    found = {}
    for line in output.splitlines():
        if not line.startswith("="):
            found.update(word.split("=", 1) for word in line.split() if "=" in word)
    return found


class Worker(Process):
    """Says `ready`, then answers each line with a number (bench/jobs/worker.py): an empty one with what an iteration of
    a block took."""

    def __init__(self, command, environment, start_limit):
        super().__init__(command, environment, start_limit, stdin=subprocess.PIPE)

    def read(self):
        for line in self.child.stdout:
            if not line.startswith("="):  # a sanitizer's
                return line.strip()
        self.complain(self.wait() or 1)

    def await_ready(self):
        while self.read() != "ready":
            pass
        self.timer.cancel()

    def stay_on(self, cpus):
        """From now on, with all the threads that it has, on one of these CPUs, and GMOD's own on the others.

        On one CPU threads that wait for each other find the caches warm, and blocks of ResNet-50 differ by 0.5 %, where
        on four they differ by 5 to 20 %. GMOD's thread would have a CPU for itself there, too.
        """
        one = {max(cpus)}
        self.place(one, cpus - one or cpus)

    def place(self, cpus, monitor):
        """The CPUs of the threads that it has, and of GMOD's own."""
        for thread in os.listdir(f"/proc/{self.child.pid}/task"):
            try:
                with open(f"/proc/{self.child.pid}/task/{thread}/comm", errors="replace") as f:
                    own = f.read().strip() == "gmod-monitor"
                os.sched_setaffinity(int(thread), monitor if own else cpus)
            except (FileNotFoundError, ProcessLookupError):
                pass

    def ask(self, limit, what=""):
        self.allow(limit)
        try:
            self.child.stdin.write(what + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            pass  # reading says why
        answer = self.read()
        self.timer.cancel()  # it may have to wait for its next turn
        try:
            number = float(answer)
        except ValueError:
            number = nan
        if not isfinite(number) or (not what and number <= 0):
            raise Failed(f"a worker answered {answer!r}")
        return number

    def dismiss(self):
        """Tells the worker to end, while others do, too: on all CPUs, for what a framework does at its end takes long."""
        self.allow(60)
        cpus = os.sched_getaffinity(0)
        self.place(cpus, cpus)
        self.child.stdin.close()

    def end(self):
        self.child.stdout.read()
        self.complain(self.wait())


# ---- variants ----


class Variants:
    """How a command is run: native, under gmod, under memcheck."""

    def __init__(self, build, scratch):
        self.build, self.scratch = os.path.abspath(build), scratch
        self.preload = os.path.join(self.build, "libgmod.so")
        self.pages = os.path.join(self.build, "bench", "libpages.so")
        self.serial = 0
        self.memcheck = machine.compute_sanitizer()

    def words(self, command):
        """A command of the table: {build} and {python} stand for what they are here."""
        return [word.format(build=self.build, python=sys.executable) for word in command]

    def command(self, variant, command, options=()):
        """The options are for memcheck."""
        if variant != "memcheck":
            return self.words(command)
        if not self.memcheck:
            raise Skipped("there is no compute-sanitizer here")
        return [self.memcheck, "--tool", "memcheck", *options, *self.words(command)]

    def environment(self, variant, extra, options=""):
        """(the environment, the log where GMOD's closing line will be)"""
        kept = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "GMOD_OPTIONS")}
        kept.update((k, v.format(build=self.build)) for k, v in extra.items())
        if variant != "gmod":
            return kept, None
        self.serial += 1
        log = os.path.join(self.scratch, f"{self.serial}.log")
        kept["LD_PRELOAD"] = self.preload
        kept["GMOD_OPTIONS"] = f"verbosity=2:log_format=json:log_path={log}" + (f":{options}" if options else "")
        return kept, log


# ---- what GMOD says ----


def events(log, kind):
    """The lines of a log that have this event; none of a log that is not there or torn."""
    try:
        with open(log, errors="replace") as f:
            lines = [json.loads(line) for line in f if line.startswith("{")]
    except (OSError, ValueError):
        return []
    return [line for line in lines if line.get("event") == kind]


def stamp_ns(text):
    """A time of a finding, 2026-01-31T12:00:00.123456789Z, in ns of CLOCK_REALTIME."""
    whole, _, part = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) * 10**9 + int(part.ljust(9, "0"))


def closing(log):
    """The closing lines of a log, added up; None where there is none."""
    total = {"guarded": 0, "whole": 0, "host": 0, "findings": 0, "degraded": 0}
    summaries = events(log, "summary")
    for line in summaries:
        known = line["bytes_guarded"] + line["bytes_unprotected"]
        total["guarded"] += line["bytes_guarded"]
        total["whole"] += max(known, line["bytes_asked"]) + line["bytes_uncovered"]
        total["host"] += line["bytes_host"]
        total["findings"] += line["findings"]
        total["degraded"] += line["degraded"]
    return total if summaries else None


def share(total, asked):
    """Permille of the bytes that were guarded, None where there were none. A program that says itself how many bytes
    it asked for is believed, so that pinned memory that went unguarded counts too."""
    guarded, whole = total["guarded"], total["whole"]
    if asked or not whole:
        guarded += total["host"]
        whole = max(whole + total["host"], asked)
    return guarded * 1000 // whole if whole else None
