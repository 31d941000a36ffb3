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

import machine

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


def few_cpus(count):
    """The last ones of them, where there are eight or more, else all of them; None: all.

    On a virtual machine CPUs are not alike, since some share a core with somebody else's load, and a process that moves
    among them measures that.
    """
    cpus = sorted(os.sched_getaffinity(0))
    return set(cpus[-count:] if count and len(cpus) >= 8 else cpus)


@contextlib.contextmanager
def children_on(cpus):
    """What this thread starts meanwhile runs on these CPUs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Process:
    """A child in a process group of its own, which ends with it: at the latest after `limit` seconds."""

    def __init__(self, command, environment, limit, kept=()):
        """kept: open files of ours that it has, too"""
        self.command, self.limit, self.late, self.kept = command, limit, False, kept
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        self.cpu_ms = 0  # that it has taken, its children included, once it was waited for
        with uninterrupted():
            self.start(command, environment)
            running.add(self)
            # Waiting with a limit would look at the child only now and then.
            self.timer = threading.Timer(limit, self.expire)
            self.timer.daemon = True
            self.timer.start()

    def start(self, command, environment):
        try:
            self.child = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                text=True,
                errors="replace",
                start_new_session=True,
                pass_fds=self.kept,
            )
        except OSError as e:
            raise Failed(f"{os.path.basename(command[0])}: {e.strerror}") from None

    def expire(self):
        self.late = True
        self.kill()

    def kill(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def wait(self):
        if self.child.returncode is None:
            _, status, used = os.wait4(self.child.pid, 0)
            self.child.returncode = os.waitstatus_to_exitcode(status)
            self.cpu_ms = (used.ru_utime + used.ru_stime) * 1e3
        status = self.child.returncode
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


@contextlib.contextmanager
def ring(count):
    """Ends of two pipes for each of so many processes: (the one that it reads, the one that it writes, which the next one
    reads). The first may begin.
    """
    pipes = [os.pipe() for _ in range(count)]
    try:
        os.write(pipes[0][1], b".")
        yield [(pipes[i][0], pipes[(i + 1) % count][1]) for i in range(count)]
    finally:
        for end in (end for pipe in pipes for end in pipe):
            os.close(end)


def run_all(runs, limit, cpus, turns=False):
    """Starts them all, each a (command, environment), and waits for them all: (their outputs, ms until the last ended, ms of
    CPU that they took). turns: they are jobs that run one at a time (bench/jobs/job.py), and start on all CPUs.
    """
    begin = time.monotonic_ns()
    processes = []
    try:
        of_jobs = {"BENCH_CPUS": ",".join(map(str, cpus)), "OMP_NUM_THREADS": str(len(cpus))} if turns else {}
        begin_on = few_cpus(None) if turns else cpus
        with children_on(begin_on), ring(len(runs)) if turns else contextlib.nullcontext([()] * len(runs)) as ends:
            for (command, environment), kept in zip(runs, ends):
                environment = {**environment, **of_jobs, "BENCH_TURN": ",".join(map(str, kept))}
                processes.append(Process(command, environment, limit, kept))
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
    return outputs, ms, sum(p.cpu_ms for p in processes)


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
    total = {"guarded": 0, "whole": 0, "host": 0, "late": 0, "findings": 0, "degraded": 0}
    summaries = events(log, "summary")
    for line in summaries:
        known = line["bytes_guarded"] + line["bytes_unguarded"]
        ordered = line["bytes_ordered_guarded"]
        total["guarded"] += line["bytes_guarded"] + ordered
        total["whole"] += max(known, line["bytes_asked"]) + line["bytes_uncovered"] + ordered
        total["host"] += line["bytes_pinned"]
        total["late"] += line["buffers_late"]
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
