"""Two kernels for Triton, of which one lacks a mask: their PTX and cubins lie beside this file, so that tests need no Triton.

scale.py makes them: it needs the package triton of PyPI, which has a ptxas, and no GPU.
"""
import os
import re
import subprocess

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at)  # bug
    tl.store(out + at, value * 2, mask=at < n)


@triton.jit
def scale_masked(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, value * 2, mask=at < n)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ptxas = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin", "ptxas")
    for kernel in (scale, scale_masked):
        source = ASTSource(fn=kernel, signature={"x": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"},
                           constexprs={"BLOCK": 128})
        made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4, "ptx_version": 87})
        path = os.path.join(here, kernel.__name__ + ".ptx")
        with open(path, "w") as out:
            # No path of this machine, neither here nor in what a debugger would read.
            out.write(re.sub(r'^(\t\.file\t1 ")[^"]*/', r"\1", made.asm["ptx"].partition("\t.section")[0], flags=re.M))
        subprocess.run([ptxas, "-lineinfo", "-arch=sm_90a", "-o", path[:-3] + "cubin", path], check=True)


if __name__ == "__main__":
    main()
