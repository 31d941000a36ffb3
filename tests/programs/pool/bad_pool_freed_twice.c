// expect: heap-buffer-overflow size 1000 offset +0 in make_pooled
// expect: double-free size 1000 in make_pooled
// expect: double-free size 1000 in make_pooled
// options: max_overhead=100
/* A second and a third free are refused: the buffer was given back. What was written behind it is found all the same.
 */
#include "pooled.h"

int main(void)
{
	CUstream stream = tk_stream();
	CUdeviceptr p = make_pooled(SIZE, stream);

	flip_end(p, SIZE, stream, 1);
	CK(cuMemFreeAsync(p, stream));
	EXPECT(cuMemFreeAsync(p, stream), CUDA_ERROR_INVALID_VALUE);
	CK(cuStreamSynchronize(stream));
	EXPECT(cuMemFreeAsync(p, stream), CUDA_ERROR_INVALID_VALUE);
	puts("done");
}
