"""What figures are of: the commit, and the machine.

    machine.py commit|device|driver|cuda
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections import Counter

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What runs write themselves is no change of what they measure.
RECORDS = (":!bench/results", ":!tests/gpu/last-run*", ":!tests/gpu/conformance*")


def said(*command):
    """The lines on a command's standard output; none where it fails or is not there."""
    try:
        done = subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return []
    return [] if done.returncode else done.stdout.splitlines()


def commit():
    """GMOD_COMMIT, where this is no git checkout."""
    if os.environ.get("GMOD_COMMIT"):
        return os.environ["GMOD_COMMIT"]
    head = said("git", "rev-parse", "HEAD")
    if not head:
        return "unknown"
    return head[0] + (" with changes" if said("git", "status", "--porcelain", "--", ".", *RECORDS) else "")


def device():
    """The devices by kind, `2 x NVIDIA Name`, those of CUDA_VISIBLE_DEVICES only; an empty text where there is none."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    only = ["-i", visible] if visible else []
    names = Counter(filter(None, said("nvidia-smi", "--query-gpu=name", "--format=csv,noheader", *only)))
    return ", ".join(f"{count} x {name}" for name, count in sorted(names.items()))


def gpus():
    """What CUDA_VISIBLE_DEVICES calls each device that may be used."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return visible.split(",") if visible else [str(i) for i in range(len(said("nvidia-smi", "--list-gpus")))]


def driver():
    return "".join(said("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")[:1])


def toolkit():
    return os.environ.get("CUDA_HOME") or "/usr/local/cuda"


def cuda():
    nvcc = os.environ.get("NVCC") or f"{toolkit()}/bin/nvcc"
    return "".join(re.findall(r"release ([0-9.]*)", "\n".join(said(nvcc, "--version"))))


def compute_sanitizer():
    """The path of compute-sanitizer; None: there is none here."""
    return shutil.which("compute-sanitizer") or shutil.which(f"{toolkit()}/bin/compute-sanitizer")


def cpuinfo(key):
    """What /proc/cpuinfo has for the first CPU; an empty text where it has nothing."""
    with open("/proc/cpuinfo") as f:
        return next((value.strip() for name, _, value in (x.partition(":") for x in f) if name.strip() == key), "")


def cpu():
    return cpuinfo("model name") or platform.machine()


if __name__ == "__main__":
    words = {each.__name__: each for each in (commit, device, driver, cuda)}
    if len(sys.argv) != 2 or sys.argv[1] not in words:
        sys.exit(f"usage: machine.py {'|'.join(words)}")
    print(words[sys.argv[1]]())
