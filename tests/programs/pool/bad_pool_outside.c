// case: bad_pool_copied_outside cuMemcpyHtoDAsync(p, bytes, SIZE + 1, stream)
// case: bad_pool_filled_outside cuMemsetD8Async(p, 1, SIZE + 1, stream)
// case: bad_pool_read_outside cuMemcpyDtoHAsync(bytes, p + 1, SIZE, stream)
// expect: api-out-of-bounds size 1000
// options: max_overhead=100
/* One byte more than the buffer has is refused, as the first that is done to it. It does no harm. */
#include "pooled.h"

int main(void)
{
	char bytes[SIZE + 1] = "";
	CUstream stream = tk_stream();
	CUdeviceptr p = make_pooled(SIZE, stream);

	(void)bytes;
	EXPECT(CASE, CUDA_ERROR_INVALID_VALUE);
	flip_end(p, SIZE, stream, 0);
	CK(cuMemFreeAsync(p, stream));
	CK(cuStreamSynchronize(stream));
}
