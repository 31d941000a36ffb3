"""What the scripts here need: a framework that sees a GPU. Without one a script is skipped, and says why."""

import importlib
import sys


def skip(why):
    print(f"skipped: {why}", file=sys.stderr)
    sys.exit(77)


def needs(name):
    try:
        return importlib.import_module(name)
    except ImportError as e:
        skip(e)


def needs_torch():
    torch = needs("torch")
    if not torch.cuda.is_available():
        skip("PyTorch sees no GPU")
    return torch


def needs_cupy():
    cupy = needs("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as e:
        skip(e)
    return cupy


def needs_jax():
    jax = needs("jax")
    if jax.default_backend() != "gpu":
        skip("JAX sees no GPU")
    return jax
