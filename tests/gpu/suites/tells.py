"""Has pytest (as a plugin) and unittest tell suites.py when each test begins and ends, and how, at once.

A line each in the file `told` of the folder $SUITES_TOLD: the time, the process, a word and the test. At SIGUSR1 the Python
stacks of a process go to PID.stack there.
"""

import faulthandler
import os
import signal
import time
import unittest

FOLDER = os.environ["SUITES_TOLD"]
STACK = open(os.path.join(FOLDER, f"{os.getpid()}.stack"), "w", encoding="utf-8")  # noqa: SIM115
faulthandler.register(signal.SIGUSR1, file=STACK)

UNITTEST = {
    "startTest": "begun",
    "addSuccess": "passed",
    "addSkip": "skipped",
    "addExpectedFailure": "skipped",
    "addUnexpectedSuccess": "failure",
    "addFailure": "failure",
    "addError": "error",
    "addSubTest": "failure",
    "stopTest": "ended",
}


def tell(word, test):
    line = f"{time.time():.3f}\t{os.getpid()}\t{word}\t{' '.join(test.splitlines())}\n"
    told = os.open(os.path.join(FOLDER, "told"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    os.write(told, line.encode(errors="backslashreplace"))
    os.close(told)


# ---- pytest: the workers tell; the process that has begun them tells of a test that has ended its worker ----


def is_worker():
    return "PYTEST_XDIST_WORKER" in os.environ


def pytest_runtest_logstart(nodeid):
    if is_worker():
        tell("begun", nodeid)


def pytest_runtest_logreport(report):
    if not is_worker() and report.when == "???":
        tell("crash", report.nodeid)
        tell("ended", report.nodeid)
    elif is_worker() and report.failed:
        tell("failure" if report.when == "call" else "error", report.nodeid)
    elif is_worker() and (report.skipped or report.when == "call"):
        tell(report.outcome, report.nodeid)


def pytest_runtest_logfinish(nodeid):
    if is_worker():
        tell("ended", nodeid)


# ---- unittest ----


def hook(method, word):
    real = getattr(unittest.TestResult, method)

    def told(self, test, *rest):
        # Of a subtest the last is what failed, or None.
        if method != "addSubTest" or rest[-1] is not None:
            tell(word, test.id())
        return real(self, test, *rest)

    setattr(unittest.TestResult, method, told)


def unittest_too():
    for method, word in UNITTEST.items():
        hook(method, word)
