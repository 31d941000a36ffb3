#!/usr/bin/env -S python3 -B
"""Runs programs that others wrote natively and under GMOD, and says which of them ended in another way.

    public.py FOLDER [NAME=OPTIONS]...

FOLDER holds executables, and may hold a file `arguments` with a line for each that takes some: its name, a tab, and the arguments.
NAME=OPTIONS is a run under GMOD with these of its options (default: device=). A program that natively fails, or takes more than
LIMIT seconds (default: 15), is left out. Each runs natively twice: where the two outputs differ in more than numbers, only the exit
status is compared.

Writes a line for each run that ended otherwise, with what GMOD said, and the counts of each way. Environment: BUILD (default:
build), JOBS (programs at a time; default: 6), LIMIT. Exit status: 0 all as natively, 1 not so.
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

LIMIT = float(os.environ.get("LIMIT", "15"))
LIBRARY = os.path.abspath(os.path.join(os.environ.get("BUILD") or "build", "libgmod.so"))


def without_numbers(output):
    return re.sub(rb"[-+]?[0-9][0-9.]*(e[-+]?[0-9]+)?|\b(nan|inf)\b", b"#", output).split()


def run(words, folder, options=None, limit=LIMIT):
    """(status, output without numbers, what GMOD said); status None: it took too long."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = dict(os.environ)
        if options is not None:
            log = os.path.join(scratch, "log.%p")
            environment.update(LD_PRELOAD=LIBRARY, GMOD_OPTIONS=f"log_path={log}:verbosity=1:{options}")
        try:
            done = subprocess.run(
                words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit, check=False
            )
            status, output = done.returncode, without_numbers(done.stdout)
        except subprocess.TimeoutExpired:
            status, output = None, []
        said = []
        for name in sorted(os.listdir(scratch)):
            with open(os.path.join(scratch, name), errors="replace", encoding="utf-8") as f:
                said += f.read().splitlines()
        return status, output, said


def compare(folder, name, arguments, ways):
    """{way: None where it was as natively, else why not}, and what GMOD said of each; None: natively it does not work."""
    words = [os.path.join(folder, name), *arguments]
    first, again = run(words, folder), run(words, folder)
    if first[0] != 0 or again[0] != 0:
        return name, None, {"": first[0]}
    verdicts, all_said = {}, {}
    for way, options in ways.items():
        status, output, said = run(words, folder, options, 4 * LIMIT)
        why = None
        if status != 0:
            why = f"status {status}" if status is not None else "took too long"
        elif first[1] == again[1] != output:
            why = "another output"
        elif any("[finding " in line for line in said):
            why = "a finding"
        verdicts[way], all_said[way] = why, said
    return name, verdicts, all_said


def main(words):
    if not words or not os.path.isdir(words[0]):
        print(__doc__.strip().splitlines()[2].strip(), file=sys.stderr)
        return 2
    folder, ways = os.path.abspath(words[0]), dict(word.split("=", 1) for word in words[1:] or ["device="])
    arguments = {}
    if os.path.exists(os.path.join(folder, "arguments")):
        with open(os.path.join(folder, "arguments"), encoding="utf-8") as f:
            arguments = {line.split("\t")[0]: line.split("\t")[1].split() for line in f}
    names = [n for n in sorted(os.listdir(folder)) if os.access(os.path.join(folder, n), os.X_OK)]
    same, left_out = dict.fromkeys(ways, 0), []
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "6"))) as pool:
        for name, verdicts, said in pool.map(lambda n: compare(folder, n, arguments.get(n, []), ways), names):
            if verdicts is None:
                left_out.append(f"{name} ({'too long' if said[''] is None else said['']})")
                continue
            for way, why in verdicts.items():
                same[way] += not why
                if why:
                    print(f"FAIL {name} {way}: {why}", *said[way][:40], sep="\n    ", flush=True)
                elif os.environ.get("SAY") and said[way]:
                    print(f"PASS {name} {way}: {said[way][-1]}", flush=True)
    print(f"left out, since natively they fail or take too long: {' '.join(left_out) or 'none'}")
    for way, count in same.items():
        print(f"{way}: {count} of {len(names) - len(left_out)} programs as natively")
    return int(any(count != len(names) - len(left_out) for count in same.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
