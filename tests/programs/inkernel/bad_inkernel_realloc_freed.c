// expect: 10 x double-free size 300
// options: device_free_delay=1000
/* reallocN of what has been freed: the caller gets a buffer, and is told. */
#include "inkernel.h"

int main(void)
{
	long long count = 10, larger = 600;
	CUdeviceptr p = ik_alloc(count, 300);

	ik_free(p, count, 0);
	tk_launch_n(ik_kernel("d_realloc"), count, NULL, TK_ARGS(&p, &count, &larger));
	ik_free(p, count, 0);
	tk_sync();
}
