"""The table of what is measured: parts, each with the seconds it may take, and their cases.

A quick run has fewer cases and two pairs of each, which is enough to see that all works and too little for a verdict.
"""

from cases import Case

PROGRAMS = ("bfs", "mri-fhd", "pns", "mri-q", "fft", "mummer")
PROGRAMS += ("pitch-texture", "bilateral-filter", "concurrent-kernels", "mri-gridding")
# Images, so that the device is what a step waits for and not the CPU, whose speed differs from second to second where a
# host is shared; and iterations a block, so that it takes 0.1 s.
MODELS = {"resnet50": (64, 3), "inception_v3": (64, 2), "vgg16": (32, 4), "alexnet": (128, 12)}
DECODER = {"prefill": 7, "decode": 20, "decode-graph": 40}

PROGRAM = "{build}/bench/coarse"
LATENCY = "{build}/gpu/programs/figure_latency"
IDLE = "{build}/gpu/programs/figure_idle"
FOOTPRINT = "{build}/gpu/programs/figure_footprint"
CALLS = "{build}/gpu/programs/figure_call_cost"
GRAPHS = "{build}/gpu/programs/figure_graph_cost"
LAUNCH = "{build}/null/figure_launch_cost"
KERNELS = {"GMOD_TEST_KERNELS": "{build}/gpu/kernels.fatbin"}
JOB = ["{python}", "bench/jobs/train.py"]
LLAMA = ["{python}", "bench/jobs/llama.py"]
JAX = ["{python}", "bench/jobs/jax_train.py", "--block", "5"]
SLOW = {"limit": 120}  # to start, where there is one CPU
# Else each process times its kernels to choose among them, half a minute on one CPU, and not all choose the same.
JAX_CHOICE = {"XLA_FLAGS": "--xla_gpu_autotune_level=0"}
# Else each of two processes takes most of the memory.
JAX_CHOICE["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
# And compiles, which takes half a minute of it again: the warm-up leaves what it has compiled.
JAX_CHOICE["JAX_COMPILATION_CACHE_DIR"] = "{build}/bench/jax"
JAX_CHOICE.update(JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0", JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES="-1")
TORCH = {"takes": 35, "needs": "torch", "cpus": 1}
TURNS = {**TORCH, "turns": True}
# As many bytes of redzones as all of their segments take: the default, a part of the device, leaves some out on 80 GB.
SEGMENTS = {**TURNS, "options": "redzone_mb=1024"}


def coarse(quick):
    """Programs whose host code allocates; a run takes a second or more."""
    names = ("bfs", "fft", "bilateral-filter", "concurrent-kernels") if quick else PROGRAMS
    return [Case("coarse", "coarse", name, commands=[[PROGRAM, name]], takes=4) for name in names]


def short(quick):
    """The coarse programs with few rounds, some milliseconds: what allocating and freeing costs shows."""
    names = ("bfs", "bilateral-filter", "concurrent-kernels") if quick else PROGRAMS
    return [
        Case("short", "coarse, short", name, commands=[[PROGRAM, name, "short"]], per="allocations") for name in names
    ]


def corun(quick):
    """Two programs at the same time, until both have ended: in two processes, and as two streams of one process."""
    cases = []
    for group in ("side by side", "two streams"):
        for a, b in (("bfs", "fft"), ("mri-gridding", "pitch-texture")):
            how = {"commands": [[PROGRAM, a], [PROGRAM, b]], "key": None, "cpus": None}
            if group == "two streams":
                how = {"commands": [[PROGRAM, f"{a}+{b}"]]}
            cases.append(Case("corun", group, f"{a} + {b}", **how))
    return cases


def memcheck(quick):
    """Beside compute-sanitizer, with a tenth of the rounds, for it takes so much longer."""
    names = ("bfs",) if quick else PROGRAMS
    rest = {"pairs": 2, "memcheck": 1, "memcheck_limit": 30}
    return [Case("memcheck", "sanitizers", name, commands=[[PROGRAM, name, "tenth"]], **rest) for name in names]


def trains(model):
    batch, block = MODELS[model]
    return [*JOB, model, "--batch", str(batch), "--block", str(block)]


def training(quick):
    """A figure is milliseconds an iteration."""
    cases = [Case("training", "training", model, commands=[trains(model)], **SEGMENTS) for model in MODELS]
    if quick:
        return cases[:1]
    cases[-1].memcheck, cases[-1].memcheck_limit = 1, 90
    cases[-1].memcheck_command = [*trains(cases[-1].name), "--block", "1", "--blocks", "1", "--warm-up", "1"]
    return cases


def ddp(quick):
    """Training of one network on two GPUs, where there are two. NCCL maps memory of its own, which is not guarded."""
    command = [*trains("resnet50"), "--ranks", "2", "--blocks", "20"]
    return [Case("ddp", "two GPUs", "resnet50", commands=[command], **{**TURNS, "covers": 900, "takes": 50, "cpus": None})]


def inference(quick):
    """The same of a decoder."""
    return [
        Case("inference", group, f"llama {phase}", commands=[[*LLAMA, phase, "--block", str(iterations)]], **SEGMENTS)
        for (phase, iterations), group in zip(DECODER.items(), ("frameworks", "decode", "decode"))
    ]


def unified(quick):
    """Two of the jobs with the backend `unified`."""
    rest = {**TURNS, "options": "backend=unified"}
    decode = [*LLAMA, "decode", "--block", str(DECODER["decode"])]
    return [
        Case("unified", "unified", "resnet50", commands=[trains("resnet50")], **rest),
        Case("unified", "decode", "llama decode, unified", commands=[decode], **rest),
    ]


def tensor(quick):
    """Jobs whose tensors are allocations in stream order, of which GMOD guards a sample, or all."""
    ordered = {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}
    jax_ordered = {"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async", **JAX_CHOICE}
    resnet, rest = trains("resnet50"), {**TURNS, "covers": 0}
    beside = "tensors, beside PyTorch's pool"
    cases = [Case("tensor", beside, "resnet50", commands=[resnet], with_gmod=ordered, **rest)]
    for group, options in (("tensors, a sample", "max_overhead=1"), ("tensors, all", "max_overhead=100")):
        how = {**rest, "options": options}
        cases.append(Case("tensor", group, "resnet50", commands=[resnet], environment=ordered, **how))
        how.update(needs="jax", **SLOW)
        cases.append(Case("tensor", group, "jax train", commands=[JAX], environment=jax_ordered, **how))
    return cases


def uncached(quick):
    """Training in which each tensor is an ordinary allocation, which is slow natively, too."""
    rest = {**TORCH, "environment": {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}, "pairs": 2}
    some = ["--block", "1", "--blocks", "4", "--warm-up", "3"]
    return [
        Case("uncached", "training, per tensor", model, commands=[[*JOB, model, *some]], **rest)
        for model in ("resnet50", "alexnet")
    ]


def once(part, group, name, unit, command, key, **rest):
    """A case of one run of a test's program, whose figures are what it prints."""
    command = [str(word) for word in command]
    rest = {"environment": KERNELS, "once": True, "pairs": 1, "cpus": None, **rest}
    return Case(part, group, name, unit, [command], key, **rest)


def latency_case(buffers, us, device, trials, seconds):
    return once(
        "latency",
        "latency",
        f"{buffers} buffers, every {us} us, {device}",
        "us",
        [LATENCY, buffers, trials, device, seconds],
        "p50_us",
        options=f"max_reports=1:scan_interval_us={us}",
        values={"buffers": buffers, "scan_interval_us": us, "busy": int(device == "busy")},
        planted=True,
        takes=2 + buffers * 100e-6 + (seconds if buffers >= 10000 else 1),
    )


def latency(quick):
    """From a kernel's stray store to the finding, on a device that does nothing else, and on a busy one.

    Estimates: a process takes a second to start, 100 us to allocate a buffer, and 3 ms and the latency for a trial:
    2 s with up to 1000 buffers, 6 s with 10 000, where max_cpu lets a sweep begin every 30 ms or so, and 17 s with
    100 000. What comes last is left out where it all takes longer.
    """
    if quick:
        cells = ((100, 0, "idle"), (100, 1000, "idle"), (1000, 1000, "idle"), (100, 1000, "busy"))
        return [latency_case(*cell, 50, 1) for cell in cells]
    intervals = (0, 100, 1000, 10000)
    cells = [(buffers, us, "idle", 200, 5) for buffers in (1, 100, 1000, 10000) for us in intervals]  # 24 s and 24 s
    busy = ((100, 1000), (1000, 0), (1000, 1000), (10000, 1000))
    cells += [(buffers, us, "busy", 200, 3) for buffers, us in busy]  # 12 s
    # 17 s each, or 68 s; above 10 000 buffers max_cpu spaces sweeps out alike at all intervals but 0.
    cells += [(100000, us, "idle", 200, 5) for us in (1000, 0, 10000, 100)]
    return [latency_case(*cell) for cell in cells]


def effectiveness(quick):
    """A kernel stores behind the buffer that the program allocated last; then the program's own kernels run.

    Kernels are all loaded at first, or loading them would be most of what those of a short run take.
    """
    names = ("fft", "concurrent-kernels") if quick else PROGRAMS
    rest = {"key": "kernel_ms", "environment": {"CUDA_MODULE_LOADING": "EAGER"}, "pairs": 1 if quick else 3}
    rest.update(planted=True, plants="plant_overflow", memcheck=0 if quick else 1, memcheck_limit=30)
    return [Case("effectiveness", "effectiveness", name, commands=[[PROGRAM, name]], **rest) for name in names]


def footprint(quick):
    """What a live buffer takes of memory and of a sweep, with as many as have room in 8 GiB.

    Estimates: a process takes a second to start and sweeps for one, or for 4 where there is a verdict, and allocating a
    buffer takes 100 us.
    """
    sizes = ((4096, "4 KiB", (10, 100, 1000, 10000, 100000)), (1 << 20, "1 MiB", (10, 100, 1000)))
    cells = [(count, size, text) for size, text, counts in sizes for count in counts]
    rest = {"options": "scan_interval_us=0", "beside": True}
    cases = []
    for count, size, text in [(1000, 4096, "4 KiB")] if quick else cells:
        command = [FOOTPRINT, count, size, 4 if count == 100000 else 1]
        rest["takes"] = 4 + count * 140e-6
        cases.append(once("monitor", "footprint", f"{count} buffers of {text}", "bytes", command, "host_bytes", **rest))
    return cases


def calls(name, command, key, unit="ns a call", **rest):
    return Case("monitor", "calls", name, unit, [command], key, environment=KERNELS, **rest)


def monitor(quick):
    """What GMOD's own thread and hooks take. A launch is measured over a driver that does nothing, calls of a program that
    makes many on the driver that is there, and so is making graphs executable, whose nodes GMOD asks for.
    """
    cases = []
    for pinned in (0, 1):
        command = [IDLE, pinned, 1 if quick else 5]
        cases.append(once("monitor", "monitor", f"idle, {pinned} pinned buffers", "wakeups per s", command, "wakeups_per_s"))
    for threads in (1, 16):
        rest = {"environment": {"LD_LIBRARY_PATH": "{build}/null"}, "covers": 0, "pairs": 4, "cpus": None}
        command, name = [LAUNCH, str(threads)], f"{threads} threads"
        cases.append(Case("monitor", "launch", name, "ns per launch", [command], "ns_per_launch", **rest))
    cases.append(calls("one of 49 in a round", [CALLS], "call_ns"))
    cases.append(calls("a launch, the caches full of other things", [CALLS, "500", "128"], "launch_ns"))
    for what, key in (("instantiating", "instantiate_ns"), ("updating", "update_ns")):
        cases.append(calls(f"{what} a graph of 2000 kernels, a node", [GRAPHS, "2000"], key, "ns a node", pairs=4))
    return cases + footprint(quick)


def pages(quick):
    """What moves of managed memory, and what that costs: as GMOD allocates by default, and with all of it managed.

    A tenth of the rounds of `coarse`: a run takes a second or less, most of it the start. There are six of each case, if
    there is time: the two that count come first.
    """
    cases = []
    for name in ("bfs", "mri-gridding", "pitch-texture", "fft"):
        for options in ("", "backend=managed"):
            rest = {"values": {"program": name, "options": options}, "pages": True, "pairs": 2}
            command, title = [PROGRAM, name, "tenth"], f"{name}, {options or 'default'}"
            cases.append(Case("pages", "pages", title, commands=[command], options=options, **rest))
    return cases


# Of each part the cases, and the seconds that it may take without building, as a whole and quick (None: it is left out).
# Together with bench/inkernel.py they are to stay below 35 minutes, and quick below 4.
PARTS = {
    "coarse": (coarse, 300, 60),
    "short": (short, 50, 20),
    "corun": (corun, 60, None),
    "memcheck": (memcheck, 80, 15),
    "training": (training, 480, 60),
    "ddp": (ddp, 480, None),
    "inference": (inference, 240, None),
    "unified": (unified, 120, None),
    "tensor": (tensor, 210, None),
    "uncached": (uncached, 50, None),
    "latency": (latency, 110, 15),
    "effectiveness": (effectiveness, 60, 10),
    "monitor": (monitor, 72, 15),
    "pages": (pages, 40, None),
}


def table(quick):
    """{part: (seconds, cases)}"""
    seconds = {name: few if quick else all_ for name, (_, all_, few) in PARTS.items()}
    parts = {name: (seconds[name], PARTS[name][0](quick)) for name in PARTS if seconds[name]}
    if quick:
        for case in (case for _, cases in parts.values() for case in cases):
            case.pairs = min(case.pairs, 2)
    return parts
