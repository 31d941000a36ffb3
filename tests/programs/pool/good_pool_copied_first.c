// case: good_pool_copied_first 0, 0
// case: good_pool_filled_first 1, 0
// case: bad_pool_copied_first 0, 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// case: bad_pool_filled_first 1, 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* What a buffer holds first is the work of a copy, or of a fill, and not of a kernel. */
#include "pooled.h"

static void used(CUstream stream, int filled, int past)
{
	CUdeviceptr p = make_pooled(SIZE, stream);
	char bytes[SIZE], back[SIZE];

	memset(bytes, 1, SIZE);
	CK(filled ? cuMemsetD8Async(p, 1, SIZE, stream) : cuMemcpyHtoDAsync(p, bytes, SIZE, stream));
	flip_end(p, SIZE, stream, past);
	CK(cuMemcpyDtoHAsync(back, p, SIZE, stream));
	CK(cuMemFreeAsync(p, stream));
	CK(cuStreamSynchronize(stream));
	REQUIRE(!memcmp(back, bytes, SIZE - 1) && back[SIZE - 1] == (1 ^ 0x5a));
}

int main(void)
{
	CUstream stream = tk_stream();

	used(stream, CASE);
	puts("done");
}
