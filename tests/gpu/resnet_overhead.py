"""What GMOD costs ResNet-50 training, batch 32.

    resnet_overhead.py [--pairs N] [--blocks N] [--seconds S]

A set is three processes that live at the same time: two without GMOD (A and A) and one with it (B). They train in
turn, a block of five iterations each, the other two at rest: what disturbs the machine disturbs all three. What
disturbs it makes a block longer, never shorter, so a process stands for the lower quartile of its blocks. B is
compared with the mean of the two of A, the one A with the other. Processes differ from one another for as long as they
live, by up to 0.7 % (measured): so the medians over several sets are printed, and that of A against A says how far two
identical runs are apart. Stops after N sets, or after S seconds and 7 sets. Then B trains on its own, and the share of
a core that the monitor takes is read off. The library comes from GMOD_LIB (default: build/libgmod.so).
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

PAIRS_AT_LEAST = 7
MAX_OVERHEAD = 0.5  # percent
MAX_CPU = 2.1  # percent of a core: GMOD's default of 2, and what the clocks do not tell apart
BLOCK = 5  # iterations between two looks at the clock
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOB = [os.path.join(ROOT, "bench", "jobs", "train.py"), "resnet50", "--batch", "32", "--block", str(BLOCK)]


class Process:
    def __init__(self, library):
        environment = dict(os.environ)
        environment.pop("LD_PRELOAD", None)
        environment.pop("GMOD_OPTIONS", None)
        if library:
            environment["LD_PRELOAD"] = library
        self.errors = tempfile.TemporaryFile("w+")
        self.child = subprocess.Popen(
            [sys.executable, *JOB],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )

    def read(self):
        line = self.child.stdout.readline()
        if not line:
            self.errors.seek(0)
            sys.exit(f"FAIL resnet_overhead: a process failed: {self.errors.read().strip()[-500:]}")
        return line

    def ask(self, what=""):
        self.child.stdin.write(what + "\n")
        self.child.stdin.flush()
        return float(self.read())

    def end(self):
        self.child.stdin.close()
        self.child.wait(60)


def percent(slow, fast):
    return (slow / fast - 1) * 100


def measure(library, blocks, turn):
    """Three new processes, started in another order each time; returns what they took in each block, and the monitor's
    share of a core."""
    libraries = [None, None]
    libraries.insert(turn % 3, library)
    processes = [Process(x) for x in libraries]
    a, other = (p for p, x in zip(processes, libraries) if not x)
    b = processes[turn % 3]
    for p in processes:
        p.read()
    times = {p: [] for p in processes}
    for i in range(blocks):
        for p in processes[i % 3 :] + processes[: i % 3]:
            times[p].append(p.ask())
    share = b.ask("monitor")
    for p in processes:
        p.end()
    return times[a], times[b], times[other], share


def undisturbed(blocks):
    return statistics.quantiles(blocks, n=4)[0]


def compare(options, library):
    end = time.monotonic() + options.seconds
    overhead, apart, native, guarded, cpu = [], [], [], [], []
    while len(overhead) < options.pairs and (len(overhead) < PAIRS_AT_LEAST or time.monotonic() < end):
        *times, share = measure(library, options.blocks, len(overhead))
        a, b, other = (undisturbed(t) for t in times)
        overhead.append(percent(b, (a + other) / 2))
        apart.append(percent(other, a))
        native.append((a + other) / 2)
        guarded.append(b)
        cpu.append(share)
        print(
            f"set {len(overhead)}: {native[-1]:.3f} {guarded[-1]:.3f} ms, {overhead[-1]:+.2f} %,"
            f" A against A {apart[-1]:+.2f} %",
            file=sys.stderr,
            flush=True,
        )
    missing = min(cpu) < 0
    ok = not missing and statistics.median(overhead) <= MAX_OVERHEAD and max(cpu) <= MAX_CPU
    print(
        f"{'PASS' if ok else 'FAIL'} resnet_overhead"
        f"{': no monitor thread under GMOD;' if missing else ''}"
        f" median overhead {statistics.median(overhead):+.2f} % (sets {min(overhead):+.2f} to {max(overhead):+.2f}),"
        f" A against A median {statistics.median(apart):+.2f} % ({min(apart):+.2f} to {max(apart):+.2f}),"
        f" {len(overhead)} sets of {options.blocks} blocks, {statistics.median(native):.3f} ms native,"
        f" {statistics.median(guarded):.3f} ms guarded"
        + ("" if missing else f", monitor {statistics.median(cpu):.2f} % of a core (at most {max(cpu):.2f})")
    )
    return 0 if ok else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=20, help="sets of processes at most")
    parser.add_argument("--blocks", type=int, default=32, help="blocks a process in each set")
    parser.add_argument("--seconds", type=float, default=270)
    options = parser.parse_args()
    try:
        import torch
    except ImportError as e:
        print(f"SKIP resnet_overhead: {e}")
        return 77
    if not torch.cuda.is_available():
        print("SKIP resnet_overhead: PyTorch sees no GPU")
        return 77
    return compare(options, os.environ.get("GMOD_LIB", os.path.join(ROOT, "build", "libgmod.so")))


sys.exit(main())
