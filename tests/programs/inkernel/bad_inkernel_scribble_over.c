// expect: heap-buffer-overflow size 100 offset +0
// suspect: d_flip
// options: scan_interval_us=900000
/* Findings that nobody has read yet are destroyed by a kernel; those that come later are reported all the same. */
#include "inkernel.h"

int main(void)
{
	unsigned long long word = 0x5a5a5a5a5a5a5a5a;
	CUdeviceptr p = ik_alloc(50, 100);
	CUdeviceptr q = ik_alloc(2, 48);

	ik_free(q, 1, 0);
	ik_free(q, 1, 0);
	tk_launch(ik_kernel("d_scribble"), 8, 128, NULL, TK_ARGS(&word));
	tk_sync();
	tk_sleep_ms(3000);
	ik_flip(p, 20, 100, 1);
	tk_sync();
	tk_sleep_ms(3000);
}
