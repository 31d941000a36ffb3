#!/usr/bin/env python3
"""Compares the prover with an interpreter that knows nothing of it.

    compare.py PROVE COUNT [FIRST] [--jobs N]    # PROVE: the folder of gmod prove; COUNT: random kernels; own ones always

Each launch of the tree's own kernels and of COUNT random ones is run with concrete values, and proved from a journal of it. So is
each launch with one of its buffers a byte shorter than the last access needs, for each of its buffers. Three things must not be:
an access called safe that the run makes outside of its object; an alarm whose witness, the thread that is named, does not go
wrong there in the run; and an access outside of which nothing is said. The last lines say how many accesses were decided, and
what was said of those that go outside because a buffer is shorter.

Exit status: 0 none of it was seen, 1 it was.
"""
import argparse
import collections
import functools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

import generator
from interpreter import Buffer, Launch, Unsupported, parse, run
import write_journal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "own"))
import cases as own  # noqa: E402

PARAMETERS = [[0, 8], [8, 8], [16, 4], [20, 4], [24, 12]]  # of the generator's kernels
MOST_STEPS = 200000
MOST_BYTES = 1 << 24  # of a buffer that is really made
AT_ONCE = 50

# trace: the accesses of the run. shrunk: the lines that went outside before a buffer became shorter, or None if none did.
Compared = collections.namedtuple("Compared", "name case layout trace shrunk")


parsed = functools.lru_cache(maxsize=4)(parse)


def trace_of(case):
    """Each access of the run, or None where it does not say all."""
    try:
        result = run(parsed(case.text), case.kernel, case.grid, case.block, case.launch, dynamic=case.dynamic, max_steps=MOST_STEPS,
                     trace=True)
    except Unsupported:
        return None
    return result.trace if result.stopped is None else None


def own_case(number):
    """(case, layout of its parameters) of a launch of the tree's own; None: its buffers are too large to be made."""
    file, kernel, grid, block, arguments, shared, _ = own.CASES[number]
    layout, data, pointers = write_journal.packed(arguments)
    if any(one.size > MOST_BYTES for _, one in pointers):
        return None
    with open(os.path.join(HERE, "own", file + ".ptx"), encoding="ascii") as source:
        text = source.read()
    buffers = {at: (Buffer(one.size, b"", f"parameter at {at}"), one.offset) for at, one in pointers}
    return generator.Case(text, kernel, write_journal.side(grid), write_journal.side(block), Launch(data, buffers), shared), layout


def shorter(case, trace):
    """The case with one of its buffers a byte shorter than the last access needs, for each that is accessed."""
    for at, (buffer, delta) in case.launch.pointers.items():
        ends = [a.offset + a.width for a in trace if not a.outside and a.object is not None and a.space == "global"
                and getattr(a.object, "name", a.object) == buffer.name]
        if ends:
            size = max(ends) - 1
            less = Buffer(size, bytes(buffer.data[:size]), buffer.name), delta
            yield case._replace(launch=case.launch._replace(pointers={**case.launch.pointers, at: less}))


def write(folder, compared):
    journal = write_journal.Journal(folder)
    for one in compared:
        case = one.case
        pointers = [(at, write_journal.Buffer(len(buffer.data), delta)) for at, (buffer, delta) in case.launch.pointers.items()]
        journal.put(journal.image(case.text.encode("ascii")), case.kernel, case.grid, case.block, one.layout, case.launch.bytes,
                    pointers, case.dynamic)
    journal.close()


def proved(prove, compared):
    """For each what the prover says."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, compared)
        done = subprocess.run([sys.executable, "-B", prove, "--json", "--no-cache", "-j", "1", folder],
                              stdout=subprocess.PIPE, check=True)
        launches = iter(json.loads(done.stdout)["launches"])
    # Equal launches are proved once.
    known = {}
    for one in compared:
        pointers = tuple((at, len(buffer.data), delta) for at, (buffer, delta) in one.case.launch.pointers.items())
        key = one.case._replace(launch=(one.case.launch.bytes, pointers))
        if key not in known:
            known[key] = next(launches)
        yield known[key]


def judge(one, launch, counts):
    """What is wrong, a line each."""
    outside, wrong = {}, {"out of bounds": set(), "misaligned": set()}
    for access in one.trace:
        witness = access.line, tuple(access.block), tuple(access.thread)
        if access.outside:
            outside.setdefault(access.line, access)
            wrong["out of bounds"].add(witness)
        if access.misaligned:
            wrong["misaligned"].add(witness)
    said = {}
    for access in launch["accesses"]:
        said.setdefault(access["ptx_line"], []).append(access)
    for line, accesses in said.items():
        for access in accesses:
            counts[access["verdict"]] += 1
            if access["verdict"] == "safe" and line in outside and access["bytes"]:
                yield f"{one.name}: line {line} is called safe, and goes outside: {access['instruction']}"
            # Local and shared memory have addresses of 32 bits on the machine: what goes farther comes round.
            far = access["verdict"] == "alarm" and abs(access["offset"]) >= 1 << 31 and access["memory"]["kind"] != "buffer"
            if access["verdict"] == "alarm" and not far:
                witness = line, tuple(access["block"]), tuple(access["thread"])
                if witness not in wrong[access["kind"]]:
                    yield f"{one.name}: {witness} is not {access['kind']}: {access['instruction']}"
    counts["launches"] += 1
    counts["launches undecided"] += bool(launch["undecided"])
    reasons = {access["reason"] for access in launch["accesses"]}
    for line, access in outside.items():
        verdicts = {access["verdict"] for access in said.get(line, ())}
        called = access.function != one.case.kernel and "unknown callee" in reasons
        word = "alarm" if "alarm" in verdicts else "undecided" if verdicts or called or launch["undecided"] else None
        if word is None:
            yield f"{one.name}: line {line} goes outside, and nothing is said of it"
        elif one.shrunk is not None and line not in one.shrunk:
            counts[f"shrunk {one.name.split()[0]} {word}"] += 1


def compare(task):
    """A task: the folder of gmod prove, and either numbers of own launches or seeds."""
    prove, kind, numbers = task
    compared, counts, wrong = [], collections.Counter(), []
    for number in numbers:
        found = own_case(number) if kind == "own" else (generator.generate(number), PARAMETERS)
        trace = found and trace_of(found[0])
        if trace is None:
            counts["not run"] += 1
            continue
        case, layout = found
        pointers = {at: one if isinstance(one, tuple) else (one, 0) for at, one in case.launch.pointers.items()}
        case = case._replace(launch=case.launch._replace(pointers=pointers))
        compared.append(Compared(f"{kind} {number}", case, layout, trace, None))
        before = {access.line for access in trace if access.outside}
        for less in shorter(case, trace):
            trace_of_less = trace_of(less)
            if trace_of_less is not None:
                compared.append(Compared(f"{kind} {number}, shorter", less, layout, trace_of_less, before))
    for one, launch in zip(compared, proved(prove, compared)):
        wrong += judge(one, launch, counts)
    return counts, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prove")
    parser.add_argument("count", type=int)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    tasks = [(options.prove, kind, numbers[i:i + AT_ONCE])
             for kind, numbers in (("own", range(len(own.CASES))), ("seed", range(options.first, options.first + options.count)))
             for i in range(0, len(numbers), AT_ONCE)]
    total, bad = collections.Counter(), 0
    with multiprocessing.Pool(options.jobs) as pool:
        for counts, wrong in pool.imap_unordered(compare, tasks):
            total += counts
            for line in wrong:
                print(line, flush=True)
            bad += len(wrong)
    print(", ".join(f"{key} {total[key]}" for key in ("launches", "launches undecided", "not run", "safe", "alarm", "undecided")))
    for kind, what in (("own", "own kernels"), ("seed", "random kernels")):
        told, undecided = total[f"shrunk {kind} alarm"], total[f"shrunk {kind} undecided"]
        if told + undecided:
            print(f"outside because a buffer is a byte shorter, {what}: {told} alarms, {undecided} undecided, "
                  f"{100 * told / (told + undecided):.1f} % told")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
