// case: bad_launches_behind 0
// case: bad_launches_behind_and_waits 1000
// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// suspect: k_flip
// options: scan_interval_us=60000000
/*
 * The kernel that did it is followed by 20 000 launches of others on several streams, before anybody looks; the program
 * may wait for all of them now and then, which proves that it is complete. It is named.
 */
#include "make_buffer.h"

enum { LAUNCHES = 20000, STREAMS = 12, WAITS_EACH = CASE + 0 };

int main(void)
{
	CUdeviceptr p = make_buffer(3000), other = tk_alloc(4096);
	CUfunction fill = tk_kernel("k_fill"), stride = tk_kernel("k_stride"), store = tk_kernel("k_store16");
	long long at = 0, count = 16, step = 1;
	CUstream stream[STREAMS];
	int value = 1;

	for (int i = 0; i < STREAMS; i++)
		stream[i] = tk_stream();
	tk_flip(p, 3000, 4);
	for (int i = 0; i < LAUNCHES; i++) {
		CUstream s = stream[i % STREAMS];

		if (i % 3 == 0)
			tk_launch(fill, 1, 16, s, TK_ARGS(&other, &at, &count, &value));
		else if (i % 3 == 1)
			tk_launch(stride, 1, 16, s, TK_ARGS(&other, &at, &step, &count));
		else
			tk_launch(store, 1, 1, s, TK_ARGS(&other, &at));
		if (WAITS_EACH && i % (WAITS_EACH + !WAITS_EACH) == 0)
			tk_sync();
	}
	CK(cuMemFree(p));
	CK(cuMemFree(other));
}
