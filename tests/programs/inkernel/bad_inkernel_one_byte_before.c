// expect: heap-buffer-underflow size 1 offset -1
// expect: heap-buffer-underflow size 16 offset -8
// expect: heap-buffer-underflow size 17 offset -9
// expect: heap-buffer-underflow size 30 offset -16
// suspect: d_flip
/* One byte before a buffer, near and far: what lies there is the buffer's own. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc_sizes(31, 0, 1);
	ik_flip(p, 1, -1, 1);
	ik_flip(p, 16, -8, 1);
	ik_flip(p, 17, -9, 1);
	ik_flip(p, 30, -16, 1);
	tk_sync();
	return 0;
}
