// case: good_pool_reused 0
// case: bad_pool_reused 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/*
 * A buffer is freed while the device has yet to use it, and its place goes to the next one at once, whose bytes lie
 * where there was something behind the last one's. Only the order of the stream tells whose they are.
 */
#include "pooled.h"

int main(void)
{
	CUstream stream = tk_stream();

	for (int i = 0; i < 50; i++) {
		volatile int *flag = hold(stream);
		CUdeviceptr p = make_pooled(SIZE, stream), q;

		flip_end(p, SIZE, stream, i == 25 ? CASE : 0);
		CK(cuMemFreeAsync(p, stream));
		q = make_pooled(3 * SIZE, stream);
		tk_flip_on(stream, q, 0, 3 * SIZE);
		CK(cuMemsetD8Async(q, (unsigned char)i, 3 * SIZE, stream));
		CK(cuMemFreeAsync(q, stream));
		*flag = 1;
		CK(cuStreamSynchronize(stream));
		CK(cuMemFreeHost((void *)flag));
	}
	puts("done");
}
