/* callocN's bytes are zero, also where others have been before. */
#include "inkernel.h"

int main(void)
{
	static const long long shape[][2] = {{1, 1}, {3, 5}, {16, 16}, {7, 100}, {1000, 7}, {2, 50000}, {0, 8}, {8, 0}};
	long long count = 16;
	CUdeviceptr p;
	CUdeviceptr bad = ik_counter();

	for (unsigned i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		long long n = shape[i][0], size = shape[i][1], bytes = n * size;

		p = ik_alloc(count, bytes);
		tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &bytes));
		ik_free(p, count, 0);
		tk_sync();
		tk_sleep_ms(10);
		tk_launch_n(ik_kernel("d_calloc"), count, NULL, TK_ARGS(&p, &count, &n, &size));
		tk_launch_n(ik_kernel("d_check_zero"), count, NULL, TK_ARGS(&p, &count, &bytes, &bad));
		ik_free(p, count, 0);
	}
	printf("bytes not zero: %d\n", ik_count(bad));
}
