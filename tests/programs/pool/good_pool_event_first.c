// case: good_pool_event_first 0
// case: bad_pool_event_first 1 => heap-buffer-overflow size 1001 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
// guarded: no
/* An event comes between an allocation and the first kernel: another stream may use the buffer from there on, beside
 * that kernel, so nothing of it may be written any more. What is wrong with such a buffer remains unseen. */
#include "pooled.h"

static void shared(CUstream home, CUstream guest, int past)
{
	CUdeviceptr p = make_pooled(SIZE, home);

	order(home, guest);
	flip_end(p, SIZE, guest, past);
	tk_spin(home, 1);
	order(guest, home);
	CK(cuMemFreeAsync(p, home));
}

int main(void)
{
	CUstream home = tk_stream(), guest = tk_stream();

	for (int i = 0; i < 10; i++) {
		shared(home, guest, CASE);
		use_once(SIZE + 1, home, i == 5 ? CASE : 0);
	}
	tk_sync();
	puts("done");
}
