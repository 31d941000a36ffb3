// expect: heap-buffer-overflow size 1000 offset +0
// expect: heap-buffer-underflow size 1000 offset -1
// options: device_heap=native
// suspect: d_flip
/* The same between canaries in CUDA's own heap. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(50, 1000);
	ik_flip(p, 7, 1000, 1);
	ik_flip(p, 8, -1, 1);
	tk_sync();
	ik_free(p, 50, 0);
	tk_sync();
	return 0;
}
