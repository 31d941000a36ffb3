"""Memory that kernels allocate, beside CUDA's own: a part of bench/run.

    programs   the paper's five programs at three numbers of threads, in blocks of four sizes
    malloc     allocation alone, likewise
    latency    how long a stray store stays unseen, by live buffers and guard workers
    stress     10^8 allocations and frees; then a heap that is too small

Programs and malloc run in turns: a process without GMOD, one with GMOD's heap, and another one without, which shows how
far two identical processes are apart. The order changes from round to round.
"""

import os

from pairs import median
from processes import fields
from record import Record, grouped, verdict
from report import table

LIMIT = 75
HEAP_MIB = 2048  # CUDA's own has as much: bench/inkernel.cu
ROUNDS = 3
CUDA = ("cuda", "again")  # without GMOD
ARMS = ("cuda", "slab", "again")
BLOCKS, THREADS = (128, 256, 512, 1024), (1024, 20480, 102400)
PROGRAMS = ("alloc-dealloc", "alloc-cycle-dealloc", "grid-point", "add-string", "random-graph")

TIMES = """
Milliseconds: the median of the rounds, and in brackets the least and the greatest. CUDA is malloc and free without
GMOD, from two sets of processes; A/A is how much slower the second set is. Slab is mallocN and freeN under GMOD. x is
CUDA's time divided by the one before: above 1 is faster. Block is the number of threads in one.
"""
QUIET = '''"Until quiet" is from the launch until the guard has seen that no buffer is live, at its pass behind the kernel. freeN has
given them back before.

'''
MALLOC = """Each thread allocates 64 bytes; what is done with them is not timed.

"""
LATENCY = """
From the store of one byte behind one buffer, at a random time in a kernel that runs on, to the finding: median and
greatest of nine trials. Buffers have 64 bytes; guard workers are device_guards, all else is default. The kernel
beside them has 20 480 threads, each of which allocates, writes, reads and frees 64 bytes four times: median of nine.
"""
STRESS = """
Buffers of 1 byte to 64 KiB from kernels on four streams. At the end program and guard agree on how many buffers are
live and on their bytes; then all are freed and the heap is empty; no buffer has lost its marks; no findings. "Not
served" are allocations that got NULL.

"""


def ms(x):
    x = float(x)
    return f"{x:.{0 if x >= 100 else 1 if x >= 10 else 2 if x >= 1 else 3 if x >= 0.1 else 4}f}"


def times(gain):
    return "-" if gain is None else f"{gain:.1f}x" if gain >= 10 else f"{gain:.2f}x"


# ---- programs and malloc ----


class Cases:
    """What the rounds have measured of each case: a program, the size of its blocks, and the number of threads."""

    def __init__(self, lines):
        self.names, self.failures = [], [line for line in lines if line.startswith("FAIL:")]
        self.checksums, self.measured = {}, {}
        for line in lines:
            if not line.startswith("FAIL:"):
                self.take(fields(line))

    def take(self, row):
        case = row["case"], int(row["block"]), int(row["threads"])
        if case not in self.checksums:
            self.names.append(case)
        if self.checksums.setdefault(case, row["checksum"]) != row["checksum"]:
            self.failures.append(f"FAIL: {self.text(case)}: another checksum: {row['arm']}, round {row['round']}")
            return
        for metric in ("kernel_ms", "quiet_ms"):
            if metric in row:
                self.measured.setdefault((case, metric, row["arm"]), []).append(float(row[metric]))

    @staticmethod
    def text(case):
        return f"{case[0]}, {grouped(case[2])} threads in blocks of {case[1]}"

    def values(self, case, metric, *arms):
        return [x for arm in arms for x in self.measured.get((case, metric, arm), ())]

    def middle(self, case, metric, *arms):
        values = self.values(case, metric, *arms)
        return median(values) if values else None

    def spread(self, case, metric, *arms):
        values = self.values(case, metric, *arms)
        return f"{ms(median(values))} ({ms(min(values))} to {ms(max(values))})" if values else "-"

    def gain(self, case, metric, arm):
        """How many times faster than CUDA to the end of its kernels; None: not known."""
        cuda, other = self.middle(case, "kernel_ms", *CUDA), self.middle(case, metric, arm)
        return cuda / other if cuda is not None and other else None

    def apart(self, case):
        """How much slower the second set of processes without GMOD is."""
        first, second = (self.middle(case, "kernel_ms", arm) for arm in CUDA)
        return f"{(second / first - 1) * 100:+.1f} %" if first and second is not None else "-"

    def row(self, case, metrics):
        cells = [case[0], *map(grouped, case[1:]), self.spread(case, "kernel_ms", *CUDA), self.apart(case)]
        for metric in metrics:
            cells += [self.spread(case, metric, "slab"), times(self.gain(case, metric, "slab"))]
        return cells

    def verdict(self, case, metric, least, what):
        """Whether a case is at least so many times faster."""
        gain = self.gain(case, metric, "slab")
        what = f"slab, {self.text(case)}, {what}"
        return verdict((gain or 0) >= least, gain is not None, f"{what}: {times(gain)} (wanted: {least}x or more)")

    def verdict_worst(self, count, what):
        """All cases: none of them slower."""
        gains = [(gain, case) for case in self.names if (gain := self.gain(case, "kernel_ms", "slab")) is not None]
        if not gains:
            return verdict(False, False, what)
        worst, case = min(gains)
        text = f"{what}: least {worst:.3f}x, {self.text(case)} (wanted: 1x or more; two runs of CUDA's differ there by "
        text += self.apart(case) + ")"
        if len(gains) < count:
            text += f"; {len(gains)} of {count} cases so far"
        return verdict(worst >= 1, len(gains) == count, text)


def programs(lines):
    cases = Cases(lines)
    heads = ("program", "block:", "threads:", "CUDA:", "A/A:", "slab:", "x:", "slab, until quiet:", "x:")
    yield from table(heads, (cases.row(case, ("kernel_ms", "quiet_ms")) for case in cases.names))
    yield from (TIMES + QUIET).splitlines()
    for block in BLOCKS:
        most = "alloc-dealloc", block, THREADS[-1]
        yield cases.verdict(most, "kernel_ms", 30, "to the end of the kernel")
    yield cases.verdict_worst(len(PROGRAMS) * len(BLOCKS) * len(THREADS), "slab, never slower than CUDA")
    yield from (f"- {failure}" for failure in cases.failures)


def malloc(lines):
    cases = Cases(lines)
    heads = ("", "block:", "threads:", "CUDA:", "A/A:", "slab:", "x:")
    yield from table(heads, (cases.row(case, ("kernel_ms",)) for case in cases.names))
    yield from (TIMES + MALLOC).splitlines()
    yield cases.verdict_worst(len(BLOCKS) * len(THREADS), "slab, faster than CUDA")
    yield from (f"- {failure}" for failure in cases.failures)


# ---- latency and stress ----


def rows_of(lines):
    return [fields(line) for line in lines if not line.startswith("FAIL:")]


def failures_of(lines):
    return [f"- {line}" for line in lines if line.startswith("FAIL:")]


def latency(lines):
    rows = rows_of(lines)
    beside = {row["buffers"]: ms(row["beside_ms"]) for row in rows if row["arm"] == "cuda"}
    heads = ("live buffers:", "guard workers:", "found after, ms:", "at most, ms:", "a kernel beside them, ms:")
    heads += ("the same without GMOD, ms:",)
    keys = ("median_ms", "max_ms", "beside_ms")
    yield from table(
        heads,
        (
            (grouped(row["buffers"]), row["guards"], *(ms(row[key]) for key in keys), beside.get(row["buffers"], "-"))
            for row in rows
            if row["arm"] != "cuda"
        ),
    )
    yield from LATENCY.splitlines()
    yield from failures_of(lines)


def stress_row(row):
    cells = [row["arm"], grouped(row["pairs"]), row["pairs_per_s"], row["seconds"], grouped(row["failed"])]
    return *cells, grouped(row["held"]), row["peak_mib"], row["heap_mib"], grouped(row["passes"])


def stress(lines):
    rows = rows_of(lines)
    heads = ("heap", "pairs:", "pairs/s:", "seconds:", "not served:", "live at the end:")
    heads += ("MiB in use at most:", "MiB of heap:", "guard passes:")
    yield from table(heads, map(stress_row, rows))
    yield from STRESS.splitlines()
    for row in rows:
        what = f"{row['arm']}, {grouped(row['pairs'])} pairs, {row['heap_mib']} MiB"
        yield verdict(True, True, f"{what}: every buffer accounted for, the heap empty at the end")
    yield from failures_of(lines)


# ---- the runs ----


class KernelRecord(Record):
    """A record of what the program bench/inkernel says."""

    def program(self, arm, *words):
        """The command; the arm says whether its MEMORY is CUDA's or GMOD's."""
        memory = "cuda" if arm in CUDA else "gmod"
        return [f"{self.build}/bench/inkernel", words[0], memory, *map(str, words[1:])]

    def environment(self, arm, options=""):
        kept = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "GMOD_OPTIONS")}
        if arm not in CUDA:
            kept["LD_PRELOAD"] = f"{self.build}/libgmod.so"
            options = f":{options}" if options else ""
            kept["GMOD_OPTIONS"] = f"device_heap={arm}:device_heap_mb={HEAP_MIB}:log_path={self.scratch}/reports.log{options}"
        return kept


class Inkernel(KernelRecord):
    name, title = "inkernel", "Memory that kernels allocate"
    sections = ("programs", "malloc", "latency", "stress")

    def tables(self, section, lines):
        return {"programs": programs, "malloc": malloc, "latency": latency, "stress": stress}[section](lines)

    def under(self, label, *words, options=""):
        """Runs the program; the label, which names the arm, goes before each of its lines."""
        arm = fields(label)["arm"]
        command = self.program(arm, *words)
        self.measure(f"{label}: {' '.join(command[1:])}", command, self.environment(arm, options), LIMIT, f"{label} ")

    def in_turns(self, program):
        """Measures a program under all arms, in all rounds."""
        for round_ in range(ROUNDS):
            for turn in range(len(ARMS)):
                arm = ARMS[(turn + round_) % len(ARMS)]
                self.under(f"round={round_ + 1} arm={arm}", "program", program)

    def programs(self):
        for program in PROGRAMS:
            self.in_turns(program)

    def malloc(self):
        self.in_turns("malloc")

    def latency(self):
        for buffers in (100, 1000, 10000, 100000):
            self.under("arm=cuda", "latency", buffers)
            for guards in (8, 32, 128, 256):
                self.under(f"arm=slab guards={guards}", "latency", buffers, options=f"device_guards={guards}")

    def stress(self):
        self.under("arm=slab", "stress", 100000000)
        self.under("arm=slab", "stress", 10000000, 16, options="device_heap_mb=64")
