# guarded: some
# limit: 150
# options: max_overhead=100
# env: CUBLAS_WORKSPACE_CONFIG=:4096:8 PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync
"""torch_train.py over the driver's stream-ordered pool, all of it guarded."""

import os
import runpy

runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_train.py"))
