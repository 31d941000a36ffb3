"""Whether a damage that comes again is caught: training of ResNet-50 with a bug, many runs.

    caught_runs.py BUILD                 under BUILD/libgmod.so, as it is by default
    caught_runs.py --train SEED          what a run does: trains until it is ended

In each step a kernel of the job's own writes 4 bytes to a tensor that fills a segment of PyTorch's pool; in one of EVERY
steps it writes behind that. A run is over when GMOD has caught a launch, alone or beside others, or after LATEST seconds.

Environment: RUNS (20), JOBS (side by side; 5), EVERY (200), LATEST (seconds from the first finding; 60).

Exit status: 1 it was not caught in nine of ten runs, or another kernel was caught alone; 77 no PyTorch or no GPU.
"""

import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "..", "bench"), os.path.join(HERE, "..", "..", "bench", "jobs")]

import processes

CULPRIT = "planted_overflow"
RUNS, JOBS = int(os.environ.get("RUNS") or 20), int(os.environ.get("JOBS") or 5)
EVERY, LATEST = int(os.environ.get("EVERY") or 200), int(os.environ.get("LATEST") or 60)
WARM_UP = 20  # steps
WORDS = (22 << 20) // 4
START = 120  # seconds until the first finding, at most


def train(seed):
    import job

    torch = job.pytorch()
    import planted
    import torch_planted_job
    import train

    planted.SOURCE = torch_planted_job.KERNEL
    launch, chance = planted.load(), random.Random(seed)
    tensor = torch.zeros(WORDS, dtype=torch.int32, device="cuda")
    step = train.training(torch, "resnet50", 32)
    at = WARM_UP + chance.randrange(EVERY)
    count = 0
    while True:
        launch(tensor, WORDS if count % EVERY == at % EVERY and count >= at else WORDS - 1)
        step()
        count += 1
        if count % 5 == 0:
            torch.cuda.synchronize()


def last_event(log):
    """(found, caught): the first finding and the latest launch that was caught; None where there is none."""
    findings = processes.events(log, "finding")
    caught = [f for f in findings if f["status"] == "caught"]
    return findings[0] if findings else None, caught[-1] if caught else None


def run(number):
    with tempfile.TemporaryDirectory() as folder:
        log, errors = os.path.join(folder, "log"), os.path.join(folder, "errors")
        more = {"LD_PRELOAD": os.path.join(os.path.abspath(sys.argv[1]), "libgmod.so"), "OMP_NUM_THREADS": "1", "EVERY": str(EVERY),
                "GMOD_OPTIONS": f"verbosity=1:log_format=json:log_path={log}"}
        words = [sys.executable, "-B", os.path.join(HERE, "caught_runs.py"), "--train", str(number)]
        with open(errors, "w") as err:
            job = subprocess.Popen(words, env={**os.environ, **more}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        begin, first = time.monotonic(), None
        while job.poll() is None and time.monotonic() < (first + LATEST if first else begin + START):
            found, caught = last_event(log)
            first = first or (found and time.monotonic())
            if caught and caught["suspects_total"] == 1:
                break
            time.sleep(0.2)
        took = time.monotonic() - first if first else 0
        job.kill()
        status = job.wait()
        with open(errors, errors="replace") as f:
            said = f.read().strip()[-200:]
        return *last_event(log), took, status, said


def main():
    good = wrong = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for number, (found, caught, took, status, said) in enumerate(pool.map(run, range(RUNS))):
            if not caught:
                print(f"run {number}: {'found, not caught' if found else 'no finding'} after {took:.1f} s; status {status}; {said}", flush=True)
                continue
            alone = caught["suspects_total"] == 1
            is_right = caught["suspects"][0]["kernel"] == CULPRIT
            good += is_right
            wrong += alone and not is_right
            print(f"run {number}: {'alone' if alone else 'beside others'}, {took:.1f} s after the first of {found['suspects_total']} suspects' finding: "
                  f"{caught['message']}", flush=True)
    print(f"{RUNS} runs: caught in {good}, another one alone in {wrong}")
    return 0 if good * 10 >= RUNS * 9 and not wrong else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train(int(sys.argv[2]))
    else:
        sys.path.append(HERE)
        from frameworks import needs_torch

        needs_torch()
        sys.exit(main())
