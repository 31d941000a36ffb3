// expect: heap-buffer-overflow size 204800 offset +7
// expect: heap-buffer-underflow size 204800 offset -3
// suspect: d_flip
/* Buffers that are larger than any block: one is written behind, one before. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(5, 204800);
	ik_flip(p, 1, 204800 + 7, 3);
	ik_flip(p, 3, -3, 2);
	tk_sync();
	ik_free(p, 5, 0);
	tk_sync();
	return 0;
}
