"""Minutes of what jobs do, in one process.

  soak.py SECONDS

Sixteen threads allocate, fill and free, plainly and from a pool; another process opens buffers by IPC; PyTorch, where there is
one, trains a small network and replays graphs of it. A quarter of the time comes first, and the rest then: host and
device memory must not have grown meanwhile.

Exit status: 0, 1 memory has grown, 2 a call failed, 77 no GPU.
"""

import ctypes
import math
import multiprocessing
import os
import random
import sys
import threading
import time

THREADS, MOST_LIVE, MOST_BYTES = 16, 50, 4 << 20
MAY_GROW = {"host": 48 << 20, "device": 64 << 20}  # what the C library and the driver keep for the next one


class IpcHandle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_char * 64)]


class Cuda:
    """The driver's calls by their names, which fail loudly."""

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        if self.driver.cuInit(0):
            sys.exit(77)
        self.context = ctypes.c_void_p()
        self.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), 0)
        self.enter()

    def enter(self):
        self.cuCtxSetCurrent(self.context)

    def __getattr__(self, name):
        call = getattr(self.driver, name)

        def checked(*arguments):
            status = call(*arguments)
            if status:
                print(f"soak: {name}: {status}", file=sys.stderr, flush=True)
                os._exit(2)

        return checked

    def alloc(self, size):
        at = ctypes.c_uint64()
        self.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(size))
        return at

    def free_bytes(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
        return free.value


def size_from(chance):
    """Small ones as often as large ones: between two powers of two lie as many as between the next two."""
    return int(math.exp(chance.uniform(0, math.log(MOST_BYTES))))


def churn(cuda, seed, until):
    """Buffers of cuMemAlloc, some of them kept for a while."""
    chance, live = random.Random(seed), []
    cuda.enter()
    while time.monotonic() < until:
        if len(live) < MOST_LIVE and chance.random() < 0.55:
            size = size_from(chance)
            live.append(cuda.alloc(size))
            cuda.cuMemsetD8_v2(live[-1], ctypes.c_ubyte(seed), ctypes.c_size_t(size))
        elif live:
            cuda.cuMemFree_v2(live.pop(chance.randrange(len(live))))
    for at in live:
        cuda.cuMemFree_v2(at)


def pooled(cuda, seed, until):
    """Memory in the order of a stream, which is waited for now and then."""
    chance, stream = random.Random(seed), ctypes.c_void_p()
    cuda.enter()
    cuda.cuStreamCreate(ctypes.byref(stream), 1)
    while time.monotonic() < until:
        at, size = ctypes.c_uint64(), ctypes.c_size_t(size_from(chance))
        cuda.cuMemAllocAsync(ctypes.byref(at), size, stream)
        cuda.cuMemsetD8Async(at, ctypes.c_ubyte(seed), size, stream)
        cuda.cuMemFreeAsync(at, stream)
        if chance.random() < 0.1:
            cuda.cuStreamSynchronize(stream)
    cuda.cuStreamSynchronize(stream)
    cuda.cuStreamDestroy_v2(stream)


def serve(pipe):
    """The other process: whatever it is sent it opens, fills and closes."""
    cuda = Cuda()
    for handle, size in iter(pipe.recv, None):
        at = ctypes.c_uint64()
        cuda.cuIpcOpenMemHandle_v2(ctypes.byref(at), IpcHandle.from_buffer_copy(handle), 1)
        cuda.cuMemsetD8_v2(at, ctypes.c_ubyte(7), ctypes.c_size_t(size))
        cuda.cuCtxSynchronize()
        cuda.cuIpcCloseMemHandle(at)
        pipe.send(True)


def share(cuda, pipe, until):
    """Buffers for the other process, unless the driver gives no handle (as for what lies in a mapping)."""
    chance = random.Random(1)
    cuda.enter()
    while time.monotonic() < until:
        size, handle = size_from(chance), IpcHandle()
        at = cuda.alloc(size)
        if cuda.driver.cuIpcGetMemHandle(ctypes.byref(handle), at) == 0:
            pipe.send((bytes(handle), size))
            pipe.recv()
        cuda.cuMemFree_v2(at)
        time.sleep(0.01)


def train(until):
    """A network whose step is captured, replayed and thrown away, beside steps of all sizes."""
    import torch
    from torch import nn

    model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(images):
        optimizer.zero_grad(set_to_none=True)
        loss = model(images).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    # Once at least: what PyTorch loads for it stays, and is to be there at the first count.
    more = True
    while more:
        for _ in range(20):
            step(torch.randn(random.randrange(1, 64), 3, 40, 40, device="cuda"))
        images, stream = torch.randn(32, 3, 40, 40, device="cuda"), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                step(images)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            loss = step(images)
        for _ in range(200):
            graph.replay()
        if not math.isfinite(loss.item()):
            sys.exit("soak: the loss is no number")
        del graph, loss
        more = time.monotonic() < until
    del model, optimizer, images
    torch.cuda.empty_cache()


def has_torch():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def phase(cuda, pipe, seconds, with_torch):
    """All of it for so long; what is in use when all has ended."""
    until = time.monotonic() + seconds
    work = [(churn if i % 4 else pooled, (cuda, i, until)) for i in range(THREADS)] + [(share, (cuda, pipe, until))]
    threads = [threading.Thread(target=call, args=arguments) for call, arguments in work]
    for thread in threads:
        thread.start()
    if with_torch:
        train(until)
    for thread in threads:
        thread.join()
    cuda.cuCtxSynchronize()
    pool = ctypes.c_void_p()
    cuda.cuDeviceGetDefaultMemPool(ctypes.byref(pool), 0)
    cuda.cuMemPoolTrimTo(pool, ctypes.c_size_t(0))
    with open("/proc/self/statm", encoding="ascii") as f:
        host = int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return {"host": host, "device": -cuda.free_bytes()}


def main():
    seconds, cuda = float(sys.argv[1]), Cuda()
    context = multiprocessing.get_context("spawn")
    pipe, theirs = context.Pipe()
    other = context.Process(target=serve, args=(theirs,))
    other.start()
    theirs.close()
    with_torch = has_torch()
    first = phase(cuda, pipe, seconds / 4, with_torch)
    last = phase(cuda, pipe, seconds * 3 / 4, with_torch)
    pipe.send(None)
    other.join()
    grown = {what: last[what] - first[what] for what in first}
    print(f"grown: {', '.join(f'{what} {by / 2**20:.1f} MiB' for what, by in grown.items())}; PyTorch: {with_torch}")
    sys.exit(any(by > MAY_GROW[what] for what, by in grown.items()) or other.exitcode)


if __name__ == "__main__":
    main()
