// case: bad_between_over 1000, 4, false => heap-buffer-overflow size 1000 offset +4 in make_buffer
// case: bad_between_under 1000, -4, false => heap-buffer-underflow size 700 offset -4 in make_other
// case: bad_between_under_freed 1000, -4, true => heap-buffer-underflow size 700 offset -4 in make_other
// case: bad_between_under_while_freed 1000, -4, true => heap-buffer-underflow size 700 offset -4 in make_other;
//    options: scan_interval_us=20000; sim-env: SIM_STALL=cuMemFree_v2:2:100
// suspect: k_flip
/*
 * Three buffers beside each other, and a kernel strays from the first one or from the one in the middle, which may be
 * freed at once: who was written past and who was written before is told apart.
 */
#include "make_buffer.h"

#include <stdbool.h>

EXPORTED CUdeviceptr make_other(size_t size)
{
	CUdeviceptr p;

	CK(cuMemAlloc(&p, size));
	return p;
}

static void between(size_t size, long long off, bool at_once)
{
	CUdeviceptr first = make_buffer(size), middle = make_other(700), last = make_buffer(300);

	if (off < 0)
		tk_flip(middle, off, 4);
	else
		tk_flip(first, (long long)size + off, 4);
	if (!at_once)
		tk_sync();
	CK(cuMemFree(middle));
	CK(cuMemFree(last));
	CK(cuMemFree(first));
}

int main(void)
{
	between(CASE);
}
