// expect: heap-buffer-underflow size 64 offset -1
// suspect: d_flip
/* The byte before a kernel's buffer, which is freed afterwards. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(40, 64);
	ik_flip(p, 7, -1, 1);
	ik_free(p, 40, 0);
	tk_sync();
	return 0;
}
