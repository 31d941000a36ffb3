"""A kernel with a bug: it changes the four bytes behind the n it was given (torch_planted*.py)."""

from frameworks import needs

SOURCE = """
extern "C" __global__ void planted_overflow(unsigned *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i <= n)
        p[i] ^= 0x5a5a5a5a;
}
"""


def load():
    """Returns launch(tensor, n), through PyTorch's own runtime compilation or, where it has none, CuPy's."""
    import torch

    if hasattr(torch.cuda, "_compile_kernel"):
        kernel = torch.cuda._compile_kernel(SOURCE, "planted_overflow")

        def launch(tensor, n):
            kernel(((n + 256) // 256, 1, 1), (256, 1, 1), (tensor, n))

        return launch
    cupy = needs("cupy")
    kernel = cupy.RawKernel(SOURCE, "planted_overflow")

    def launch(tensor, n):
        kernel(((n + 256) // 256,), (256,), (tensor.data_ptr(), cupy.int32(n)))

    return launch
