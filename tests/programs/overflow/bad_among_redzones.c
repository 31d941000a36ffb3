// case: bad_while_redzones_are_long 200, 1000 + 700 => heap-buffer-overflow size 1000 offset +700 in make_buffer
// case: bad_while_redzones_are_short 1200, 1000 => heap-buffer-overflow size 1000 offset +0 in make_buffer
// suspect: k_flip
// options: redzone_mb=1
// under unified: options: redzone_mb=2
/*
 * Behind so many small buffers one is overrun. Redzones of 1 KiB take half of redzone_mb at most: what strays far lands
 * in one. Shorter ones share the rest, and so the last of more buffers than would have long ones has a redzone, too.
 */
#include "make_buffer.h"

enum { MOST = 1200 };

static void overrun_last(int count, long long off)
{
	static CUdeviceptr p[MOST];

	for (int i = 0; i < count; i++)
		p[i] = make_buffer(1000);
	tk_flip(p[count - 1], off, 1);
	tk_sync();
	for (int i = 0; i < count; i++)
		CK(cuMemFree(p[i]));
}

int main(void)
{
	tk_start();
	overrun_last(CASE);
}
