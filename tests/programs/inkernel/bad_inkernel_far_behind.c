// expect: heap-buffer-overflow size 2049 offset +200
// suspect: d_flip
/* A kernel that writes some way behind its buffer, where the block has room that nobody uses. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(64, 2049);
	ik_flip(p, 33, 2049 + 200, 4);
	tk_sync();
	ik_free(p, 64, 0);
	tk_sync();
	return 0;
}
