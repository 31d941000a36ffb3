// expect: heap-buffer-overflow size 119 offset +0
// suspect: d_flip
/* The byte behind callocN's last element. */
#include "inkernel.h"

int main(void)
{
	long long count = 40, n = 17, size = 7;
	CUdeviceptr p = ik_array(count);

	tk_launch_n(ik_kernel("d_calloc"), count, NULL, TK_ARGS(&p, &count, &n, &size));
	ik_flip(p, 39, n * size, 1);
	tk_sync();
}
