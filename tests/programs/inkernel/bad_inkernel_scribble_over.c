// expect: heap-buffer-overflow size 100 offset +0
// suspect: d_flip
/* Findings that nobody has read yet are destroyed by a kernel; those that come later are reported all the same. */
#include "inkernel.h"

int main(void)
{
	unsigned long long word = 0x5a5a5a5a5a5a5a5a;
	CUdeviceptr p = ik_alloc(50, 100);
	CUdeviceptr q = ik_alloc(2, 48);

	tk_launch(ik_kernel("d_free_twice_and_scribble"), 1, 1, NULL, TK_ARGS(&q, &word));
	tk_sync();
	tk_sleep_ms(300);
	ik_flip(p, 20, 100, 1);
	tk_sync();
	tk_sleep_ms(100);
}
