# expect: heap-buffer-overflow size 4000 offset +0
# suspect: planted_overflow
# line: torch_planted\.py:16 in <module>
# line: planted\.py:[0-9]+ in load\.<locals>\.launch
# env: PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync
# options: max_overhead=100
# limit: 120
"""torch_planted.py over the driver's stream-ordered pool, where each tensor is an allocation."""

import os
import runpy

runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_planted.py"))
