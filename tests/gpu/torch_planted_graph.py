# expect: heap-buffer-overflow size 4000 offset +0
# suspect: planted_overflow
# line: torch_planted_graph\.py:15 in <module>
# env: PYTORCH_NO_CUDA_MEMORY_CACHING=1
# limit: 120
"""A custom kernel writes past a PyTorch tensor; it is launched by a CUDA graph alone."""

from frameworks import needs_torch

torch = needs_torch()

import planted

launch = planted.load()
tensor = torch.zeros(1000, dtype=torch.int32, device="cuda")
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    launch(tensor, 1000)
graph.replay()
torch.cuda.synchronize()
print(tensor.sum().item())
