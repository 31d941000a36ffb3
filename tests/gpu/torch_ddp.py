# guarded: some
# limit: 200
# env: CUBLAS_WORKSPACE_CONFIG=:4096:8
"""Two ranks of torchrun train a small network, on a device each, over NCCL: the losses are the same in every run."""

import os
import subprocess
import sys

from frameworks import needs_torch, skip

RANKS = 2


def train():
    import torch
    import torch.distributed as dist
    from torch import nn

    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    layers = nn.Conv2d(3, 33, 3, padding=1), nn.BatchNorm2d(33), nn.ReLU(), nn.Flatten(), nn.Linear(33 * 31 * 31, 10)
    model = nn.Sequential(*layers)
    model = nn.parallel.DistributedDataParallel(model.cuda(), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    torch.manual_seed(rank)
    for step in range(20):
        images, labels = torch.randn(17, 3, 31, 31).cuda(), torch.randint(10, (17,)).cuda()
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if rank == 0:
            print(f"step {step}: loss {mean.item() / RANKS:.6f}", flush=True)
    dist.destroy_process_group()


def main():
    torch = needs_torch()
    if torch.cuda.device_count() < RANKS:
        skip("one device only")
    words = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}", os.path.abspath(__file__)]
    sys.exit(subprocess.run([sys.executable, *words], env={**os.environ, "OMP_NUM_THREADS": "1"}).returncode)


if "RANK" in os.environ:
    train()
else:
    main()
