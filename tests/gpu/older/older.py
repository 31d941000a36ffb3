"""The corpus of a few cases on older CUDA runtimes, natively and under GMOD: outcomes and reports as with the toolkit's runtime.

  older.py BUILD RUNTIME...

BUILD has libgmod.so. A RUNTIME is a folder with libcudart.so.N (or with lib or lib64 that has it) and the headers in include: what
the packages nvidia-cuda-runtime-cu11 and -cu12 unpack to. What they leave out of include comes from CUDA_HOME (default:
/usr/local/cuda), whose own runtime is the measure, unless MEASURE names another folder. WORKERS (default: 8) cases run side by
side; CC (default: cc) compiles.

Natively each case has to end and print as with the measure. Under GMOD it has to end and print as natively, with the findings
(class, size and offset) of the measure, and those have to be of the class that corpus.c says. Writes a line for each difference,
and one for each runtime and backend. Exit status: 0 no difference, 1 some, 2 nothing was tried.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from glob import glob

LIMIT = 30  # seconds
ENDS = [0, 1, 4]  # of the cases that do all they have to
BACKENDS = ["native", "device", "unified"]
CUDA_HOME = os.environ.get("CUDA_HOME", "/usr/local/cuda")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus.c")
FINDING = re.compile(r"^SUMMARY: GMOD: ([a-z-]+)(?:.*?( size \d+))?(?:.*?( offset [-+]\d+))?", re.MULTILINE)

# Legacy IPC export, which unified refuses, and says so in its manual.
REFUSED = {("unified", "ipc"), ("unified", "ipc_overflow")}
REFUSAL = (4, "exported: cudaErrorInvalidValue\n")

Case = namedtuple("Case", "name finds options")
Result = namedtuple("Result", "outcome findings started errors")


def build(folder, program):
    """Compiles the corpus for the runtime in the folder."""
    found = [path for sub in ("", "lib64", "lib") for path in glob(os.path.join(folder, sub, "libcudart.so.*"))]
    if not found:
        raise FileNotFoundError(f"there is no libcudart.so.N in {folder}")
    runtime = os.path.abspath(min(found, key=len))
    words = [os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-rdynamic", "-pthread"]
    words += ["-I", os.path.join(folder, "include"), "-idirafter", os.path.join(CUDA_HOME, "include"), "-o", program, SOURCE]
    words += [runtime, f"-Wl,-rpath,{os.path.dirname(runtime)}", f"-L{CUDA_HOME}/lib64/stubs", "-lcuda"]
    subprocess.run(words, check=True)


def run(words, environment):
    """Exit status, what it prints and what it says of errors; a case may have a child."""
    with subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            out, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return f"not within {LIMIT} s", *process.communicate()
        return process.returncode, out, errors


def try_case(library, program, backend, case):
    if backend == "native":
        status, out, errors = run([program, case.name], os.environ)
        return Result((status, out), [], True, errors)
    with tempfile.TemporaryDirectory() as logs:
        options = f"backend={backend}:verbosity=1:log_path={logs}/%p.log:{case.options}"
        status, out, errors = run([program, case.name], {**os.environ, "LD_PRELOAD": library, "GMOD_OPTIONS": options})
        said = ""
        for log in glob(os.path.join(logs, "*")):
            with open(log, errors="replace", encoding="utf-8") as f:
                said += f.read()
    findings = sorted("".join(parts) for parts in FINDING.findall(said))
    return Result((status, out), findings, "GMOD: started" in said, errors)


class Results:
    """By key, waited for when asked for: what is compared first is said first."""

    def __init__(self, begun):
        self.begun = begun

    def __getitem__(self, key):
        return self.begun[key].result()


def told(outcome, other):
    """What is other about an outcome: its status, or its first other line."""
    if outcome[0] != other[0]:
        return f"status {outcome[0]} instead of {other[0]}"
    lines, others = outcome[1].splitlines(), other[1].splitlines()
    for line, wanted in zip(lines + [""] * len(others), others + [""] * len(lines)):
        if line != wanted:
            return f"'{line}' instead of '{wanted}'"
    return "other white space"


def differences(backend, case, result, native, measure, is_measure):
    """Natively the measure's outcome is what is wanted, else the native one."""
    refused = (backend, case.name) in REFUSED
    wanted = REFUSAL if refused else measure.outcome if backend == "native" else native.outcome
    if result.outcome[0] not in ENDS:
        yield f"status {result.outcome[0]}: {(result.errors.splitlines() or ['no word of why'])[-1]}"
    elif result.outcome != wanted:
        yield told(result.outcome, wanted)
    if not result.started:
        yield "GMOD did not start"
    if result.findings != measure.findings:
        yield f"found {result.findings or 'nothing'} instead of {measure.findings or 'nothing'}"
    if is_measure and backend != "native":
        finds = [] if refused or case.finds == "-" else [case.finds]
        if [finding.split()[0] for finding in result.findings] != finds:
            yield f"found {result.findings or 'nothing'} instead of {finds or 'nothing'}"


def compare(programs, cases, results):
    """Prints what differs, and the counts; says how many differ in all."""
    everything, measure = 0, next(iter(programs))
    for name in programs:
        for backend in BACKENDS:
            count = 0
            for case in cases:
                result, native = results[name, backend, case], results[name, "native", case]
                for difference in differences(backend, case, result, native, results[measure, backend, case], name == measure):
                    print(f"{name} {backend}: {case.name}: {difference}")
                    count += 1
            findings = sum(len(results[name, backend, case].findings) for case in cases)
            print(f"{name} {backend}: {len(cases)} cases, {findings} findings, {count} differences", flush=True)
            everything += count
    return everything


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    library = os.path.abspath(os.path.join(sys.argv[1], "libgmod.so"))
    folders = [os.environ.get("MEASURE", CUDA_HOME), *sys.argv[2:]]
    with tempfile.TemporaryDirectory() as work:
        programs = {}
        try:
            for folder in folders:
                name = os.path.basename(os.path.normpath(folder))
                programs[name] = os.path.join(work, f"corpus-{name}")
                build(folder, programs[name])
            listed = subprocess.run([programs[name]], stdout=subprocess.PIPE, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError) as e:
            print(f"older: {e}", file=sys.stderr)
            sys.exit(2)
        cases = [Case(*line.split(" ")) for line in listed.splitlines()]
        with ThreadPoolExecutor(int(os.environ.get("WORKERS", "8"))) as pool:
            begun = {
                (name, backend, case): pool.submit(try_case, library, program, backend, case)
                for name, program in programs.items()
                for backend in BACKENDS
                for case in cases
            }
            results = Results(begun)
            count = compare(programs, cases, results)
    print(f"{len(begun)} runs, {count} differences")
    sys.exit(count > 0)


if __name__ == "__main__":
    main()
