// options: device_heap=off
/* Kernels get their memory from CUDA, as if GMOD were not there. */
#include "inkernel.h"

int main(void)
{
	long long count = 200, size = 90;
	CUdeviceptr bad = ik_counter();
	CUdeviceptr p = ik_alloc(count, size);

	tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &size));
	tk_launch_n(ik_kernel("d_check"), count, NULL, TK_ARGS(&p, &count, &size, &bad));
	ik_free(p, count, 0);
	printf("bytes gone: %d, a heap: %s\n", ik_count(bad), ik_heap().base ? "yes" : "no");
}
