// case: good_pool_untouched 0
// case: bad_pool_untouched 1 => heap-buffer-overflow size 1010 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
// guarded: no
/* Buffers that nobody uses come and go beside one that is used, before some of them go or after that. */
#include "pooled.h"

int main(void)
{
	CUstream stream = tk_stream();
	CUdeviceptr p[20];

	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 20; i++)
			p[i] = make_pooled(SIZE + i, stream);
		if (round == 1)
			CK(cuStreamSynchronize(stream));
		if (round % 2 == 0)
			flip_end(p[10], SIZE + 10, stream, round == 2 ? CASE : 0);
		for (int i = 1; i < 20; i += 2)
			CK(cuMemFreeAsync(p[i], stream));
		if (round % 2)
			flip_end(p[10], SIZE + 10, stream, 0);
		for (int i = 0; i < 20; i += 2)
			CK(cuMemFreeAsync(p[i], stream));
	}
	CK(cuStreamSynchronize(stream));
	puts("done");
}
