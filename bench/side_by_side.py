#!/usr/bin/env -S python3 -B
"""Compares ways to run a job: a process for each, all alive and taking turns, so that what else the machine does meets all.

    side_by_side.py SECONDS [NAME=OPTIONS]... -- JOB [ARGUMENT...]

NAME=OPTIONS is a run under GMOD with these of its options; NAME@FOLDER=OPTIONS under that folder's libgmod.so. Beside them there are two without GMOD, `native` and `again`. JOB is one of
bench/jobs. What is asked is where GMOD's cost comes from; `bench/run` measures how great it is. An example:

    bench/side_by_side.py 200 gmod= rare=scan_interval_us=1000000 hooks=backend=native -- bench/jobs/llama.py prefill --block 7

Rounds go on for so many seconds, each from another one of them on, forwards and backwards. A line a round has the milliseconds
of an iteration; at the end there is for each way what it takes more than `native`, in percent: the median, its interval
(pairs.py), and all of them. Where their buffers lie is drawn for each process, as in the bench.

Environment: BUILD (default: build). Exit status: 0, 1 a job failed, 2 not understood, 77 no GPU.
"""

import os
import random
import sys
import tempfile
import time

import machine
import pairs
import processes
from cases import pad


def understood(words):
    """(seconds, {name: options or None}, the job); None: it is not."""
    if "--" not in words[1:] or not words[0].isdecimal():
        return None
    at = words.index("--")
    ways = dict(word.split("=", 1) for word in words[1:at] if "=" in word)
    if len(ways) != at - 1 or not words[at + 1 :] or {"native", "again"} & set(ways):
        return None
    return int(words[0]), {"native": None, "again": None, **ways}, words[at + 1 :]


def in_turns(variants, ways, order, job):
    """{name: ms}"""
    runs = []
    for name in order:
        variant = "native" if ways[name] is None else "gmod"
        environment = variants.environment(variant, pad(random), ways[name] or "")[0]
        if variant == "gmod" and "@" in name:
            environment["LD_PRELOAD"] = os.path.abspath(os.path.join(name.partition("@")[2], "libgmod.so"))
        runs.append(([sys.executable, *job], environment))
    cpus = processes.few_cpus(None if any(word.startswith("--ranks") for word in job) else 1)
    outputs, _, _ = processes.run_all(runs, 240, cpus, turns=True)
    return {name: float(processes.fields(output)["ms"]) for name, output in zip(order, outputs)}


def measure(seconds, ways, job, variants):
    more = {name: [] for name in ways if name != "native"}
    end, took, number = time.monotonic() + seconds, 0, 0
    while not number or time.monotonic() + took <= end:
        begin, names = time.monotonic(), list(ways)
        first = number % len(names)
        order = names[first:] + names[:first]
        found = in_turns(variants, ways, order[::-1] if number % 2 else order, job)
        print(*(f"{name}={found[name]:.3f}" for name in names), flush=True)
        for name, each in more.items():
            each.append(pairs.percent(found[name] / found["native"]))
        took, number = time.monotonic() - begin, number + 1
    return more


def main(words):
    plan = understood(words) if words else None
    if not plan:
        print(__doc__.strip().splitlines()[2].strip(), file=sys.stderr)
        return 2
    if not machine.device():
        print("side_by_side: no NVIDIA GPU here (nvidia-smi lists none)", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        try:
            more = measure(*plan, processes.Variants(os.environ.get("BUILD") or "build", scratch))
        except processes.Failed as e:
            print(f"side_by_side: {e}", file=sys.stderr)
            return 1
    for name, each in more.items():
        low, high, _ = pairs.interval(each)
        print(f"{name}: {pairs.median(each):+.2f} % ({low:+.2f} to {high:+.2f}):", *(f"{x:+.2f}" for x in each))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
