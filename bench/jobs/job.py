"""What the jobs share: their arguments, the framework, the run and what it says.

A job warms up, runs blocks of iterations, and says in one line of key=value:

    ms               the median of the blocks, in milliseconds an iteration
    quartile_ms      their lower quartile: what else a machine does makes some blocks longer
    cpu_ms           CPU time of all the process's threads, of an iteration
    monitor_percent  the share of a core that GMOD's monitor thread took from the warm-up to the last block, in the other
                     job's turns too, for which it may save up; unsaid where there is no such thread
    memory_bytes     the most bytes that the framework has had in use at a time; unsaid where it does not say
    tokens           of an iteration; unsaid where the job knows no tokens
    each_ms          the median of further iterations, each of which is waited for; unsaid where the job asks for none
    each_99_ms       what 99 of 100 of these take at most
    blocks           all of them, in milliseconds an iteration

BENCH_CPUS in the environment: where it runs from the end of the warm-up on, with all of its threads; CPU numbers and commas.

BENCH_PAD_MIB in the environment: so many MiB are allocated before all else, which moves what comes after.

BENCH_TURN in the environment, "READ,WRITE": jobs run side by side, one at a time, and these are ends of the pipes by which
each hears from the one before that it is its turn, and tells the next. A turn begins with half a second that is not counted, in which GMOD
spends much of what it may have saved up while it had nothing to do. The ranks of a job have these ends as files, and those of two
pipes more, by which the first tells the others of a turn and hears from them that they are done (ends_of_ranks).

Exit status: 2 wrong arguments, 77 no framework or no GPU.
"""

import argparse
import contextlib
import dataclasses
import importlib
import os
import sys
import time
from math import ceil
from statistics import median
from typing import Callable

WARM_UP = 20  # iterations
BLOCKS = 20
EACH = 300
TURN, LEAD = 10, 5  # blocks that are counted, and before them others


@dataclasses.dataclass
class Job:
    step: Callable  # starts an iteration, and need not wait for its end
    synchronize: Callable  # waits until all iterations have ended
    memory: Callable = lambda: None
    tokens: int | None = None
    each: bool = False  # whether somebody waits for each iteration, as for a token


class Parser(argparse.ArgumentParser):
    def __init__(self, block):
        super().__init__(allow_abbrev=False)
        for name, default, what in (
            ("--block", block, "iterations a block"),
            ("--blocks", BLOCKS, "blocks"),
            ("--warm-up", WARM_UP, "iterations before the first block"),
        ):
            self.add_argument(name, type=positive, default=default, metavar="N", help=f"{what} (%(default)s)")

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


def positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"not a positive number: {text}")
    return int(text)


def skip(why):
    print(f"skipped: {why}", file=sys.stderr)
    sys.exit(77)


def framework(name):
    try:
        return importlib.import_module(name)
    except ImportError as e:
        skip(e)


def pad_bytes():
    return int(os.environ.get("BENCH_PAD_MIB") or 0) << 20


def pytorch():
    torch = framework("torch")
    if not torch.cuda.is_available():
        skip("PyTorch sees no GPU")
    torch.pad = torch.empty(pad_bytes(), dtype=torch.uint8, device="cuda")
    return torch


def run_torch(torch, step, options, **more):
    run(Job(step, torch.cuda.synchronize, torch.cuda.max_memory_allocated, **more), options)


def ends_of_ranks():
    """Makes BENCH_TURN what the ranks need, children of this process that inherit no open files."""
    if os.environ.get("BENCH_TURN"):
        ends = os.environ["BENCH_TURN"].split(",") + [str(end) for end in os.pipe() + os.pipe()]
        for end in ends:
            os.set_inheritable(int(end), True)  # this process may become another program
        os.environ["BENCH_TURN"] = ",".join(f"/proc/{os.getpid()}/fd/{end}" for end in ends)


def end_of_pipe(text, write):
    return int(text) if text.isdecimal() else os.open(text, os.O_WRONLY if write else os.O_RDONLY)


class Turns:
    """with turns: while it is this job's turn, or always where no other one runs beside it."""

    def __init__(self):
        text = os.environ.get("BENCH_TURN")
        ends = [end_of_pipe(end, at % 2) for at, end in enumerate(text.split(","))] if text else []
        self.turn, self.begin, self.done = ends[0:2], ends[2:4], ends[4:6]
        self.lead = LEAD if text else 0  # blocks
        self.first = os.environ.get("LOCAL_RANK", "0") == "0"
        self.others = int(os.environ.get("LOCAL_WORLD_SIZE", "1")) - 1

    def __enter__(self):
        if self.turn and not self.first:
            os.read(self.begin[0], 1)
        elif self.turn:
            os.read(self.turn[0], 1)  # of nothing where the other one has ended
            if self.others:
                os.write(self.begin[1], b"." * self.others)

    def __exit__(self, error, *_):
        if error:
            return  # the end of this process tells the others
        if self.turn and not self.first:
            os.write(self.done[1], b".")
        elif self.turn:
            for _ in range(self.others):
                os.read(self.done[0], 1)
            with contextlib.suppress(BrokenPipeError):
                os.write(self.turn[1], b".")

    def lengths(self, blocks):
        """Of each turn the blocks that are counted."""
        return [min(TURN, blocks - done) for done in range(0, blocks, TURN)] if self.turn else [blocks]


def settle():
    """To start takes most of the time on the one CPU that a job is measured on."""
    cpus = os.environ.get("BENCH_CPUS")
    for task in os.listdir("/proc/self/task") if cpus else ():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(task), map(int, cpus.split(",")))


def monitor_until_now():
    return time.monotonic_ns(), monitor_ns() or 0


def run(job, options):
    turns, blocks, cpu = Turns(), [], 0
    with turns:
        timed(job, options.warm_up)
    settle()
    since, monitor_then = monitor_until_now()
    for counted in turns.lengths(options.blocks):
        with turns:
            timed(job, options.block * turns.lead)
            before = time.process_time_ns()
            blocks += [timed(job, options.block) / 1e6 / options.block for _ in range(counted)]
            cpu += time.process_time_ns() - before
    until, monitor_now = monitor_until_now()
    memory = job.memory()
    with turns:
        each = alone(job, options.block * turns.lead) if job.each else {}
    with turns:
        pass  # who ends now disturbs nobody
    said = {
        "ms": median(blocks),
        "quartile_ms": sorted(blocks)[ceil(len(blocks) / 4) - 1],
        "cpu_ms": cpu / 1e6 / options.block / options.blocks,
        "monitor_percent": None if monitor_ns() is None else share(monitor_now - monitor_then, until - since),
        "memory_bytes": memory,
        "tokens": job.tokens,
        "blocks": ",".join(f"{ms:.4f}" for ms in blocks),
        **each,
    }
    print(*(f"{key}={value}" for key, value in said.items() if value is not None))


def alone(job, lead):
    timed(job, lead)
    times = sorted(timed(job, 1) / 1e6 for _ in range(EACH))
    return {"each_ms": median(times), "each_99_ms": times[ceil(EACH * 0.99) - 1]}


def share(part, whole):
    return part / whole * 100


def timed(job, count):
    """Runs COUNT iterations: the nanoseconds that they took."""
    job.synchronize()
    begin = time.monotonic_ns()
    for _ in range(count):
        job.step()
    job.synchronize()
    return time.monotonic_ns() - begin


def monitor_ns():
    """CPU time of GMOD's monitor thread so far, or None where there is none."""
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm") as f:
                if f.read().strip() != "gmod-monitor":
                    continue
            with open(f"/proc/self/task/{task}/schedstat") as f:
                return int(f.read().split()[0])
        except OSError:
            continue
    return None
