#!/usr/bin/env -S python3 -B
"""Does `gmod --exact` name the line of a fault? Kernels of faults/places.cu, many runs each, with several ends.

    fault_runs.py BUILD RUNS [KERNEL:END...]     default: 30 runs of what issue reports ask for

Each run plants one fault, which the kernel's log has (Xid). Right: one gpu-fault, with the file and line that places.cu
marks, its access, and no address but the true one. Wrong: any other line, access or address. Missed: none. A run that a
signal ends, or that takes 10 s, is counted apart. A line for each kernel and end: PASS, or FAIL with what it was.

Exit status: 1 a run was wrong, was ended by a signal or hung, or of 30 fewer than 28 were right; 77 no GPU.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.append(os.path.join(ROOT, "bench"))

import machine

DEFAULT = ["load:error", "store:error", "add:error", "store:exit", "store:return", "store:free", "store:destroy", "store:reset",
           "store:unload"]
ONCE = ["load_loop", "load_wide", "load_narrow", "load_double", "inline_load", "called_load", "load_readonly", "load_matrix",
        "load_far", "load_null", "load_table", "load_generic", "load_branches", "store_wide", "store_before", "store_stay", "add_answer", "exchange",
        "misaligned", "shared_range", "trap", "_Z6scaledIfLi4EEvPT_i"]


def places():
    """{kernel: (line, bytes)}, as places.cu marks them."""
    with open(os.path.join(HERE, "faults", "places.cu"), encoding="utf-8") as f:
        lines = f.read().split("\n")
    found = (re.search(r"// fault: (\w+) (\d+)", line) for line in lines)
    return {m[1]: (n + 1, int(m[2])) for n, m in enumerate(found) if m}


def access(kernel):
    return "store" if kernel.startswith("store") or kernel == "misaligned" else \
        "atomic" if kernel.startswith(("add", "exchange")) else "load"


def run(build, kernel, end, scratch):
    """(status, what the program said, its gpu-faults, its other findings)"""
    log = os.path.join(scratch, "log")
    if os.path.exists(log):
        os.unlink(log)
    environment = dict(os.environ, LD_PRELOAD=os.path.join(build, "libgmod.so"),
                       GMOD_OPTIONS=f"faults=exact:verbosity=1:log_format=json:log_path={log}")
    built = os.path.join(build, "gpu", "faults")
    done = subprocess.run(["timeout", "-k", "1", "10", "./places", "places.fatbin", kernel, "-", end], cwd=built, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    findings, others = [], []
    if os.path.exists(log):
        with open(log, encoding="utf-8") as f:
            for j in map(json.loads, f):
                (findings if j.get("class") == "gpu-fault" else others).append(j)
    others = [j for j in others if "class" in j]
    return done.returncode, done.stdout.decode(), [j for j in findings if "fault" in j], others


def judge(kernel, where, status, said, findings, others):
    """right, missed, or what is wrong"""
    if status < 0 or status > 128 or status == 124:
        return "hangs" if status in (124, 137) else f"signal {status - 128 if status > 128 else -status}"
    if "setup_failed" in said:
        return said.strip()
    if others or len(findings) > 1:
        return "reported too: " + ", ".join(j["class"] for j in others + findings[1:])
    if not findings:
        return "missed"
    fault, (line, width) = findings[0]["fault"], where[kernel if not kernel.startswith("_Z") else "scaled"]
    named = [f"{os.path.basename(at.get('file', '?'))}:{at.get('line')}" for at in fault.get("lines") or [{}]]
    if f"places.cu:{line}" not in named: # what it names first may be a function of the toolkit's, which was inlined there
        return f"line {named[0]}"
    if width and (fault.get("access"), fault.get("bytes")) not in ((access(kernel), width), (None, None)):
        return f"{fault.get('access')} of {fault.get('bytes')}"
    past, address = int(re.search(r"past:(0x[0-9a-f]+)", said)[1], 16), fault.get("address")
    if address is not None and kernel not in ("load_far", "load_null", "store_before", "misaligned", "trap", "shared_range"):
        off = (int(address, 16) if isinstance(address, str) else address) - past
        if not 0 <= off < 512 * 16:
            return f"address {off:+d} from the end"
    return "right" if address is not None or "thread" not in fault else "right, without an address"


def main(words):
    if len(words) < 2 or not words[1].isdecimal():
        print(__doc__.split("\n")[2].strip(), file=sys.stderr)
        return 2
    if not machine.device():
        print("fault_runs: no NVIDIA GPU here (nvidia-smi lists none)", file=sys.stderr)
        return 77
    build, runs, where, failed = os.path.abspath(words[0]), int(words[1]), places(), False
    plan = [(w, runs) for w in words[2:] or DEFAULT] + [(k + ":error", 1) for k in ONCE if not words[2:]]
    with tempfile.TemporaryDirectory() as scratch:
        for word, times in plan:
            kernel, _, end = word.partition(":")
            verdicts, ends = Counter(), Counter()
            for _ in range(times):
                status, said, *found = run(build, kernel, end or "error", scratch)
                verdicts[judge(kernel, where, status, said, *found)] += 1
                ends[f"status {status}" + (" " + said.strip().split("\n")[-1].split(",")[0] if said.strip() else "")] += 1
            right = sum(n for v, n in verdicts.items() if v.startswith("right"))
            bad = any(not v.startswith(("right", "missed")) for v in verdicts) or right * 30 < times * 28
            failed |= bad
            print("FAIL" if bad else "PASS", f"fault {kernel}, {end or 'error'}:", ", ".join(f"{n} {v}" for v, n in verdicts.items()),
                  f"({', '.join(f'{n} x {e}' for e, n in ends.items())})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
