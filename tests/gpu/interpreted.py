#!/usr/bin/env -S python3 -B
"""Compares the interpreter of PTX in tests/prove with a GPU: the same random kernels, the same bytes afterwards.

    interpreted.py [COUNT [FIRST]]      # so many kernels (default 200), from that seed on; 200 take 4100 seeds and two minutes

A kernel counts if each of its accesses lies inside, no two threads touch a byte that one of them writes, and no byte of shared or
local memory is read that its thread has not written: else the bytes are anybody's guess. Kernels whose floating-point results a
machine may round otherwise are left out, too.

Writes a line for each kernel that differs, and the counts. Exit status: 0 none differs, 1 one does, 2 there is no GPU.
"""

import ctypes
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests", "prove"))

import generator  # noqa: E402
import interpreter  # noqa: E402


def is_certain(result):
    writers, touched = {}, {}
    for one in result.trace:
        if one.space in ("param", "const"):
            continue
        who = one.block + one.thread
        owner = {"shared": one.block, "local": who}.get(one.space)
        for byte in range(one.offset, one.offset + one.width):
            place = one.space, owner, str(one.object), byte
            touched.setdefault(place, set()).add(who)
            if one.kind != "load":
                writers.setdefault(place, set()).add(who)
            elif owner is not None and place not in writers:
                return False
            if place in writers and len(touched[place]) > 1:
                return False
    return True


class Driver:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        error = getattr(self.cuda, name)(*arguments)
        if error:
            raise OSError(f"{name}: error {error}")

    def run(self, case):
        """The bytes of each buffer afterwards, by its place in the parameters."""
        module, function, held = ctypes.c_void_p(), ctypes.c_void_p(), {}
        self.call("cuModuleLoadData", ctypes.byref(module), case.text.encode("ascii") + b"\0")
        self.call("cuModuleGetFunction", ctypes.byref(function), module, case.kernel.encode("ascii"))
        parameters = bytearray(case.launch.bytes)
        for at, buffer in case.launch.pointers.items():
            buffer, delta = buffer if isinstance(buffer, tuple) else (buffer, 0)
            address = ctypes.c_uint64()
            self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(1, len(buffer.data))))
            self.call("cuMemcpyHtoD_v2", address, bytes(buffer.data), ctypes.c_size_t(len(buffer.data)))
            parameters[at:at + 8] = (address.value + delta).to_bytes(8, "little")
            held[at] = address, len(buffer.data)
        given = (ctypes.c_char * len(parameters)).from_buffer(parameters)
        size = ctypes.c_size_t(len(parameters))
        # CU_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE, _END
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(given), 2, ctypes.addressof(size), 0)
        sides = [tuple(shape) + (1,) * (3 - len(shape)) for shape in (case.grid, case.block)]
        self.call("cuLaunchKernel", function, *sides[0], *sides[1], case.dynamic, None, None, extra)
        self.call("cuCtxSynchronize")
        found = {}
        for at, (address, length) in held.items():
            read = ctypes.create_string_buffer(max(1, length))
            self.call("cuMemcpyDtoH_v2", read, address, ctypes.c_size_t(length))
            self.call("cuMemFree_v2", address)
            found[at] = read.raw[:length]
        self.call("cuModuleUnload", module)
        return found


def main(words):
    count, seed = int(words[0]) if words else 200, int(words[1]) if words[1:] else 1
    try:
        driver = Driver()
    except OSError as why:
        print(f"no GPU: {why}", file=sys.stderr)
        return 2
    compared, differ, last = 0, 0, seed + 40 * count
    while compared < count and seed < last:
        case = generator.generate(seed)
        seed += 1
        on_gpu = generator.generate(seed - 1)  # the interpreter writes into the buffers of its own
        try:
            result = interpreter.run(case.text, case.kernel, case.grid, case.block, case.launch, case.dynamic, trace=True)
        except interpreter.Unsupported:
            continue
        if result.stopped or result.accesses or result.approximate or not is_certain(result):
            continue
        found = driver.run(on_gpu)
        compared += 1
        for at, buffer in case.launch.pointers.items():
            buffer = buffer[0] if isinstance(buffer, tuple) else buffer
            if bytes(buffer.data) != found[at]:
                place = next(i for i, (a, b) in enumerate(zip(buffer.data, found[at])) if a != b)
                print(f"seed {seed - 1}: byte {place} of the buffer at parameter {at} is {buffer.data[place]}, on the GPU {found[at][place]}")
                differ += 1
                break
    print(f"{compared} kernels compared, {differ} differ, of seeds up to {seed - 1}")
    return int(differ > 0 or compared < count)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
