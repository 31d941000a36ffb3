/* Lanes of a warp that go ways of their own: some allocate, of sizes that differ, some free, some have left. */
#include "inkernel.h"

int main(void)
{
	unsigned blocks = 8, threads = 96;
	CUdeviceptr held;
	long long rounds = 40;
	CUdeviceptr bad = ik_counter();

	CK(cuMemAlloc(&held, blocks * threads * sizeof(void *)));
	tk_launch(ik_kernel("d_divergent"), blocks, threads, NULL, TK_ARGS(&held, &rounds, &bad));
	printf("marks gone: %d\n", ik_count(bad));
}
