/* freeN of NULL, thousands of times, beside buffers that are in use. */
#include "inkernel.h"

int main(void)
{
	long long count = 5000, size = 64;
	CUdeviceptr p;
	CUdeviceptr bad = ik_counter();
	CUdeviceptr nothing = ik_array(count);

	CK(cuMemsetD8(nothing, 0, (size_t)count * sizeof(void *)));
	p = ik_alloc(count, size);
	tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &size));
	ik_free(nothing, count, 0);
	ik_free(nothing, count, 0);
	tk_launch_n(ik_kernel("d_check"), count, NULL, TK_ARGS(&p, &count, &size, &bad));
	ik_free(p, count, 0);
	printf("bytes gone: %d\n", ik_count(bad));
}
