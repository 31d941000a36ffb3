"""An overflow behind the last of four tensors that fill a segment of PyTorch's pool, and a snapshot of PyTorch's memory
beside it, as `gmod report --snapshot` reads it (run, in its part frameworks; tests/scripts/gmod_report.sh has one of a run).

    torch_snapshot.py FILE
"""

import sys

from frameworks import needs_torch

torch = needs_torch()

import planted

COUNT, WORDS = 4, (5 << 20) // 4  # PyTorch takes 20 MiB where it is asked for between 1 and 10


def fill():
    return [torch.zeros(WORDS, dtype=torch.int32, device="cuda") for _ in range(COUNT)]


torch.cuda.memory._record_memory_history(max_entries=100, stacks="python")
launch = planted.load()
tensors = fill()
last = max(tensors, key=lambda tensor: tensor.data_ptr())
launch(last, WORDS)
torch.cuda.synchronize()
torch.cuda.memory._dump_snapshot(sys.argv[1])
