// options: device_heap=native
/* All kinds of sizes in CUDA's own heap, between canaries: used, given another size, freed. */
#include "inkernel.h"

int main(void)
{
	long long count = 200, rounds = 20, seed = 5, size = 90, larger = 400;
	CUdeviceptr bad = ik_counter();
	CUdeviceptr p = ik_alloc(count, size);

	tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &size));
	tk_launch_n(ik_kernel("d_realloc"), count, NULL, TK_ARGS(&p, &count, &larger));
	tk_launch_n(ik_kernel("d_check"), count, NULL, TK_ARGS(&p, &count, &size, &bad));
	ik_free(p, count, 0);
	tk_launch(ik_kernel("d_churn"), 16, 64, NULL, TK_ARGS(&rounds, &seed, &bad));
	printf("gone: %d\n", ik_count(bad));
}
