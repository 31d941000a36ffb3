/* reallocN keeps what fits, takes NULL, and makes a buffer of no bytes; of CUDA's heap, too. */
#include "inkernel.h"

int main(void)
{
	static const long long sizes[] = {10, 11, 500, 40, 70000, 3, 0, 100};
	long long count = 50, now = sizes[0], kept;
	CUdeviceptr bad = ik_counter();
	CUdeviceptr p = ik_array(count);

	CK(cuMemsetD8(p, 0, (size_t)count * sizeof(void *)));
	tk_launch_n(ik_kernel("d_realloc"), count, NULL, TK_ARGS(&p, &count, &now));
	for (unsigned i = 1; i < sizeof(sizes) / sizeof(*sizes); i++) {
		long long size = sizes[i];

		kept = size < now ? size : now;
		tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &now));
		tk_launch_n(ik_kernel("d_realloc"), count, NULL, TK_ARGS(&p, &count, &size));
		tk_launch_n(ik_kernel("d_check"), count, NULL, TK_ARGS(&p, &count, &kept, &bad));
		now = size;
	}
	ik_free(p, count, 0);
	printf("bytes gone: %d\n", ik_count(bad));
}
