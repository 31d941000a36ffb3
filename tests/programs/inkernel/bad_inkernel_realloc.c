// expect: heap-buffer-overflow size 90 offset +0
// expect: heap-buffer-overflow size 5000 offset +0
// suspect: d_flip
/* Behind the new end of buffers that reallocN has made smaller, or larger. */
#include "inkernel.h"

int main(void)
{
	long long count = 10, smaller = 90, larger = 5000;
	CUdeviceptr p = ik_alloc(count, 300);
	CUdeviceptr q = ik_alloc(count, 300);

	tk_launch_n(ik_kernel("d_realloc"), count, NULL, TK_ARGS(&p, &count, &smaller));
	tk_launch_n(ik_kernel("d_realloc"), count, NULL, TK_ARGS(&q, &count, &larger));
	ik_flip(p, 3, 90, 1);
	ik_flip(q, 7, 5000, 1);
	ik_free(p, count, 0);
	ik_free(q, count, 0);
	tk_sync();
}
