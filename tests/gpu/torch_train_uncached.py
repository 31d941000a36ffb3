# guarded: some
# limit: 200
# env: CUBLAS_WORKSPACE_CONFIG=:4096:8 PYTORCH_NO_CUDA_MEMORY_CACHING=1
"""torch_train.py with the framework's caching off: every tensor is an allocation of the driver's."""

import os
import runpy

runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_train.py"))
