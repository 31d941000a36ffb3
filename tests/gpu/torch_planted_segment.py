# expect: heap-buffer-overflow size 23068672 offset +0
# suspect: planted_overflow
# line: torch_planted_segment\.py:24 in <module>
# line: planted\.py:[0-9]+ in load\.<locals>\.launch
# limit: 120
"""The same with PyTorch's own pool: a tensor of 22 MiB fills a segment, which is one allocation of the driver's. Under
torchrun each rank does so on its own device.
"""

import os

from frameworks import needs_torch

torch = needs_torch()

import planted

torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))

N = (22 << 20) // 4

launch = planted.load()
tensor = torch.zeros(N, dtype=torch.int32, device="cuda")
launch(tensor, N)
torch.cuda.synchronize()
print(tensor[-1].item())
