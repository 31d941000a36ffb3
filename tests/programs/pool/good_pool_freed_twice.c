// case: good_pool_freed_twice 0
// case: bad_pool_freed_twice 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
// guarded: no
/* The second free is refused: the buffer was given back, whoever has its place. */
#include "pooled.h"

int main(void)
{
	CUstream stream = tk_stream();
	CUdeviceptr p = make_pooled(SIZE, stream);

	flip_end(p, SIZE, stream, CASE);
	CK(cuMemFreeAsync(p, stream));
	EXPECT(cuMemFreeAsync(p, stream), CUDA_ERROR_INVALID_VALUE);
	CK(cuStreamSynchronize(stream));
	EXPECT(cuMemFreeAsync(p, stream), CUDA_ERROR_INVALID_VALUE);
	use_once(SIZE, stream, 0);
	CK(cuStreamSynchronize(stream));
	puts("done");
}
