// expect: heap-buffer-overflow size 1 offset +0
// expect: heap-buffer-overflow size 15 offset +0
// expect: heap-buffer-overflow size 16 offset +0
// expect: heap-buffer-overflow size 17 offset +0
// suspect: d_flip
/* The very next byte, behind buffers that end in all places of a word. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc_sizes(18, 0, 1);
	ik_flip(p, 1, 1, 1);
	ik_flip(p, 15, 15, 1);
	ik_flip(p, 16, 16, 1);
	ik_flip(p, 17, 17, 1);
	tk_sync();
	return 0;
}
