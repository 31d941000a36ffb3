// case: good_pool_context_destroyed 1, 0
// case: good_pool_context_reset 0, 0
// case: bad_pool_context_destroyed 1, 1 => heap-buffer-overflow size 1003 offset +0 in make_pooled
// case: bad_pool_context_reset 0, 1 => heap-buffer-overflow size 1003 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
// guarded: no
/* A context is destroyed, or the device is reset, while buffers of it live. */
#include "pooled.h"

static void end_of(int own_context, int past)
{
	CUcontext context = own_context ? tk_start_in_new_context() : (tk_start(), tk_context);
	CUstream stream = tk_stream();

	for (int i = 0; i < 5; i++)
		flip_end(make_pooled(SIZE + i, stream), SIZE + i, stream, i == 3 ? past : 0);
	make_pooled(SIZE, stream);
	CK(cuStreamSynchronize(stream));
	CK(own_context ? cuCtxDestroy(context) : cuDevicePrimaryCtxReset(tk_device));
}

int main(void)
{
	end_of(CASE);
	puts("done");
}
