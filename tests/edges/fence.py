"""Of buffers from two places a kernel overruns the one of 1000 bytes; with an argument the second one is freed before the
kernel writes to it, as the first one was. fence.py [freed]: with tests/edges/python.py beside it."""
import importlib.util
import os
import sys
import time

spec = importlib.util.spec_from_file_location("cuda", os.path.join(os.path.dirname(os.path.abspath(__file__)), "python.py"))
python = importlib.util.module_from_spec(spec)
spec.loader.exec_module(python)


def main():
    cuda = python.Cuda()
    if len(sys.argv) > 1:
        p, _ = cuda.allocate(1000)
        cuda.lib.cuMemFree_v2(p)
        p, _ = cuda.allocate(1000)
        cuda.lib.cuMemFree_v2(p)
        cuda.change(p, 0)
        cuda.lib.cuCtxSynchronize()
        return
    for _ in range(3):
        cuda.allocate(2000)
    p, _ = cuda.allocate(1000)
    cuda.change(p, 1024)
    cuda.lib.cuCtxSynchronize()
    time.sleep(0.1)
    cuda.lib.cuCtxSynchronize()
    cuda.lib.cuMemFree_v2(p)


sys.exit(main())
