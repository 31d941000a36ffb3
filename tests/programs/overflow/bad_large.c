// case: bad_size_odd_3_mib 3145733, 3145733, 1, 0 => heap-buffer-overflow size 3145733 offset +0 in make_buffer
// case: bad_large_across_the_border 3145733, 3145733, 2000, 0 =>
//    heap-buffer-overflow size 3145733 offset +0 in make_buffer
// case: bad_large_underflow_slack 3000000, -300, 30, 300 =>
//    heap-buffer-underflow size 3000000 offset -300 in make_buffer; under device: 0 x heap-buffer-underflow
// case: bad_large_underflow_slack_unified 3000000, -300, 30, 300 =>
//    heap-buffer-underflow size 3000000 offset -300 in make_buffer; options: backend=unified
// suspect: k_flip
/*
 * Large buffers, natively aligned to 2 MiB, of odd sizes. Behind them is first device memory, then the page of the
 * host: 2000 bytes there are one damage. Before one that does not fill its granules there is device memory, which only
 * a copy can look at; what copies look at before the buffer is freed is nearer, and says nothing of it.
 */
#include "make_buffer.h"

static void overrun(size_t size, long long off, long long count, int ms)
{
	CUdeviceptr p = make_buffer(size);

	tk_sync(); /* the canaries beside it, too, have arrived */
	tk_flip(p, off, count);
	tk_sync();
	tk_sleep_ms(ms);
	CK(cuMemFree(p));
}

int main(void)
{
	tk_start();
	overrun(CASE);
}
