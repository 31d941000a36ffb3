# guarded: some
# limit: 120
"""CuPy: its pool, its plain allocator, pinned memory, a kernel of the user's own, sorting, a transform."""

from frameworks import needs_cupy

cupy = needs_cupy()

SCALE = cupy.RawKernel(
    """
extern "C" __global__ void scale(long long *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        p[i] *= 3;
}
""",
    "scale",
)


def work(label):
    for n in (1, 999, 100003):
        x = cupy.arange(n, dtype=cupy.int64)
        SCALE(((n + 127) // 128,), (128,), (x, cupy.int32(n)))
        y = cupy.sort(x[::-1] * 2)
        signal = cupy.fft.ifft(cupy.fft.fft(x.astype(cupy.complex128)))
        print(label, n, int(x.sum()), int(y[-1]), round(float(signal.real.sum())))


work("pool")
cupy.cuda.set_allocator(None)
work("plain")
cupy.cuda.set_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc)
work("managed")
pinned = cupy.cuda.alloc_pinned_memory(1000)
print("pinned", pinned.size() >= 1000)
