"""Fenced tensors in PyTorch: what a step of training takes with them, and whether a read behind a tensor is named.

    tensor_runs.py BUILD                 trains natively and under gmod --exact --per-tensor, by turns; then plants reads
    tensor_runs.py --train               30 steps of ResNet-50, batch 32: says ms a step, and the memory reserved
    tensor_runs.py --planted SEED        a kernel reads 4 bytes behind a tensor of a size by chance
    tensor_runs.py --streams             tensors cross four streams: says "all equal" if their sums are right

Environment: RUNS (20), of planted reads; PAIRS (3), of training.

Exit status: 1 the sums differ, or a read was not named with its tensor in each run; 77 no PyTorch or no GPU.
"""

import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
sys.path += [os.path.join(TOP, "bench"), os.path.join(TOP, "bench", "jobs")]

import processes

RUNS, PAIRS = int(os.environ.get("RUNS") or 20), int(os.environ.get("PAIRS") or 3)
STEPS, LIMIT = 30, 180
SOURCE = """
extern "C" __global__ void sum_pairs(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = x[i] + x[i + 1];
}
"""


def train():
    import job

    torch = job.pytorch()
    import train as training

    step = training.training(torch, "resnet50", 32)
    took = []
    for _ in range(STEPS):
        begin = time.monotonic()
        step()
        torch.cuda.synchronize()
        took.append(1000 * (time.monotonic() - begin))
    print(f"ms={statistics.median(took[STEPS // 3:]):.2f} reserved_mib={torch.cuda.max_memory_reserved() >> 20}", flush=True)


def planted(seed):
    import torch

    chance = random.Random(seed)
    kernel = torch.cuda._compile_kernel(SOURCE, "sum_pairs")
    n = 128 * chance.randrange(1, 1 << chance.randrange(1, 16))  # 512 bytes and multiples: nothing lies behind the last
    x = torch.ones(n, device="cuda")
    y = torch.empty(n, device="cuda")
    kernel(((n + 127) // 128, 1, 1), (128, 1, 1), (x, y, n))
    if seed % 2:
        del x
        torch.zeros(n, device="cuda")
    print(f"size={4 * n}", flush=True)
    torch.cuda.synchronize()


def streams():
    import torch

    chance, all_of, sums, wrong = random.Random(3), [torch.cuda.Stream() for _ in range(4)], [], 0
    for step in range(400):
        home, guest = chance.sample(all_of, 2)
        with torch.cuda.stream(home):
            tensor = torch.full((chance.choice((100, 5000, 600000, 3000000)),), float(step % 7), device="cuda")
            if step % 5 == 0:
                torch.cuda._sleep(2000000)
        guest.wait_stream(home)
        with torch.cuda.stream(guest):
            sums.append(((tensor * 2 + 1).double().mean(), (step % 7) * 2.0 + 1))
            tensor.record_stream(guest)
        if step % 50 == 49:
            torch.cuda.synchronize()
            wrong += sum(abs(found.item() - wanted) > 1e-9 for found, wanted in sums)
            sums.clear()
    print("all equal" if not wrong else f"{wrong} differ", flush=True)


def run(words, exact):
    """(what it printed, the log)"""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        gmod = [os.path.join(TOP, "scripts", "gmod"), "--exact", "--per-tensor", "--fence_side=end", "--log_format=json", f"--log_path={log}"]
        command = (gmod if exact else []) + [sys.executable, "-B", os.path.join(HERE, "tensor_runs.py"), *words]
        env = {**os.environ, "GMOD_BUILD": os.path.abspath(sys.argv[1])}
        done = subprocess.run(command, env=env, timeout=LIMIT, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return done.stdout.strip(), processes.events(log, "finding"), processes.events(log, "summary")


def main():
    good = 0
    for pair in range(PAIRS):
        for exact in (False, True):
            said, _, summary = run(["--train"], exact)
            fenced = summary[-1].get("ordered_fenced") if summary else 0
            print(f"pair {pair} {'fenced' if exact else 'native'}: {said}; tensors fenced: {fenced}", flush=True)
    said, found, _ = run(["--streams"], True)
    print(f"streams: {said}; findings: {len(found)}", flush=True)
    for seed in range(RUNS):
        words, found, _ = run(["--planted", str(seed)], True)
        size = re.search(r"size=(\d+)", words)
        named = any(f["class"] == "gpu-fault" and size and f["size"] == int(size[1]) for f in found)
        good += named
        print(f"planted {seed}: {words}; {found[0]['message'] if found else 'no finding'}", flush=True)
    print(f"{RUNS} reads behind a tensor: named with its size {good}")
    return 0 if good == RUNS and said == "all equal" else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train()
    elif sys.argv[1:2] == ["--planted"]:
        planted(int(sys.argv[2]))
    elif sys.argv[1:2] == ["--streams"]:
        streams()
    else:
        sys.path.append(HERE)
        from frameworks import needs_torch

        needs_torch()
        sys.exit(main())
