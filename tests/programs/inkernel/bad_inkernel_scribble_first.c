// case: bad_inkernel_scribble_first 0x5a5a5a5a5a5a5a5a
// case: bad_inkernel_scribble_forged 1
// expect: heap-buffer-overflow size 100 offset +0
// suspect: d_flip
/*
 * A kernel writes all over the ring of findings before there are any, any word or the number of the finding that comes
 * next; that one is reported.
 */
#include "inkernel.h"

int main(void)
{
	unsigned long long word = CASE;
	CUdeviceptr p = ik_alloc(50, 100);

	tk_launch(ik_kernel("d_scribble"), 8, 128, NULL, TK_ARGS(&word));
	tk_sync();
	tk_sleep_ms(20);
	ik_flip(p, 20, 100, 1);
	tk_sync();
}
