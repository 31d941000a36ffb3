// case: good_pool_several_streams 0
// case: bad_pool_several_streams 1 => heap-buffer-overflow size 1002 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* Four streams at once, with four buffers each, of one pool. */
#include "pooled.h"

enum { STREAMS = 4, BUFFERS = 4 };

static void round_of(const CUstream *stream, int past)
{
	CUdeviceptr p[BUFFERS][STREAMS];

	for (int b = 0; b < BUFFERS; b++)
		for (int s = 0; s < STREAMS; s++)
			p[b][s] = make_pooled(SIZE + s, stream[s]);
	for (int b = 0; b < BUFFERS; b++)
		for (int s = 0; s < STREAMS; s++)
			flip_end(p[b][s], SIZE + s, stream[s], b == 1 && s == 2 ? past : 0);
	for (int b = 0; b < BUFFERS; b++)
		for (int s = 0; s < STREAMS; s++)
			CK(cuMemFreeAsync(p[b][s], stream[s]));
}

int main(void)
{
	CUstream stream[STREAMS];

	for (int s = 0; s < STREAMS; s++)
		stream[s] = tk_stream();
	for (int i = 0; i < 10; i++)
		round_of(stream, i == 5 ? CASE : 0);
	tk_sync();
	puts("done");
}
