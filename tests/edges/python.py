"""Where a Python program is when it allocates and launches, as the interpreter itself sees it.

python.py CASE [ARGUMENT]: overruns a buffer in so many ways, and prints for each one, as a line of JSON, the stacks of the
allocation and of the launch. python.py compare FRAMES EXPECTED REPORTS: holds GMOD's reports against that; what differs is
printed. Buffers are told apart by their sizes.
"""
import asyncio
import ctypes
import functools
import importlib
import itertools
import json
import os
import sys
import threading
import time

CHANGED = 16  # bytes
LAUNCH_FRAMES = 4
sizes = itertools.count(1000, 24)


def here(depth=1):
    """The caller's stack, innermost first."""
    stack, frame = [], sys._getframe(depth)
    while frame:
        code = frame.f_code
        # A byte of a file's name that is no character is one of its own in the report, too.
        file = code.co_filename.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        stack.append({"function": code.co_qualname, "file": file, "line": frame.f_lineno})
        frame = frame.f_back
    return stack


def tell(size, allocated, *launched):
    places = [each[:LAUNCH_FRAMES] for each in launched]
    print(json.dumps({"size": size, "allocated": allocated, "launched": places}), flush=True)


class Cuda:
    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        module, self.flip = ctypes.c_void_p(), ctypes.c_void_p()
        self.ok(self.lib.cuInit(0))
        self.ok(self.lib.cuDeviceGet(ctypes.byref(device), 0))
        self.ok(self.lib.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), device))
        self.ok(self.lib.cuCtxSetCurrent(self.context))
        self.ok(self.lib.cuModuleLoad(ctypes.byref(module), os.environ["GMOD_TEST_KERNELS"].encode()))
        self.ok(self.lib.cuModuleGetFunction(ctypes.byref(self.flip), module, b"k_flip"))

    @staticmethod
    def ok(status):
        if status:
            sys.exit(f"the driver says {status}")

    def allocate(self, size):
        p = ctypes.c_uint64()
        stack, status = here(), self.lib.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(size))
        self.ok(status)
        return p, stack

    def change(self, p, at):
        at, n = ctypes.c_longlong(at), ctypes.c_longlong(CHANGED)
        values = (ctypes.c_void_p * 3)(*map(ctypes.addressof, (p, at, n)))
        stack, status = here(), self.lib.cuLaunchKernel(self.flip, 1, 1, 1, 32, 1, 1, 0, None, values, None)
        self.ok(status)
        return stack

    def done_with(self, p):
        self.ok(self.lib.cuCtxSynchronize())
        self.ok(self.lib.cuMemFree_v2(p))


def one(cuda):
    """One buffer, from wherever this is called."""
    size = next(sizes)
    p, allocated = cuda.allocate(size)
    tell(size, allocated, cuda.change(p, size))
    cuda.done_with(p)


def twice(_):
    """One kernel, launched at two places."""
    cuda, size = Cuda(), next(sizes)
    p, allocated = cuda.allocate(size)
    inside = cuda.change(p, 0)
    tell(size, allocated, inside, cuda.change(p, size))
    cuda.done_with(p)


# ---- what stacks are made of ----


def decorated(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)

    return wrapper


@decorated
def nested(cuda):
    def inner():
        (lambda: one(cuda))()

    inner()
    [one(cuda) for _ in range(1)]
    dict((i, one(cuda)) for i in range(1))
    list(map(lambda _: one(cuda), "1"))
    sorted("21", key=lambda _: one(cuda) or 0)


class Body:
    """What a class body runs, and what objects run."""

    cuda = None

    def __enter__(self):
        one(self.cuda)

    def __exit__(self, *_):
        one(self.cuda)

    def __del__(self):
        one(self.cuda)

    @property
    def value(self):
        return one(self.cuda)

    @classmethod
    def many(cls):
        class Local(cls):
            one(cls.cuda)

        with Local() as nothing:
            pass
        try:
            raise ValueError(
                nothing,
                Local().value,
            )
        except ValueError:
            one(cls.cuda)
        finally:
            one(
                cls.cuda
            )


def generated(cuda):
    def numbers():
        one(cuda)
        yield 1
        yield from more()

    def more():
        try:
            yield one(cuda)
        finally:
            one(cuda)

    for _ in numbers():
        one(cuda)
    stopped = numbers()
    next(stopped), next(stopped)
    stopped.close()


async def awaited(cuda):
    async def ticks():
        one(cuda)
        yield await asyncio.sleep(0)
        one(cuda)

    one(cuda)
    async for _ in ticks():
        one(cuda)
    await asyncio.gather(*(asyncio.create_task(slept(cuda)) for _ in range(2)))


async def slept(cuda):
    await asyncio.sleep(0.001)
    one(cuda)


def deep(cuda, levels):
    return one(cuda) if levels == 0 else deep(cuda, levels - 1)


def called_back(cuda):
    """C that calls Python, which calls C."""
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: one(cuda) or 0)
    ctypes.CDLL(None).qsort((ctypes.c_int * 2)(2, 1), 2, 4, callback)


def constructs(_):
    cuda = Body.cuda = Cuda()
    nested(cuda)
    Body.many()
    generated(cuda)
    asyncio.run(awaited(cuda))
    deep(cuda, 300)
    called_back(cuda)
    exec("\n\none(cuda)", {"one": one, "cuda": cuda})


# ---- code that comes and goes ----


def replaced(folder):
    """Code objects die, and others take their place in memory."""
    cuda = Cuda()
    sys.path.insert(0, folder)
    for n in range(3):
        with open(os.path.join(folder, "module.py"), "w") as f:
            f.write("\n" * n + "def work(one, cuda):\n" + "    0\n" * n + "    one(cuda)\n")
        importlib.invalidate_caches()
        module = importlib.reload(sys.modules["module"]) if n else importlib.import_module("module")
        module.work(one, cuda)
    for n in range(60):
        source = "\n" * (n % 7) + f"if cuda:\n    x = '{n % 5}'\n" + "\n" * (n % 3) + "    one(cuda)\n"
        exec(compile(source, f"cell {n % 4}", "exec"), {"one": one, "cuda": cuda})


# ---- threads ----


def threads(_):
    """Of Python's own, and one that Python has not made and meets when it calls back."""
    cuda = Cuda()

    def work():
        cuda.ok(cuda.lib.cuCtxSetCurrent(cuda.context))
        for _ in range(2):
            one(cuda)

    for _ in range(2):  # a site is reported five times
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    routine = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: work())
    in_foreign_thread(routine)


def in_foreign_thread(routine, argument=None):
    c, thread, result = ctypes.CDLL(None), ctypes.c_ulong(), ctypes.c_void_p()
    c.pthread_create.argtypes = [ctypes.c_void_p] * 4
    c.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
    assert c.pthread_create(ctypes.byref(thread), None, routine, argument) == 0
    c.pthread_join(thread, ctypes.byref(result))
    return result


def unknown(library):
    """A thread that never runs Python has no Python stack."""

    class Work(ctypes.Structure):
        _fields_ = [("context", ctypes.c_void_p), ("flip", ctypes.c_void_p), ("size", ctypes.c_size_t)]

    cuda = Cuda()
    work = Work(cuda.context, cuda.flip, next(sizes))
    routine = ctypes.cast(ctypes.CDLL(library).overrun, ctypes.c_void_p)
    assert in_foreign_thread(routine, ctypes.addressof(work))
    tell(work.size, [], [])


def busy(_):
    """Threads that nobody waits for go on launching, and allocating, while Python ends."""
    cuda = Cuda()
    p, _ = cuda.allocate(1000)

    def work():
        cuda.ok(cuda.lib.cuCtxSetCurrent(cuda.context))
        started.release()
        at, n = ctypes.c_longlong(0), ctypes.c_longlong(4)
        values = (ctypes.c_void_p * 3)(*map(ctypes.addressof, (p, at, n)))
        while True:
            cuda.lib.cuLaunchKernel(cuda.flip, 1, 1, 1, 32, 1, 1, 0, None, values, None)
            cuda.lib.cuMemFree_v2(cuda.allocate(64)[0])

    class Slow:
        """Goes with its module, when the threads' states have gone: what looks at them has time to do so."""

        def __del__(self, sleep=time.sleep):
            sleep(0.05)

    global last
    last = Slow()
    started = threading.Semaphore(0)
    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    for _ in range(3):
        started.acquire()


# ---- processes, and their ends ----


def forked(_):
    """A child that is the first to use CUDA."""
    child = os.fork()
    if child:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    one(Cuda())


def layered(levels):
    """From so many functions, as a framework has them."""
    return layered(int(levels) - 1) if int(levels) else forked(None)


def finalised(_):
    """In the program's last calls: of a handler, and of an object that goes with its module."""
    import atexit

    atexit.register(one, Cuda())
    global last
    last = Body()
    Body.cuda = Cuda()


def together(folder):
    """What one process can do."""
    constructs(folder)
    replaced(folder)
    threads(folder)


# ---- all of it held against the reports ----


def compare(frames, expected, reports):
    with open(expected) as f:
        wanted = {each["size"]: each for each in map(json.loads, f)}
    with open(reports) as f:
        lines = [json.loads(line) for line in f if line.startswith("{")]
    given = {r["size"]: r for r in lines if r["event"] == "finding" and r["status"] == "final"}
    for size, want in wanted.items():
        if size not in given:
            print(f"the buffer of {size} bytes is in no report: {want}")
            continue
        buffer, suspects = given[size]["buffer"]["allocated"], given[size]["suspects"]
        launched = [place for s in suspects for place in (s["python"], *s["python_elsewhere"])]
        if buffer["python"] != want["allocated"][: int(frames)]:
            print(f"{size}: allocated at {buffer['python']}\n    instead of {want['allocated']}")
        for place in want["launched"]:
            if launched.count(place) != 1:
                print(f"{size}: launched at {launched}\n    instead of {place}, once")
        if want["allocated"] and any((f["module"] or "").startswith(("python", "libpython")) for f in buffer["frames"]):
            print(f"{size}: the interpreter's frames are there")
    print(f"{len(wanted)} compared")


if __name__ == "__main__":
    if sys.argv[1] == "compare":
        compare(*sys.argv[2:])
    else:
        globals()[sys.argv[1]](sys.argv[2] if len(sys.argv) > 2 else None)
