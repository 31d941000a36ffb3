"""Whether the kernel that did it is the first suspect, in PyTorch jobs of hundreds of kernels: many runs, each with a bug.

    suspect_runs.py BUILD                  under BUILD/libgmod.so, each tensor guarded (--per-tensor --hunt)
    suspect_runs.py --decode SEED          what a run of the second kind does: decodes tokens until it is ended

Half of the runs train ResNet-50 (torch_planted_job.py), the others decode tokens with a model of Llama's shape
(bench/jobs/decoder.py). In one of each EVERY steps a kernel of the job's own writes 4 bytes past a tensor. A run is over when
GMOD has reported that. Prints a line for each run, with the place of that kernel among the suspects.

Environment: RUNS (20), JOBS (side by side; 5), EVERY (200), LATEST (seconds, of a run; 150).

Exit status: 1 it is not listed in each run, or not the first in nine of ten; 77 no PyTorch or no GPU.
"""

import concurrent.futures
import itertools
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
EVERY, LATEST = int(os.environ.get("EVERY") or 200), int(os.environ.get("LATEST") or 150)


def decode(seed):
    import job

    torch = job.pytorch()
    import decoder
    import llama
    import planted
    import torch_planted_job

    planted.SOURCE = torch_planted_job.KERNEL
    launch, chance = planted.load(), random.Random(seed)
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = decoder.Decoder(8)
    with torch.inference_mode(), decoder.attention(), torch.device("cuda"):
        step = llama.decode(torch, model, decoder.POSITIONS, 8)
        for i in itertools.count(1):
            if i % EVERY == chance.randrange(EVERY) or i % EVERY == 0:
                words = chance.randrange(1, 1 << 20)
                tensor = torch.zeros(words, dtype=torch.int32)
                if torch_planted_job.can_plant(tensor):
                    launch(tensor, words)
            step()
            if i % 5 == 0:
                torch.cuda.synchronize()


def names_of(log):
    """The suspects of the first finding, as its final report has them, or its provisional one; None: there is no finding."""
    findings = processes.events(log, "finding")
    if not findings:
        return None
    mine = [f for f in findings if f["id"] == findings[0]["id"]]
    last = next((f for f in mine if f["status"] == "final"), mine[-1])
    more = [s for e in processes.events(log, "suspects") if e["id"] == last["id"] and e["status"] == last["status"] for s in e["suspects"]]
    return [(s["kernel"], (s["arguments"] or {}).get("point")) for s in last["suspects"] + more], last


def run(number):
    kind = "resnet" if number % 2 else "decode"
    words = [sys.executable, "-B"]
    words += [os.path.join(HERE, "torch_planted_job.py"), "once", str(number), str(LATEST)] if kind == "resnet" else [
        os.path.join(HERE, "suspect_runs.py"), "--decode", str(number)]
    with tempfile.TemporaryDirectory() as folder:
        log, errors = os.path.join(folder, "log"), os.path.join(folder, "errors")
        more = {"LD_PRELOAD": os.path.join(os.path.abspath(sys.argv[1]), "libgmod.so"), "OMP_NUM_THREADS": "1", "EVERY": str(EVERY),
                "GMOD_OPTIONS": f"max_overhead=100:verbosity=1:log_format=json:log_path={log}",
                "PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}
        with open(errors, "w") as err:
            job = subprocess.Popen(words, env={**os.environ, **more}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        until = time.monotonic() + LATEST
        while job.poll() is None and time.monotonic() < until and not names_of(log):
            time.sleep(0.2)
        time.sleep(1)  # for the final report
        job.kill()
        status = job.wait()
        with open(errors, errors="replace") as f:
            said = f.read().strip()[-200:]
        return kind, names_of(log), status, said


def main():
    first = listed = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for number, (kind, found, status, said) in enumerate(pool.map(run, range(RUNS))):
            if not found:
                print(f"run {number} {kind}: no finding; status {status}; {said}", flush=True)
                continue
            suspects, finding = found
            places = [i for i, (name, _) in enumerate(suspects, 1) if name == CULPRIT]
            first += places[:1] == [1]
            listed += bool(places)
            point = suspects[places[0] - 1][1] if places else "-"
            print(f"run {number} {kind}: place {places[0] if places else '-'} of {finding['suspects_total']} suspects, its argument: {point}; "
                  f"{finding['message']}, {finding['status']}", flush=True)
    print(f"{RUNS} runs: listed in {listed}, first in {first}")
    return 0 if listed == RUNS and first * 10 >= RUNS * 9 else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--decode"]:
        decode(int(sys.argv[2]))
    else:
        sys.path.append(HERE)
        from frameworks import needs_torch

        needs_torch()
        sys.exit(main())
