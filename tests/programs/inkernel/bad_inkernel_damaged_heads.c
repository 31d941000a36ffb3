// expect: 80 x heap-buffer-underflow size 64 offset -1
// options: max_reports=100
// suspect: d_underrun_and_free
/* What a free costs whose head a kernel has damaged does not depend on how many other buffers there are. */
#include "inkernel.h"

#include "include/gmod.h"

#pragma weak gmod_device_stop
#pragma weak gmod_device_start

enum { FEW = 10, MANY = 100000, TRIES = 4 };

/* Milliseconds for some of them, at best; the guard is not to be in the way. */
static double frees(void)
{
	double best = 1e9, began;
	long long count = 10;
	CUdeviceptr p;

	for (int i = 0; i < TRIES; i++) {
		p = ik_alloc(count, 64);
		tk_sync();
		began = tk_ms();
		tk_launch_n(ik_kernel("d_underrun_and_free"), count, NULL, TK_ARGS(&p, &count));
		tk_sync();
		best = tk_ms() - began < best ? tk_ms() - began : best;
	}
	return best;
}

int main(void)
{
	double few, many;

	ik_alloc(FEW, 64);
	tk_sync();
	REQUIRE(!gmod_device_stop || gmod_device_stop() == GMOD_OK);
	few = frees();
	ik_alloc(MANY, 64);
	tk_sync();
	many = frees();
	fprintf(stderr, "%.3f ms beside %d buffers, %.3f beside %d\n", few, FEW, many, MANY);
	REQUIRE(many < 4 * few + 0.5);
	REQUIRE(!gmod_device_start || gmod_device_start() == GMOD_OK);
}
