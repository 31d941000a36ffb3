// case: good_pool_never_freed 0
// case: bad_pool_never_freed 1 => heap-buffer-overflow size 1003 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* The program ends while its buffers live. */
#include "pooled.h"

int main(void)
{
	CUstream stream = tk_stream();

	for (int i = 0; i < 5; i++)
		flip_end(make_pooled(SIZE + i, stream), SIZE + i, stream, i == 3 ? CASE : 0);
	CK(cuStreamSynchronize(stream));
	puts("done");
}
