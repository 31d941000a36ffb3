/* Lanes of a warp that go ways of their own: some allocate, of sizes that differ, some free, some have left. */
#include "inkernel.h"

int main(void)
{
	unsigned blocks = 8, threads = 96;
	long long rounds = 40;
	CUdeviceptr bad = ik_counter();
	CUdeviceptr held = tk_alloc(blocks * threads * sizeof(void *));

	tk_launch(ik_kernel("d_divergent"), blocks, threads, NULL, TK_ARGS(&held, &rounds, &bad));
	printf("marks gone: %d\n", ik_count(bad));
}
