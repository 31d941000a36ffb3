# guarded: some
# limit: 150
# env: XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async XLA_FLAGS=--xla_gpu_autotune_level=0
# options: max_overhead=100
"""jax_script.py with every array an allocation in stream order."""

import os
import runpy

runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "jax_script.py"))
