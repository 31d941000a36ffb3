"""Two ranks of torchrun sum a tensor by NCCL, over and over; once the second one reads what no memory is at, in a kernel
of its own. The first one then waits for it in NCCL, until torchrun ends it. tests/gpu/run starts it.
"""

import os

import torch
import torch.distributed as dist

STEPS, FAULTS_AT = 200, 50
NOWHERE = 4096  # in the first pages, which nobody maps: no peer's memory can be there
SOURCE = """
extern "C" __global__ void planted_read(float *x, int where)
{
    x[threadIdx.x] += ((const float *)(size_t)where)[threadIdx.x];
}
"""

rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
kernel = torch.cuda._compile_kernel(SOURCE, "planted_read")
x = torch.ones(1 << 20, device="cuda")
for step in range(STEPS):
    if step == FAULTS_AT and rank == 1:
        kernel((1, 1, 1), (32, 1, 1), (x, NOWHERE))
    dist.all_reduce(x)
    x /= 2
    torch.cuda.synchronize()
print(f"rank {rank}: {x.sum().item()}", flush=True)
dist.destroy_process_group()
