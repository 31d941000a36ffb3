"""How soon GMOD finds planted overflows of tensors when it guards a sample of them: many runs of torch_planted_job.py.

    planted_runs.py BUILD [KIND...]        default: every once rare kept share

A run trains a network over cudaMallocAsync under BUILD/libgmod.so. It is over when GMOD reports the overflow, or too late:

    every   planted in each step, at a site drawn for the run             within 5 s, in 19 runs of 20
    once    in a random one of each 20 steps, at such a site              60 s, 18
    rare    at a site that allocates ten times in the run, each time      60 s, 18
    kept    in a tensor that is never freed, once                         60 s, 18
    share   nothing: the run ends by itself after 30 s, and says what share was guarded

The time goes from the launch of the first store to when GMOD saw the changed bytes. Jobs that share a GPU have fewer steps a
second each, but GMOD may take as much of a second as before: more of each step is guarded then than with one job a GPU.

Environment: RUNS (of a kind; 20), JOBS (side by side, spread over the GPUs; 8), LIMIT (seconds, instead of those above),
OPTIONS (of GMOD; max_overhead=1. With max_overhead=100 each one has to be found), and that of torch_planted_job.py.

Exit status: 1 fewer are found than wanted, or anything else is reported; 77 no PyTorch or no GPU.
"""

import concurrent.futures
import math
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "bench"))

import machine
import processes

JOB = [sys.executable, "-B", os.path.join(HERE, "torch_planted_job.py")]
KINDS = {"every": (5, 19), "once": (60, 18), "rare": (60, 18), "kept": (60, 18), "share": (30, 0)}  # seconds, runs of 20
RUNS, JOBS = int(os.environ.get("RUNS") or 20), int(os.environ.get("JOBS") or 8)
OPTIONS = os.environ.get("OPTIONS") or "max_overhead=1"
LATEST = 600  # seconds, of a run


class Run:
    def __init__(self, kind, seed, build, slots):
        self.kind, self.seed = kind, seed
        self.limit = float(os.environ.get("LIMIT") or KINDS[kind][0])
        with tempfile.TemporaryDirectory() as folder:
            self.log, self.output, self.errors = (os.path.join(folder, name) for name in ("log", "output", "errors"))
            slot = slots.get()
            try:
                self.go(self.environment(build, slot))
            finally:
                slots.put(slot)
            self.judge()

    def environment(self, build, slot):
        options = f"{OPTIONS}:verbosity=1:log_format=json:log_path={self.log}"
        library, gpus = os.path.join(os.path.abspath(build), "libgmod.so"), machine.gpus()
        more = {"LD_PRELOAD": library, "GMOD_OPTIONS": options, "OMP_NUM_THREADS": "1"}
        if len(gpus) > 1:
            more["CUDA_VISIBLE_DEVICES"] = gpus[slot % len(gpus)]
        return {**os.environ, **more, "PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}

    def go(self, environment):
        """The job outlasts the limit, so that what comes late is seen as late, and ends by itself should nobody end it."""
        seconds = self.limit if self.kind == "share" else self.limit + 30
        latest = time.monotonic() + LATEST
        with open(self.output, "w") as output, open(self.errors, "w") as errors:
            words = [*JOB, self.kind, str(self.seed), str(seconds)]
            job = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        try:
            while job.poll() is None and time.monotonic() < latest and not self.is_over():
                time.sleep(0.1)
            self.status = job.poll()
            job.terminate()
            job.wait(20)
        except subprocess.TimeoutExpired:
            pass
        finally:
            job.kill()
            job.wait()

    def is_over(self):
        planted = int(self.said().get("planted_ns", 0))
        return processes.events(self.log, "finding") or planted and time.time_ns() > planted + (self.limit + 1) * 1e9

    def said(self):
        with open(self.output) as f:
            return processes.fields(f.read())

    def complaint(self):
        with open(self.errors, errors="replace") as f:
            return f.read().strip()[-300:]

    def judge(self):
        said, findings = self.said(), processes.events(self.log, "finding")
        ours = [f for f in findings if self.is_planted(f, int(said.get("size", 0)))]
        self.others = [f["message"] for f in findings if f not in ours]
        self.summary = next(iter(processes.events(self.log, "summary")), None)
        self.after, self.outcome = None, "not found"
        if self.status or self.kind != "share" and "planted_ns" not in said:
            self.outcome = f"failed, status {self.status}: {self.complaint()}"
        elif ours:
            seen = min(processes.stamp_ns(f["corruption"]["seen"]) for f in ours)
            self.after = (seen - int(said["planted_ns"])) / 1e9
            sample = "{site_guarded} of {site_allocations}".format_map(ours[0]["buffer"])
            self.outcome = f"found after {self.after:.2f} s, {sample} of its site guarded"
        where = f"{said.get('site')} of {said.get('size')} bytes, {said.get('stores')} stores"
        self.line = "; ".join([f"{self.kind} {self.seed}: {where}: {self.outcome}", *self.others])

    def is_planted(self, finding, size):
        changed = (finding["corruption"] or {}).get("changed")
        what = finding["class"], finding["size"], finding["offset"], changed
        return what == ("heap-buffer-overflow", size, 0, 4)

    def is_in_time(self):
        return self.after is not None and self.after <= self.limit


def share(run):
    """What the closing line says of memory in stream order."""
    s = run.summary
    if run.status != 0 or not s or not s["ordered"] or run.others:
        print(f"FAIL {run.line}")
        return False
    keys = ("allocations", "ordered", "ordered_guarded"), ("bytes", "bytes_ordered", "bytes_ordered_guarded")
    keys += (("sites", "ordered_sites", "ordered_sites_guarded"),)
    shares = [f"{s[part]} of {s[whole]} {what} ({100 * s[part] / s[whole]:.2f} %)" for what, whole, part in keys]
    print(f"PASS share: guarded {', '.join(shares)}; {s['ordered_unarmed']} left unarmed, {s['ordered_unseen']} freed unseen")
    return True


def measure(kind, build):
    """All runs of a kind: is it as wanted?"""
    slots, done, wanted = queue.Queue(), [], math.ceil(KINDS[kind][1] * RUNS / 20)
    for slot in range(JOBS):
        slots.put(slot)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        seeds = range(1 if kind == "share" else RUNS)
        for future in concurrent.futures.as_completed([pool.submit(Run, kind, seed, build, slots) for seed in seeds]):
            done.append(future.result())
            if kind != "share":
                print(done[-1].line, flush=True)
    if all(run.status == 77 for run in done):
        sys.exit(77)
    if kind == "share":
        return share(done[0])
    times = [run.after for run in done if run.is_in_time()]
    good = len(times) >= wanted and not any(run.others for run in done)
    spread = f"; median {statistics.median(times):.2f} s, longest {max(times):.2f} s" if times else ""
    verdict = f"{'PASS' if good else 'FAIL'} {kind}: {len(times)} of {RUNS} within {done[0].limit:g} s, {wanted} wanted"
    print(verdict + spread, flush=True)
    return good


def main():
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(KINDS):
        sys.exit(__doc__)
    sys.exit(not all([measure(kind, sys.argv[1]) for kind in sys.argv[2:] or KINDS]))


if __name__ == "__main__":
    main()
