/*
 * Threads allocate and free the same few addresses as fast as they can, and ask about them in between: an address
 * belongs to the buffer that has it now. Half of the buffers are so large that the index has one entry for 2 MiB.
 */
#include "make_buffer.h"

enum { THREADS = 6, MS = 700 };

static void *work(void *arg)
{
	size_t number = (size_t)(uintptr_t)arg, wanted = number % 2 ? (size_t)6 << 20 : 100 + 50 * number;
	double end = tk_ms() + MS;

	CK(cuCtxSetCurrent(tk_context));
	while (tk_ms() < end) {
		CUdeviceptr p = make_buffer(wanted), base;
		size_t size;

		CK(cuMemGetAddressRange(&base, &size, p + wanted / 2));
		REQUIRE(base == p && size == wanted);
		CK(cuMemsetD8(p, 1, wanted));
		EXPECT(cuMemsetD8(p, 1, wanted + 1), CUDA_ERROR_INVALID_VALUE);
		CK(cuMemFree(p));
	}
	return NULL;
}

int main(void)
{
	tk_start();
	tk_in_threads(THREADS, work);
	puts("done");
}
