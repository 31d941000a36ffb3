// expect: heap-buffer-overflow size 100 offset +0
// suspect: d_flip
/* One byte past the end of one of 300 buffers that a kernel allocated. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(300, 100);
	tk_sync();
	ik_flip(p, 123, 100, 1);
	tk_sync();
	return 0;
}
