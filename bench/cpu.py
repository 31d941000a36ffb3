"""What a CPU alone can show, without a GPU or a driver: bench/results/cpu.md. Run by `make bench-cpu`, which builds
bench/sweep, and what is timed over a driver that does nothing.

Environment: BUILD (default: build), MIB (default: 2048), memory for canary pages, which limits the buffers.
"""

import glob
import os
import statistics
import subprocess
import sys

import machine
import processes
from record import Record, Refused, attempt, grouped, last_line, verdict
from report import table

BUFFERS = (10, 100, 1000, 10000, 100000, 1000000)
AT, WANTED = 100000, 35  # buffers, and at most so many ns for each of them
LIMIT = 300
RUNS = 5  # with Python's lines and without, in turn
CALLS = (("launch", 100), ("allocation", 1000))  # and at most so many ns more for each
CALLED = {"launch": "a launch", "allocation": "an allocation and its free"}
FRAMES = 12
SWEEPS_TITLE = (
    "Nanoseconds of CPU time per buffer and sweep, the median, least and most of whole sweeps, and the median of passes"
    " that only read its two lines"
)
MEMORY_TITLE = "Host memory per buffer, and microseconds of GMOD's own work per allocation and free"


def ticks():
    """Ticks that ran, and ticks that another virtual machine had instead."""
    with open("/proc/stat") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    return user + nice + system + irq + softirq, steal


def short(x):
    return f"{float(x):.0f}" if float(x) >= 100 else f"{float(x):.1f}"


def us(ns):
    return short(float(ns) / 1000)


def lines_alone(row):
    """Of few buffers that would be what looking at the clock takes."""
    return "-" if int(row["buffers"]) < 1000 else short(row["lines_alone"])


def sweep_row(row):
    return (
        grouped(row["buffers"]),
        row["order"],
        row["pace"],
        short(row["ns_per_buffer"]),
        f"{short(row['least'])} to {short(row['most'])}",
        lines_alone(row),
        short(row["us_per_sweep"]),
        row["sweeps"],
    )


def memory_row(row):
    times = (us(row[f"{what}_ns"]) for what in ("allocate", "write", "free", "verify"))
    return grouped(row["buffers"]), row["bytes_per_buffer"], row["record_bytes"], row["canary_page_bytes"], *times


def verdicts(sweeps):
    for row in sweeps:
        if int(row["buffers"]) == AT:
            ns = float(row["ns_per_buffer"])
            what = f"{grouped(AT)} buffers, {row['order']}, {row['pace']}: {short(ns)} ns per buffer"
            limits = f"(wanted: at most {WANTED}; its two lines alone: {short(row['lines_alone'])})"
            yield verdict(ns <= WANTED, True, f"{what} {limits}")
    if not any(int(row["buffers"]) == AT for row in sweeps):
        yield verdict(False, False, f"{grouped(AT)} buffers (wanted: at most {WANTED} ns per buffer)")


def notes(rows):
    cut = {row["asked"]: row for row in rows if "asked" in row and row["asked"] != row["buffers"]}
    for asked, row in cut.items():
        room = f"in {row['limit_mib']} MiB: {grouped(row['buffers'])} instead."
        yield from ("", f"{grouped(asked)} buffers have no room for their canary pages {room}")
    for row in rows:
        if "stolen" in row:
            stolen, ran = int(row["stolen"]), int(row["ran"])
            share = 100 * stolen / (stolen + ran + 0.01)
            others = f"{share:.1f} % went to other virtual machines."
            yield from ("", f"Of the time that this machine's CPUs were wanted, {others}")


def tables(lines):
    """Makes tables and verdicts of what bench/sweep prints."""
    rows = [processes.fields(line) for line in lines if not line.startswith("FAIL:")]
    sweeps, memory = [row for row in rows if "pace" in row], {}
    for row in rows:
        # Hardly the same twice for fewer, and the same in both orders.
        if "bytes_per_buffer" in row and int(row["buffers"]) >= 1000:
            memory.setdefault(row["buffers"], row)
    yield from verdicts(sweeps)
    yield from (f"- {line}" for line in lines if line.startswith("FAIL:"))
    yield from notes(rows)
    yield from ("", f"{SWEEPS_TITLE}:", "")
    heads = ("Buffers:", "Order", "Pace", "ns per buffer:", "from, to:", "its two lines alone:")
    heads += ("us per sweep:", "Sweeps:")
    yield from table(heads, map(sweep_row, sweeps))
    yield from ("", f"{MEMORY_TITLE}:", "")
    heads = ("Buffers:", "Registry and index, bytes:", "of it the record:", "Canary pages, bytes:", "Allocate:")
    heads += ("of it writing canaries:", "Free:", "of it verifying them:")
    yield from table(heads, map(memory_row, memory.values()))


def pythons():
    """{version: interpreter} of those that are here and whose lines GMOD reads."""
    found = {}
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    installed = sorted(glob.glob(f"{pyenv}/versions/3.*/bin/python3"))
    for each in (sys.executable, *(f"python3.{minor}" for minor in range(11, 15)), *installed):
        try:
            command = [each, "-c", "import ctypes, platform; print(platform.python_version())"]
            version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            continue
        if version.split(".")[1] in ("11", "12", "13", "14"):
            found.setdefault(version, each)
    return dict(sorted(found.items()))


def python_tables(lines):
    """Makes a table and verdicts of what the section of that name gives."""
    rows = [processes.fields(line) for line in lines if not line.startswith("FAIL:")]
    for row in rows:
        for call, most in CALLS:
            more = float(row[f"{call}_with"]) - float(row[f"{call}_without"])
            what = f"Python {row['python']}, {FRAMES} frames: {short(more)} ns more for {CALLED[call]}"
            yield verdict(more <= most, True, f"{what} (wanted: at most {most})")
    yield from (f"- {line}" for line in lines if line.startswith("FAIL:"))
    if not lines:
        yield verdict(False, False, "no Python is here whose lines are read")
    yield from ("", f"Nanoseconds a call, without and with the lines of Python, the medians of {RUNS} runs:", "")
    heads = ("Python", "Launch:", "with lines:", "Allocation and free:", "with lines:")
    keys = [f"{call}_{how}" for call, _ in CALLS for how in ("without", "with")]
    yield from table(heads, ((row["python"], *(short(row[key]) for key in keys)) for row in rows))


class Cpu(Record):
    name, title = "cpu", "What a CPU alone shows"
    sections = ("sweeps", "python")

    def device(self):
        kind = f"family {machine.cpuinfo('cpu family')}, model {machine.cpuinfo('model')}"
        virtual = ", in a virtual machine" if "hypervisor" in machine.cpuinfo("flags").split() else ""
        return f"{machine.cpu()} ({kind}), {len(os.sched_getaffinity(0))} CPUs{virtual}"

    def make(self):
        self.program = f"{self.build}/bench/sweep"
        if not os.access(self.program, os.X_OK):
            raise Refused(2, f"{self.program} is missing: make bench-cpu builds it")

    def about(self):
        with open("/proc/loadavg") as f:
            load = " ".join(f.read().split()[:3])
        return (
            "Written by `make bench-cpu`; see `bench/README.md`. No GPU, no driver.",
            "",
            f"- device: {self.on}",
            f"- compiler: {machine.said(os.environ.get('CC') or 'cc', '--version')[0]}",
            f"- load: {load} when it began",
        )

    def tables(self, section, lines):
        return python_tables(lines) if section == "python" else tables(lines)

    def python(self):
        """Over the driver that does nothing, from a stack of Python frames."""
        script = os.path.join(machine.TOP, "tests/programs/figures/figure_python_cost.py")
        null = os.path.join(self.build, "null")
        library = {"LD_PRELOAD": os.path.join(self.build, "libgmod.so"), "LD_LIBRARY_PATH": null}
        for version, python in pythons().items():
            command = [python, script, os.path.join(null, "figure_python_cost.so"), str(FRAMES)]
            ns = {}
            for _ in range(RUNS):
                for how, lines in (("with", 1), ("without", 0)):
                    environment = {**os.environ, **library, "GMOD_OPTIONS": f"python_lines={lines}"}
                    status, output, errors = self.execute(command, environment, LIMIT)
                    if status != 0:
                        self.result(f"FAIL: Python {version}: {self.outcome(status, LIMIT, last_line(errors))}")
                        return
                    row = processes.fields(last_line(output))
                    for call, _ in CALLS:
                        ns.setdefault(f"{call}_{how}", []).append(float(row[f"{call}_ns"]))
            medians = " ".join(f"{key}={statistics.median(values):.1f}" for key, values in ns.items())
            self.result(f"python={version} {medians}")

    def sweeps(self):
        ran_before, stolen_before = ticks()
        for buffers in BUFFERS:
            for order in ("allocated", "shuffled"):
                command = [self.program, str(buffers), order, os.environ.get("MIB") or "2048"]
                self.measure(f"{buffers} buffers, {order}", command, os.environ, LIMIT, prefix="")
        ran, stolen = ticks()
        self.result(f"stolen={stolen - stolen_before} ran={ran - ran_before}")


def main():
    if len(sys.argv) > 1:
        raise Refused(2, "usage: bench/cpu.py")
    if os.environ.get("SANITIZE"):
        raise Refused(2, f"no figures of an instrumented library (SANITIZE={os.environ['SANITIZE']})")
    return Cpu(os.environ.get("BUILD") or "build").run()


if __name__ == "__main__":
    sys.exit(attempt(main))
