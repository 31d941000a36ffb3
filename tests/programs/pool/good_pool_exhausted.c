// case: good_pool_exhausted 0
// case: bad_pool_exhausted 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
// guarded: no
// skip-on: gpu
// sim-env: SIM_MEMORY=268435456
/* A buffer takes all that is free, so that nobody's bytes fit beside it. On a real device others may come in between.
 */
#include "pooled.h"

int main(void)
{
	size_t granule = 2 << 20, left, total;
	CUstream stream = tk_stream();
	CUdeviceptr p = make_pooled(SIZE, stream), all;

	flip_end(p, SIZE, stream, CASE);
	CK(cuStreamSynchronize(stream));
	for (int i = 0; i < 3; i++) {
		CK(cuMemGetInfo(&left, &total));
		all = make_pooled(left / granule * granule, stream);
		EXPECT(cuMemAllocAsync(&(CUdeviceptr){0}, 4 * granule, stream), CUDA_ERROR_OUT_OF_MEMORY);
		flip_end(all, left / granule * granule, stream, 0);
		CK(cuMemFreeAsync(all, stream));
		CK(cuStreamSynchronize(stream));
	}
	CK(cuMemFreeAsync(p, stream));
	CK(cuStreamSynchronize(stream));
	puts("done");
}
