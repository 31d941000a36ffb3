// case: good_pool_size_1 1, 0
// case: good_pool_size_3 3, 0
// case: good_pool_size_1000003 1000003, 0
// case: bad_pool_size_1 1, 1 => heap-buffer-overflow size 1 offset +0 in make_pooled
// case: bad_pool_size_3 3, 1 => heap-buffer-overflow size 3 offset +0 in make_pooled
// case: bad_pool_size_1000003 1000003, 1 => heap-buffer-overflow size 1000003 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* Sizes that are a multiple of nothing, in their full length. */
#include "pooled.h"

static void used_whole(size_t size, int past)
{
	unsigned char *bytes = malloc(size);
	CUstream stream = tk_stream();
	CUdeviceptr p = make_pooled(size, stream);

	tk_spin(stream, 0);
	CK(cuMemsetD8Async(p, 7, size, stream));
	flip_end(p, size, stream, past);
	CK(cuMemcpyDtoHAsync(bytes, p, size, stream));
	CK(cuMemFreeAsync(p, stream));
	CK(cuStreamSynchronize(stream));
	for (size_t i = 0; i < size; i++)
		REQUIRE(bytes[i] == (i + 1 < size ? 7 : 7 ^ 0x5a));
	free(bytes);
}

int main(void)
{
	used_whole(CASE);
	puts("done");
}
