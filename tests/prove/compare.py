#!/usr/bin/env python3
"""Compares the prover with an interpreter that knows nothing of it, on random kernels and launches.

    compare.py PROVE COUNT [FIRST] [--jobs N]    # PROVE: the folder of gmod prove

Each kernel of the generator is run with concrete values, and proved from a journal of that launch. Three things must not be:
an access called safe that the run makes outside of its object; an alarm whose witness, the thread that is named, does not go
outside there in the run; and a buffer that the run leaves, once it is a byte shorter than the last access needs, without an alarm
or a reason. The last line has how many accesses were decided, and of those that go outside how many raised the alarm.

Exit status: 0 none of it was seen, 1 it was.
"""
import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

import generator
from interpreter import Buffer, Unsupported, parse, run

PARAMETERS = [[0, 8], [8, 8], [16, 4], [20, 4], [24, 12]]  # of the generator's kernels
MOST_STEPS = 200000


def fnv(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return f"{h:016x}"


def accesses_of(case):
    """Those outside of their objects, or None where the run does not say all."""
    try:
        result = run(parse(case.text), case.kernel, case.grid, case.block, case.launch, dynamic=case.dynamic, max_steps=MOST_STEPS,
                     trace=True)
    except Unsupported:
        return None
    return result.trace if result.stopped is None else None


def shorter(case, trace):
    """The case with the first buffer a byte shorter than its last access needs; None: the run does not use it."""
    first = case.launch.pointers[0]
    ends = [a.offset + a.width for a in trace if not a.outside and a.object is not None and a.space == "global"
            and getattr(a.object, "name", a.object) == first.name]
    if not ends:
        return None
    buffer = Buffer(max(ends) - 1, bytes(first.data[:max(ends) - 1]), first.name)
    return case._replace(launch=case.launch._replace(pointers={**case.launch.pointers, 0: buffer}))


def write(folder, cases):
    with open(os.path.join(folder, "host.1.1.journal"), "w", encoding="ascii") as journal:
        def put(**line):
            journal.write(json.dumps(line) + "\n")

        put(journal="gmod-journal-1", gmod="0", host="host", pid=1, rank=None, command="compare", time="2026-01-01T00:00:00Z")
        for number, case in enumerate(cases, 1):
            image = case.text.encode("ascii")
            with open(os.path.join(folder, fnv(image) + ".image"), "wb") as file:
                file.write(image)
            put(image=number, hash=fnv(image), kind="ptx", bytes=len(image))
            put(function=number, image=number, name=case.kernel, parameters=PARAMETERS)
            pointers = [{"at": at, "offset": 0, "size": len(buffer.data), "site": None, "memory": "device"}
                        for at, buffer in case.launch.pointers.items()]
            put(launch=number, function=number, grid=case.grid, block=case.block, cluster=None, shared=case.dynamic, device=0,
                capability=90, parameters=case.launch.bytes.hex(), pointers=pointers, graph=False)
        put(end=True, launches=len(cases), looked_at=len(cases), signatures=len(cases), dropped=0)


def proved(prove, cases):
    """For each case what the prover says."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, cases)
        done = subprocess.run([sys.executable, "-B", prove, "--json", "--no-cache", "-j", "1", folder], stdout=subprocess.PIPE, check=True)
        launches = json.loads(done.stdout)["launches"]
    if len(launches) != len(cases):
        raise SystemExit(f"compare: {len(launches)} of {len(cases)} launches came back")
    return launches


def judge(seed, case, trace, launch, counts):
    """What is wrong, a line each."""
    outside = {}
    for access in trace:
        if access.outside:
            outside.setdefault(access.line, set()).add((tuple(access.block), tuple(access.thread)))
    said = {}
    for access in launch["accesses"]:
        said.setdefault(access["ptx_line"], []).append(access)
    for line, accesses in said.items():
        for access in accesses:
            counts[access["verdict"]] = counts.get(access["verdict"], 0) + 1
            if access["verdict"] == "safe" and line in outside and access["bytes"]:
                yield f"seed {seed}: line {line} is called safe, and goes outside: {access['instruction']}"
            # Local and shared memory have addresses of 32 bits on the machine: what goes farther comes round.
            far = access["verdict"] == "alarm" and abs(access["offset"]) >= 1 << 31 and access["memory"]["kind"] != "buffer"
            if access["verdict"] == "alarm" and access["kind"] == "out of bounds" and not far:
                witness = tuple(access["block"]), tuple(access["thread"])
                if witness not in outside.get(line, ()):
                    yield f"seed {seed}: line {line}: {witness} does not go outside: {access['instruction']}"
    if launch["undecided"]:
        counts["launches undecided"] = counts.get("launches undecided", 0) + 1
    for line in outside:
        counts["outside"] = counts.get("outside", 0) + 1
        verdicts = {access["verdict"] for access in said.get(line, ())}
        if "alarm" in verdicts:
            counts["outside and told"] = counts.get("outside and told", 0) + 1
        elif not verdicts and not launch["undecided"]:
            yield f"seed {seed}: line {line} goes outside, and nothing is said of it"


def compare(task):
    prove, seeds = task
    cases, counts, wrong = [], {}, []
    for seed in seeds:
        case = generator.generate(seed)
        trace = accesses_of(case)
        if trace is None:
            counts["not run"] = counts.get("not run", 0) + 1
            continue
        cases.append((seed, case, trace))
        less = shorter(case, trace)
        if less:
            trace = accesses_of(generator.Case(*less))
            if trace is not None:
                cases.append((f"{seed}, shorter", less, trace))
    for (seed, case, trace), launch in zip(cases, proved(prove, [case for _, case, _ in cases])):
        wrong += judge(seed, case, trace, launch, counts)
    counts["launches"] = len(cases)
    return counts, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prove")
    parser.add_argument("count", type=int)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.count)
    tasks = [(options.prove, seeds[i:i + 50]) for i in range(0, len(seeds), 50)]
    total, bad = {}, 0
    with multiprocessing.Pool(options.jobs) as pool:
        for counts, wrong in pool.imap_unordered(compare, tasks):
            for key, count in counts.items():
                total[key] = total.get(key, 0) + count
            for line in wrong:
                print(line, flush=True)
            bad += len(wrong)
    print(", ".join(f"{key} {count}" for key, count in sorted(total.items())))
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
