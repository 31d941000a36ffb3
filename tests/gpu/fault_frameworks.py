"""Does `gmod --exact` name a fault of a framework's kernel, its line and the line of Python that launched it?

    fault_frameworks.py BUILD            runs each of the frameworks that python3 has, a fault each, and judges
    fault_frameworks.py plant FRAMEWORK  the program with the fault

PASS or FAIL a framework, with what the report named; SKIP where it does not run without the fault. Exit status: 1 if any failed.
"""

import json
import os
import subprocess
import sys
import tempfile

FAR = int(os.environ.get("FAR", 1 << 33))  # elements; 0: nothing faults


def triton():
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def scale_kernel(x, far, n: tl.constexpr):
        at = tl.arange(0, n) + far
        tl.store(x + tl.arange(0, n), tl.load(x + at) * 2)  # fault: triton

    x = torch.ones(1024, device="cuda")
    scale_kernel[(1,)](x, FAR, 1024)  # launch: triton
    torch.cuda.synchronize()
    torch.cuda.synchronize()


def torch():
    import torch

    x = torch.ones(1024, device="cuda")
    y = x[torch.tensor([FAR], device="cuda")]  # launch: torch
    torch.cuda.synchronize()
    print(y.sum().item())


def cupy():
    import cupy

    code = """
extern "C" __global__ void add_far(float *x, long long far)
{
	long long i = threadIdx.x + far;
	x[threadIdx.x] += x[i];
}
"""
    f = cupy.RawModule(code=code, options=("-lineinfo",)).get_function("add_far")
    x = cupy.ones(64, dtype=cupy.float32)
    f((1,), (64,), (x, cupy.int64(FAR)))  # launch: cupy
    cupy.cuda.Device().synchronize()
    cupy.cuda.Device().synchronize()


def numba():
    import numpy as np

    if not hasattr(np, "row_stack"):  # numba-cuda 0.30 calls what NumPy 2.5 has no more
        np.row_stack = np.vstack
    from numba import cuda

    @cuda.jit(lineinfo=True)
    def add_far(x, far):
        i = cuda.threadIdx.x
        x[i] += x[i + far]  # fault: numba

    x = cuda.to_device(np.ones(64, dtype=np.float32))
    add_far[1, 64](x, FAR)  # launch: numba
    cuda.synchronize()
    cuda.synchronize()


def jax():
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def kernel(far, x, o):
        o[...] = x[pl.dslice(far[0], 64)]  # fault: jax

    x, far = jnp.ones(64, dtype=jnp.float32), jnp.array([-(FAR >> 5)], dtype=jnp.int32)  # in front of the pool
    y = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((64,), jnp.float32))(far, x)
    y.block_until_ready()
    print(y.sum())


# What the report has to name: the kind, the kernel (a part of its name), the line marked so, and the launch.
WANTED = {"triton": ("illegal-address", "scale_kernel", True, True), "torch": ("assertion", "index", False, True),
          "cupy": ("illegal-address", "add_far", False, True), "numba": ("illegal-address", "add_far", True, True),
          "jax": ("illegal-address", "", False, False)}


def marked(what, name):
    with open(__file__, encoding="utf-8") as f:
        return next((n for n, line in enumerate(f, 1) if line.rstrip().endswith(f"# {what}: {name}")), None)


def judge(name, findings, status):
    """(right?, what was said)"""
    faults = [f for f in findings if f.get("class") == "gpu-fault" and "fault" in f]
    kind, kernel, line, launch = WANTED[name]
    if len(faults) != 1 or len({f.get("id") for f in findings}) != 1:
        return False, f"{len(faults)} faults of {len(findings)} findings, status {status}"
    fault, text = faults[0]["fault"], json.dumps(faults[0])
    lines = [f"{os.path.basename(at.get('file', '?'))}:{at.get('line')}" for at in fault.get("lines", [])]
    here, launched = os.path.basename(__file__), marked("launch", name)
    right = fault["kind"] == kind and kernel in (fault.get("kernel") or "") and \
        (not line or f"{here}:{marked('fault', name)}" in lines) and (not launch or f'"line":{launched}' in text.replace(" ", ""))
    given = len(faults[0]["nearby"]) if "nearby_given" in faults[0] else 0
    return right, f"{fault['kind']} in {fault.get('kernel')} at {', '.join(lines) or 'no line'}, " \
        f"{'an' if fault['address'] else 'no'} address, {given} buffers of arguments, status {status}"


def main(words):
    if words[:1] == ["plant"]:
        globals()[words[1]]()
        return 0
    failed = False
    for name in WANTED:
        plant = ["timeout", "-k", "5", "120", sys.executable, "-B", os.path.abspath(__file__), "plant", name]
        alone = subprocess.run(plant, env=dict(os.environ, FAR="0"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if alone.returncode:
            print(f"SKIP fault {name}: without a fault:", alone.stderr.decode(errors="replace").strip().split("\n")[-1][:150], flush=True)
            continue
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            environment = dict(os.environ, LD_PRELOAD=os.path.join(os.path.abspath(words[0]), "libgmod.so"),
                               GMOD_OPTIONS=f"faults=exact:verbosity=1:log_format=json:log_path={log}.%p")
            done = subprocess.run(plant, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            findings = []
            for each in os.listdir(folder):
                with open(os.path.join(folder, each), encoding="utf-8") as f:
                    findings += [j for j in map(json.loads, f) if "class" in j]
            right, said = judge(name, findings, done.returncode)
        failed |= not right
        print("PASS" if right else "FAIL", f"fault {name}: {said}", flush=True)
        if not right:
            print("    " + done.stderr.decode(errors="replace")[-600:].replace("\n", "\n    "), flush=True)
            print("    " + json.dumps([f.get("fault") for f in findings])[:1500], flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
