// case: good_pool_freed_behind_event BEHIND_EVENT, 0
// case: good_pool_freed_behind_wait BEHIND_WAIT, 0
// case: good_pool_stream_destroyed STREAM_DESTROYED, 0
// case: bad_pool_freed_behind_event BEHIND_EVENT, 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// case: bad_pool_freed_behind_wait BEHIND_WAIT, 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// case: bad_pool_stream_destroyed STREAM_DESTROYED, 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* A buffer of one stream is freed in another one, which comes behind it: by an event, or as the program has waited. The
 * first stream may be gone by then. */
#include "pooled.h"

enum how { BEHIND_EVENT, BEHIND_WAIT, STREAM_DESTROYED };

static void freed_elsewhere(enum how how, int past)
{
	CUstream home = tk_stream(), other = tk_stream();
	CUdeviceptr p = make_pooled(SIZE, home);

	flip_end(p, SIZE, home, past);
	if (how == BEHIND_EVENT)
		order(home, other);
	else
		CK(cuStreamSynchronize(home));
	if (how == STREAM_DESTROYED)
		CK(cuStreamDestroy(home));
	CK(cuMemFreeAsync(p, other));
	CK(cuStreamSynchronize(other));
}

int main(void)
{
	freed_elsewhere(CASE);
	puts("done");
}
