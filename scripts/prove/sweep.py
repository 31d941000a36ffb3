"""gmod prove --sweep: the launches that a program would make with other numbers on its command line, each proved once."""
import collections
import json
import os
import shlex
import shutil
import struct
import time

import proofs
from as_text import plural
from runs import NoRuns, Runs
from variations import numbers, smaller, variations

NEW_OF_KERNEL = 8  # launches of a kernel that one run may add
RUN_SECONDS = 4
SLOW_SECONDS = 1
SHT_SYMTAB = 2

# launches: [(launch, times)], with a result each; notes: what was run, and what that reached.
Swept = collections.namedtuple("Swept", "launches results notes")


def program_of(command):
    found = shutil.which(command) if os.sep not in command else os.path.abspath(command)
    if not found or not os.path.isfile(found) or not os.access(found, os.X_OK):
        raise NoRuns(f"{command}: there is no such program")
    with open(found, "rb") as file:
        data = file.read()
    if data[:6] != b"\x7fELF\x02\x01":
        raise NoRuns(f"{command} is no program in machine code of 64 bits: only the numbers of such a one are varied")
    if b"libcudart.so" not in data and not _has_names(data):
        raise NoRuns(f"{command} is stripped: the functions of the CUDA runtime in it cannot be found; link it anew without -s")
    return found


def _has_names(data):
    """Whether the executable has a table of symbols for its debugger."""
    start, size, count = (*struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HH", data, 58))
    kinds = [struct.unpack_from("<I", data, start + size * at + 4)[0] for at in range(count) if start + size * at + 8 <= len(data)]
    return SHT_SYMTAB in kinds


def runtime():
    """The library that stands in for the CUDA runtime: beside an installed gmod prove, or in the build folder of the source."""
    here = os.path.dirname(os.path.abspath(__file__))
    build = os.environ.get("GMOD_BUILD") or os.path.join(here, os.pardir, os.pardir, "build")
    for path in (os.path.join(here, os.pardir, "gmod-sweep.so"), os.path.join(build, "gmod-sweep.so")):
        if os.path.exists(path):
            return os.path.realpath(path)
    raise NoRuns("gmod-sweep.so is missing; build it first: make")


class Sweep:
    def __init__(self, command, prover, beside, jobs):
        self.command, self.arguments = command[0], command[1:]
        self.prover, self.jobs = prover, jobs
        self.runs = Runs(program_of(command[0]), runtime(), beside, RUN_SECONDS)
        self.found = collections.OrderedDict()  # signature: [launch, times]
        self.results = []
        self.ends, self.refused, self.count = collections.Counter(), set(), 0

    def _take(self, arguments):
        """The launches of one run that are new."""
        one, end = self.runs.run(arguments)
        self.count += 1
        new, of_kernel = [], collections.Counter()
        for launch in one.launches:
            known = self.found.get(launch.signature())
            if known:
                known[1] += 1
            elif of_kernel[launch.function.name] < NEW_OF_KERNEL:
                of_kernel[launch.function.name] += 1
                launch.command = shlex.join([self.command, *arguments])
                self.found[launch.signature()] = [launch, 1]
                new.append(launch)
        if not one.launches:
            self.ends[end] += 1
        self.refused.update(_refused(one.path))
        return new

    def _base(self, ranges):
        """What the variations start from, and the launches of the runs that it took to find out: a program that is slow with
        its own numbers gets smaller ones, if it comes to a launch with these."""
        began = time.monotonic()
        new = self._take(self.arguments)
        few = smaller(self.arguments)
        if ranges or few == self.arguments or time.monotonic() - began < SLOW_SECONDS:
            return self.arguments, new
        silent = sum(self.ends.values())
        new += self._take(few)
        return (few if sum(self.ends.values()) == silent else self.arguments), new

    def go(self, ranges, until, progress):
        """Until that time, or until all has been tried."""
        base, waiting = self._base(ranges)
        self._prove(waiting, progress)
        waiting, tried_all = [], True
        for arguments in variations(base, ranges):
            if time.monotonic() > until:
                tried_all = False
                break
            if arguments not in (base, self.arguments):
                waiting += self._take(arguments)
            # By then several processes are worth their start.
            if len(waiting) >= 4 * self.jobs:
                self._prove(waiting, progress)
                waiting = []
        self._prove(waiting, progress)
        return Swept([tuple(pair) for pair in self.found.values()], self.results, self._notes(ranges, tried_all))

    def _prove(self, launches, progress):
        done = len(self.results)
        self.results += proofs.prove_all(launches, self.prover, self.jobs,
                                         lambda more: progress(done + more, self.count))

    def _notes(self, ranges, tried_all):
        varied = len(numbers(self.arguments))
        notes = [f"{plural(self.count, 'run')} of {self.command}, each limited to {RUN_SECONDS} s; its kernels did nothing, so that it may "
                 "have ended early where it checks their results"]
        if self.ends:
            ends = ", ".join(f"{number} with {end}" for end, number in self.ends.most_common(4))
            notes.append(f"{plural(sum(self.ends.values()), 'run')} made no launch: they ended {ends}")
        if self.refused:
            notes.append("asked of CUDA in vain: " + ", ".join(sorted(self.refused)[:12]))
        if not varied and not ranges:
            notes.append("the command line has no number to vary; --vary N=1..64 makes its argument N one")
        elif tried_all:
            notes.append("all numbers were tried before the time was over")
        return notes


def _refused(path):
    """Functions of CUDA that the program has called and the runtime does not have."""
    found = set()
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith('{"unsupported":'):
                    found.add(str(json.loads(line)["unsupported"]))
    except (OSError, ValueError):
        pass
    return found


def swept(command, ranges, seconds, prover, beside, jobs, progress):
    """NoRuns: why it cannot be done."""
    for place in ranges:
        if place > len(command) - 1:
            raise NoRuns(f"--vary {place}: the command has {plural(len(command) - 1, 'argument')}")
    sweep = Sweep(command, prover, beside, jobs)
    try:
        return sweep.go(ranges, time.monotonic() + seconds, progress)
    finally:
        sweep.runs.leave()
