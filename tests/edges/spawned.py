"""A process that multiprocessing starts, in the way that is named, overruns a buffer."""
import ctypes
import multiprocessing
import os
import sys


def overrun():
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, kernel = (ctypes.c_void_p() for _ in range(3))
    buffer, offset, count = ctypes.c_uint64(), ctypes.c_longlong(1000), ctypes.c_longlong(1)
    arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(a) for a in (buffer, offset, count)))
    for error in (
        cuda.cuInit(0),
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
        cuda.cuCtxSetCurrent(context),
        cuda.cuMemAlloc_v2(ctypes.byref(buffer), ctypes.c_size_t(1000)),
        cuda.cuModuleLoad(ctypes.byref(module), os.environ["GMOD_TEST_KERNELS"].encode()),
        cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"k_flip"),
        cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, arguments, None),
        cuda.cuCtxSynchronize(),
    ):
        assert error == 0


if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    process = multiprocessing.Process(target=overrun)
    process.start()
    process.join()
    sys.exit(process.exitcode)
