// expect: heap-buffer-overflow size 24 offset +7
// suspect: d_flip_and_free
/* The kernel frees the buffer right after it has written behind it. */
#include "inkernel.h"

int main(void)
{
	long long index = 60, off = 31;
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(100, 24);
	tk_launch(ik_kernel("d_flip_and_free"), 1, 32, NULL, TK_ARGS(&p, &index, &off));
	tk_sync();
	return 0;
}
