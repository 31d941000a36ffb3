// case: good_pool_one_stream 0
// case: bad_pool_one_stream 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* Buffers of one size come and go in one stream, each behind the last one, which the device may still be using. */
#include "pooled.h"

int main(void)
{
	CUstream stream = tk_stream();

	for (int i = 0; i < 100; i++)
		use_once(SIZE, stream, i == 50 ? CASE : 0);
	CK(cuStreamSynchronize(stream));
	CK(cuStreamDestroy(stream));
	puts("done");
}
