// case: bad_found_at_free
// case: bad_found_at_free_managed => options: scan_interval_us=60000000:backend=managed
// expect: heap-buffer-overflow size 1000 offset +0 in make_buffer
// options: scan_interval_us=60000000
// suspect: k_flip
/* The byte lies on the device, where nobody looks before the buffer is freed; nothing but the free waits for the
 * kernel. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p = make_buffer(1000);

	tk_spin(NULL, 20);
	tk_flip(p, 1000, 1);
	CK(cuMemFree(p));
}
