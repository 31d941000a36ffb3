"""What GMOD costs ResNet-50 training, batch 32: processes without and with it in turn, A B A B ... A.

    resnet_overhead.py [--pairs N] [--iterations N] [--seconds S]

Every B is compared with the A before it, every A with the A before it: the medians of both differences are printed, and
the second says how far two identical runs are apart. Stops after N pairs, or after S seconds and 7 pairs. The library
comes from GMOD_LIB (default: build/libgmod.so).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

PAIRS_AT_LEAST = 7
MAX_OVERHEAD = 0.5  # percent
MAX_CPU = 2.0  # percent of a core, GMOD's default
BATCH = 32
WARM_UP = 20
BLOCK = 10  # iterations between two looks at the clock


def monitor_ns():
    """CPU time of GMOD's monitor thread so far, or None where there is none."""
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm") as f:
                if f.read().strip() != "gmod-monitor":
                    continue
            with open(f"/proc/self/task/{task}/schedstat") as f:
                return int(f.read().split()[0])
        except OSError:
            continue
    return None


def resnet50(torch):
    try:
        from torchvision.models import resnet50 as model

        return model()
    except ImportError:
        pass
    nn = torch.nn

    class Bottleneck(nn.Module):
        def __init__(self, inside, width, stride):
            super().__init__()
            outside = width * 4
            self.main = nn.Sequential(
                nn.Conv2d(inside, width, 1, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU(inplace=True),
                nn.Conv2d(width, width, 3, stride, 1, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU(inplace=True),
                nn.Conv2d(width, outside, 1, bias=False),
                nn.BatchNorm2d(outside),
            )
            self.short = nn.Identity()
            if stride != 1 or inside != outside:
                self.short = nn.Sequential(
                    nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside)
                )

        def forward(self, x):
            return torch.relu(self.main(x) + self.short(x))

    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(blocks):
            layers.append(Bottleneck(inside, width, stride if i == 0 else 1))
            inside = width * 4
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, 1000))


def train(iterations):
    """One process: prints its median milliseconds an iteration and the monitor's share of a core."""
    import torch

    torch.manual_seed(0)
    model = resnet50(torch).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    images = torch.randn(BATCH, 3, 224, 224, device="cuda")
    labels = torch.randint(1000, (BATCH,), device="cuda")

    def run(count):
        for _ in range(count):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        torch.cuda.synchronize()

    run(WARM_UP)
    blocks = []
    cpu, start = monitor_ns(), time.monotonic_ns()
    for _ in range(max(1, iterations // BLOCK)):
        begin = time.monotonic_ns()
        run(BLOCK)
        blocks.append((time.monotonic_ns() - begin) / 1e6 / BLOCK)
    wall = time.monotonic_ns() - start
    share = None if cpu is None else (monitor_ns() - cpu) / wall * 100
    print(json.dumps({"ms": statistics.median(blocks), "monitor_percent": share}))


def process(iterations, library):
    environment = dict(os.environ)
    environment.pop("LD_PRELOAD", None)
    environment.pop("GMOD_OPTIONS", None)
    if library:
        environment["LD_PRELOAD"] = library
    command = [sys.executable, os.path.abspath(__file__), "--process", "--iterations", str(iterations)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"FAIL resnet_overhead: a process failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def percent(slow, fast):
    return (slow / fast - 1) * 100


def compare(options, library):
    end = time.monotonic() + options.seconds
    process(10, None)  # fills the file cache
    plain = [process(options.iterations, None)]
    guarded = []
    while len(guarded) < options.pairs and (len(guarded) < PAIRS_AT_LEAST or time.monotonic() < end):
        guarded.append(process(options.iterations, library))
        plain.append(process(options.iterations, None))
        print(f"pair {len(guarded)}: {plain[-2]['ms']:.3f} {guarded[-1]['ms']:.3f} ms", file=sys.stderr, flush=True)
    overhead = [percent(b["ms"], a["ms"]) for a, b in zip(plain, guarded)]
    apart = [percent(b["ms"], a["ms"]) for a, b in zip(plain, plain[1:])]
    cpu = [b["monitor_percent"] for b in guarded]
    missing = any(share is None for share in cpu)
    ok = not missing and statistics.median(overhead) <= MAX_OVERHEAD and max(cpu) <= MAX_CPU
    print(
        f"{'PASS' if ok else 'FAIL'} resnet_overhead"
        f"{': no monitor thread under GMOD;' if missing else ''}"
        f" median overhead {statistics.median(overhead):+.2f} %"
        f" (pairs {min(overhead):+.2f} to {max(overhead):+.2f}),"
        f" A against A median {statistics.median(apart):+.2f} % ({min(apart):+.2f} to {max(apart):+.2f}),"
        f" {len(guarded)} pairs, {statistics.median(a['ms'] for a in plain):.3f} ms native,"
        f" {statistics.median(b['ms'] for b in guarded):.3f} ms guarded"
        + ("" if missing else f", monitor {statistics.median(cpu):.2f} % of a core (at most {max(cpu):.2f})")
    )
    return 0 if ok else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=270)
    parser.add_argument("--process", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        import torch
    except ImportError as e:
        print(f"SKIP resnet_overhead: {e}")
        return 77
    if not torch.cuda.is_available():
        print("SKIP resnet_overhead: PyTorch sees no GPU")
        return 77
    if options.process:
        train(options.iterations)
        return 0
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return compare(options, os.environ.get("GMOD_LIB", os.path.join(root, "build", "libgmod.so")))


sys.exit(main())
