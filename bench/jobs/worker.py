"""What the jobs share: their arguments, the framework, and the talk with the one who measures them.

A job warms up and prints `ready`. Then it answers each line that it reads with one number:

    monitor          the share of a core, in percent, that GMOD's monitor thread takes while the job runs without a
                     rest; -1 where there is no such thread
    memory           the most bytes that the framework has had in use at a time; -1 where it does not say
    tokens           the tokens of an iteration; -1 where the job knows no tokens
    anything else    runs a block of iterations: the milliseconds an iteration

At the end of its input it exits. Exit status: 2 wrong arguments, 77 no framework or no GPU.
"""

import argparse
import dataclasses
import importlib
import os
import sys
import time
from typing import Callable

WARM_UP = 20  # iterations
STRETCH = 2  # seconds without a rest, to see what the monitor takes of a core


@dataclasses.dataclass
class Job:
    step: Callable  # starts an iteration, and need not wait for its end
    synchronize: Callable  # waits until all iterations have ended
    memory: Callable = lambda: -1
    tokens: int = -1


class Parser(argparse.ArgumentParser):
    def __init__(self, block):
        super().__init__(allow_abbrev=False)
        self.add_argument("--block", type=positive, default=block, metavar="N", help="iterations a block (%(default)s)")
        self.add_argument(
            "--warm-up", type=positive, default=WARM_UP, metavar="N", help="iterations before it is ready (%(default)s)"
        )

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


def pytorch():
    torch = framework("torch")
    if not torch.cuda.is_available():
        skip("PyTorch sees no GPU")
    return torch


def serve_torch(torch, step, options, tokens=-1):
    job = Job(step, torch.cuda.synchronize, torch.cuda.max_memory_allocated, tokens)
    serve(job, options.block, options.warm_up)


def serve(job, block, warm_up, stretch=STRETCH):
    timed(job, warm_up)
    print("ready", flush=True)
    for line in sys.stdin:
        print(answer(job, line.strip(), block, stretch), flush=True)


def answer(job, what, block, stretch):
    if what == "monitor":
        return monitor_share(job, block, stretch)
    if what == "memory":
        return job.memory()
    if what == "tokens":
        return job.tokens
    timed(job, 1)  # what a rest has left behind
    return timed(job, block) / 1e6 / block


def timed(job, count):
    """Runs COUNT iterations: the nanoseconds that they took."""
    job.synchronize()
    begin = time.monotonic_ns()
    for _ in range(count):
        job.step()
    job.synchronize()
    return time.monotonic_ns() - begin


def monitor_share(job, block, stretch):
    keep_busy(job, block, stretch)  # the monitor, too, finds its pace anew after a rest
    begin = time.monotonic_ns()
    before = monitor_ns()
    keep_busy(job, block, stretch)
    after = monitor_ns()
    wall = time.monotonic_ns() - begin  # all that lies between the two, also where this thread had to wait
    return -1 if before is None else (after - before) / wall * 100


def keep_busy(job, block, seconds):
    """Runs blocks for at least SECONDS."""
    begin = time.monotonic_ns()
    while time.monotonic_ns() - begin < seconds * 1e9:
        timed(job, block)


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
