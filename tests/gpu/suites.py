"""Test suites that others wrote, natively and under GMOD, outcome by outcome.

  suites.py BUILD SUITE [TEST...]

SUITE is numba, for numba-cuda's own tests (all, or the modules and tests named), or the folder of a checkout of CuPy's tests of
the release that is installed (TEST: folders and files in it). CuPy's take pytest, and numba-cuda's filecheck; both run in
WORKERS processes (default: 7), natively and under each of BACKENDS (default: device) at the same time: a machine is lent by
the minute.

Writes a line for each test that ends in another way than natively, one for each report of GMOD's, and the counts. Exit status: 0
as natively and no report, 1 not so, 2 the suite did not run.
"""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from glob import glob

WORKERS = os.environ.get("WORKERS", "7")
BACKENDS = os.environ.get("BACKENDS", "device").split()
LIMIT = 560  # seconds

# numba-cuda 0.30 calls what NumPy 2.5 has no more.
SITE = "import numpy\nif not hasattr(numpy, 'row_stack'):\n    numpy.row_stack = numpy.vstack\n"
NUMBA_SAYS = re.compile(r"^\w+ \(([\w.]+)\)(?:\n[^\n]*)?? \.\.\. (ok|skipped|FAIL|ERROR|expected failure)", re.MULTILINE)


def run(words, environment, folder):
    """What it says; None: it was not done in time."""
    try:
        done = subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout + done.stderr


def numba(environment, work, tests):
    with open(os.path.join(work, "sitecustomize.py"), "w", encoding="ascii") as f:
        f.write(SITE)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [work, environment.get("PYTHONPATH")]))
    words = [sys.executable, "-m", "numba.runtests", "-v", "-m", WORKERS, *(tests or ["numba.cuda.tests"])]
    said = run(words, environment, work)
    return dict(NUMBA_SAYS.findall(said or "")), said


def outcome_of(case):
    return next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")


def cupy(environment, work, tests, folder):
    page = os.path.join(work, "outcomes.xml")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={page}", "-n", WORKERS]
    said = run([*words, *(tests or ["cupy_tests/cuda_tests", "cupy_tests/creation_tests"])], environment, folder)
    if not os.path.exists(page):
        return {}, said
    cases = ElementTree.parse(page).iter("testcase")
    return {f"{case.get('classname')}.{case.get('name')}": outcome_of(case) for case in cases}, said


def outcomes(suite, tests, more):
    with tempfile.TemporaryDirectory() as work:
        environment = {**os.environ, **more}
        found, said = numba(environment, work, tests) if suite == "numba" else cupy(environment, work, tests, suite)
    if not found:
        print(f"suites: {suite} did not run:", *(said or "not in time").splitlines()[-5:], sep="\n")
        sys.exit(2)
    return found


def reports(logs):
    """The summary lines of all processes, each with how often it came."""
    lines = []
    for log in glob(os.path.join(logs, "*")):
        with open(log, errors="replace", encoding="utf-8") as f:
            lines += [line.strip() for line in f if line.startswith("SUMMARY: GMOD: ")]
    return {line: lines.count(line) for line in lines}


def guarded(suite, tests, library, backend):
    """(outcomes, reports)"""
    with tempfile.TemporaryDirectory() as logs:
        options = f"backend={backend}:log_path={logs}/%p.log"
        return outcomes(suite, tests, {"LD_PRELOAD": library, "GMOD_OPTIONS": options}), reports(logs)


def compare(native, backend, found, said):
    """Is all as natively?"""
    other = {test: found.get(test, "absent") for test in native if found.get(test, "absent") != native[test]}
    for test, outcome in sorted(other.items()):
        print(f"{backend}: {test}: {outcome}, natively {native[test]}")
    for line, times in sorted(said.items()):
        print(f"{backend}: {times} times {line}")
    print(f"{backend}: {len(native)} tests, {len(other)} end otherwise than natively; {sum(said.values())} reports")
    return not other and not said


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    library, suite, tests = os.path.abspath(os.path.join(sys.argv[1], "libgmod.so")), sys.argv[2], sys.argv[3:]
    if suite != "numba" and not os.path.isdir(suite):
        print(f"suites: there is no folder {suite}", file=sys.stderr)
        sys.exit(2)
    with ThreadPoolExecutor() as pool:
        alone = pool.submit(outcomes, suite, tests, {})
        under = {backend: pool.submit(guarded, suite, tests, library, backend) for backend in BACKENDS}
    native = alone.result()
    counts = {outcome: list(native.values()).count(outcome) for outcome in sorted(set(native.values()))}
    print(f"natively: {len(native)} tests: {', '.join(f'{n} {outcome}' for outcome, n in counts.items())}", flush=True)
    sys.exit(not all([compare(native, backend, *one.result()) for backend, one in under.items()]))


if __name__ == "__main__":
    main()
