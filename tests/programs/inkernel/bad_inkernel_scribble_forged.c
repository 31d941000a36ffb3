// expect: heap-buffer-overflow size 100 offset +0
// suspect: d_flip
/* A kernel writes all over the ring of findings, with what is the number of the finding that comes next. */
#include "inkernel.h"

int main(void)
{
	unsigned long long word = 1;
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(50, 100);
	tk_launch(ik_kernel("d_scribble"), 8, 128, NULL, TK_ARGS(&word));
	tk_sync();
	tk_sleep_ms(20);
	ik_flip(p, 20, 100, 1);
	tk_sync();
	return 0;
}
