// options: device_heap=native:device_heap_mb=16
/*
 * All kinds of sizes in CUDA's own heap, between canaries: used, given another size, freed. Of GMOD's memory byte
 * arrays may have 4 MiB; buffers lie elsewhere.
 */
#include "inkernel.h"

int main(void)
{
	long long count = 200, rounds = 20, seed = 5, size = 90, larger = 400;
	CUdeviceptr bad = ik_counter();
	uint64_t large[5];
	CUdeviceptr p = ik_alloc(5, 1 << 20);

	ik_addresses(p, 5, large);
	REQUIRE(large[0] && large[1] && large[2] && large[3] && large[4]);
	ik_free(p, 5, 0);
	p = ik_alloc(count, size);
	tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &size));
	tk_launch_n(ik_kernel("d_realloc"), count, NULL, TK_ARGS(&p, &count, &larger));
	tk_launch_n(ik_kernel("d_check"), count, NULL, TK_ARGS(&p, &count, &size, &bad));
	ik_free(p, count, 0);
	tk_launch(ik_kernel("d_churn"), 16, 64, NULL, TK_ARGS(&rounds, &seed, &bad));
	printf("gone: %d\n", ik_count(bad));
}
