"""Test suites that others wrote, natively and under GMOD, outcome by outcome.

  suites.py BUILD SUITE [TEST...]

SUITE is numba, for numba-cuda's own tests (all, or the modules and tests named), or a folder with CuPy's tests of the release that
is installed, or PyTorch's (TEST: folders and files in it). These take pytest with xdist, and numba-cuda's filecheck. All run in
WORKERS processes (default: 7), natively and under each of BACKENDS (default: device), with OPTIONS of GMOD's beside it, at the same
time: a machine is lent by the minute. After LIMIT seconds (default: 560), or at SIGTERM, what still runs is ended, and what has ended is compared.

Writes for each side how many tests ended, which had begun and where they were, and the slowest ten; then a line for each test
that ends in another way than natively, one for each report of GMOD's, the counts, and the first of each report in full. What
the suites print and GMOD's logs stay in a new folder in the folder KEEP, where that is set. Exit status: 0 as natively and no
report, 1 not so or not done in time, 2 the suite did not run.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from glob import glob

WORKERS = os.environ.get("WORKERS", "7")
BACKENDS = os.environ.get("BACKENDS", "device").split()
OPTIONS = os.environ.get("OPTIONS", "")
LIMIT = float(os.environ.get("LIMIT", "560"))
TELLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "suites")

# numba-cuda 0.30 calls what NumPy 2.5 has no more.
SITE = """import tells
tells.unittest_too()
import numpy
if not hasattr(numpy, 'row_stack'):
    numpy.row_stack = numpy.vstack
"""
HEADER = re.compile(r"^==\d+==GMOD: .*\[finding \d+")
REPORT_LINES = 60
STACK_LINES = 12


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, errors="replace", encoding="utf-8") as f:
        return f.read().splitlines()


class Side:
    """A suite that runs, natively or under GMOD, and what is known of it."""

    def __init__(self, name, work, suite, tests, more):
        self.name, self.work, self.seconds, self.in_time = name, work, 0, True
        os.makedirs(os.path.join(work, "logs"))
        environment = {**os.environ, **more, "SUITES_TOLD": work}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [work, TELLS, os.environ.get("PYTHONPATH")]))
        if suite == "numba":
            with open(os.path.join(work, "sitecustomize.py"), "w", encoding="ascii") as f:
                f.write(SITE)
            words = ["numba.runtests", "-v", "-m", WORKERS, *(tests or ["numba.cuda.tests"])]
        else:
            words = ["pytest", "-v", "-p", "no:cacheprovider", "-p", "tells", "-n", WORKERS]
            words += tests or ["cupy_tests/cuda_tests", "cupy_tests/creation_tests"]
        folder = work if suite == "numba" else suite
        self.began = time.time()
        with open(os.path.join(work, "said"), "w", encoding="utf-8") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *words],
                env=environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def runs(self):
        if self.process.poll() is not None:
            return False
        self.seconds = time.time() - self.began
        return True

    def kill(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def read(self):
        """Takes in what its tests told: outcomes, seconds, and what has begun and not ended."""
        self.found, self.took, self.running, self.begun = {}, {}, {}, []
        for line in lines_of(os.path.join(self.work, "told")):
            when, process, word, test = line.split("\t", 3)
            if word == "begun":
                self.running[test] = float(when)
                self.begun.append((float(when), process, test))
            elif word == "ended":
                self.took[test] = float(when) - self.running.pop(test, float(when))
            else:
                self.found[test] = word
        for test in self.running:
            self.found.pop(test, None)

    def say(self):
        first = f"; the first began after {self.begun[0][0] - self.began:.0f} s" if self.begun else ""
        print(
            f"{self.name}: {'done' if self.in_time else 'NOT done'} in {self.seconds:.0f} s: {len(self.found)} tests ended, "
            f"{len(self.running)} begun and not ended{first}"
        )
        for test, since in sorted(self.running.items(), key=lambda item: item[1]):
            print(f"{self.name}: runs for {self.began + self.seconds - since:.0f} s: {test}")
        for stack in self.stacks():
            print("", *stack, sep="\n    ")
        for test in sorted(self.took, key=self.took.get, reverse=True)[:10]:
            print(f"{self.name}: took {self.took[test]:.1f} s: {test}")
        if not self.found:
            print(f"{self.name}: no test ended:", *lines_of(os.path.join(self.work, "said"))[-20:], sep="\n", flush=True)

    def stacks(self):
        """Of each thread that was in a test the innermost frames."""
        for path in sorted(glob(os.path.join(self.work, "*.stack"))):
            for thread in "\n".join(lines_of(path)).split("\n\n"):
                if re.search(r"/test_\w+\.py", thread):
                    yield [f"process {os.path.basename(path).split('.')[0]}:", *thread.splitlines()[:STACK_LINES]]

    def reports(self):
        """The summary lines of all processes: how often each came, and the first report whole."""
        found = {}
        for log in sorted(glob(os.path.join(self.work, "logs", "*"))):
            report = []
            for line in lines_of(log):
                report = [line] if HEADER.match(line) else [*report, line]
                if line.startswith("SUMMARY: GMOD: "):
                    times, first = found.get(line, (0, [*report[: REPORT_LINES - 1], line, self.whose(log)]))
                    found[line] = times + 1, first
                    report = []
        return found

    def whose(self, log):
        """The tests that a log's process had begun last when it was written to."""
        process, when = os.path.basename(log).split(".")[0], os.path.getmtime(log)
        tests = [test for since, of, test in self.begun if of == process and since <= when]
        return f"(process {process}; its last tests when its log was last written: {', '.join(tests[-3:]) or 'none'})"


def compare(native, side):
    """Is all as natively? Where not both were done in time, of the tests that ended on both."""
    tests = native.found if native.in_time and side.in_time else native.found.keys() & side.found.keys()
    other = {test: side.found.get(test, "absent") for test in tests if side.found.get(test, "absent") != native.found[test]}
    said = side.reports()
    for test, outcome in sorted(other.items()):
        print(f"{side.name}: {test}: {outcome}, natively {native.found[test]}")
    for line, (times, _) in sorted(said.items()):
        print(f"{side.name}: {times} times {line}")
    count = sum(times for times, _ in said.values())
    print(f"{side.name}: {len(tests)} tests, {len(other)} end otherwise than natively; {count} reports", flush=True)
    for _, (_, report) in sorted(said.items()):
        print("", *report, sep="\n")
    return not other and not said


def running(sides):
    return [side for side in sides if side.runs()]


def wait(sides):
    """Until all are done, it is time, or SIGTERM comes; ends what still runs."""
    stop, end = threading.Event(), time.monotonic() + LIMIT
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    while running(sides) and time.monotonic() < end and not stop.wait(0.2):
        pass
    late = running(sides)
    for side in late:
        side.in_time = False
        side.kill(signal.SIGUSR1)
    time.sleep(1 if late else 0)
    for side in late:
        side.kill(signal.SIGKILL)
    for side in late:
        with contextlib.suppress(subprocess.TimeoutExpired):
            side.process.wait(5)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    library, suite, tests = os.path.abspath(os.path.join(sys.argv[1], "libgmod.so")), sys.argv[2], sys.argv[3:]
    if suite != "numba" and not os.path.isdir(suite):
        print(f"suites: there is no folder {suite}", file=sys.stderr)
        sys.exit(2)
    with contextlib.ExitStack() as stack:
        kept = os.environ.get("KEEP")
        work = tempfile.mkdtemp(dir=os.path.abspath(kept)) if kept else stack.enter_context(tempfile.TemporaryDirectory())
        sides = []
        for name in ["natively", *BACKENDS]:
            own = os.path.join(work, name)
            options = f"backend={name}:log_path={own}/logs/%p.log:{OPTIONS}"
            more = {} if name == "natively" else {"LD_PRELOAD": library, "GMOD_OPTIONS": options}
            sides.append(Side(name, own, suite, tests, more))
        wait(sides)
        for side in sides:
            side.read()
            side.say()
        native = sides[0]
        if any(side.in_time and not side.found for side in sides):
            print(f"suites: {suite} did not run")
            sys.exit(2)
        counts = {outcome: list(native.found.values()).count(outcome) for outcome in sorted(set(native.found.values()))}
        said = ", ".join(f"{n} {outcome}" for outcome, n in counts.items())
        print(f"natively: {len(native.found)} tests: {said}", flush=True)
        same = [compare(native, side) for side in sides[1:]]
        sys.exit(not all(same + [side.in_time for side in sides]))


if __name__ == "__main__":
    main()
