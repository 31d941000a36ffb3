# expect: heap-buffer-overflow size 4000 offset +0
# suspect: planted_overflow
# line: torch_planted\.py:16 in <module>
# line: planted\.py:[0-9]+ in load\.<locals>\.launch
# env: PYTORCH_NO_CUDA_MEMORY_CACHING=1
# limit: 120
"""A custom kernel writes past a PyTorch tensor; with caching off the tensor is an allocation of its own."""

from frameworks import needs_torch

torch = needs_torch()

import planted

launch = planted.load()
tensor = torch.zeros(1000, dtype=torch.int32, device="cuda")
product = torch.ones(64, 64, device="cuda") @ torch.ones(64, 64, device="cuda")
launch(tensor, 1000)
torch.cuda.synchronize()
print(tensor.sum().item(), product.sum().item())
