// expect: 10 x heap-buffer-underflow size 64 offset -1
// options: max_reports=10
// suspect: d_underrun_and_free
/* A free whose buffer's head a kernel has damaged costs little more than another, however many buffers there are. */
#include "inkernel.h"

#include "include/gmod.h"

#pragma weak gmod_device_stop
#pragma weak gmod_device_start

enum { MANY = 100000, SOME = 500, FREED = 100, TRIES = 4, ROUNDS = 20 };

/* Milliseconds for the last of some buffers, at best. */
static double frees(const char *kernel)
{
	double best = 1e9, began;
	long long count = FREED, off = 0;
	CUdeviceptr p;

	for (int i = 0; i < TRIES; i++) {
		p = ik_alloc(SOME, 64) + (SOME - FREED) * sizeof(void *);
		tk_sync();
		began = tk_ms();
		tk_launch_n(ik_kernel(kernel), count, NULL, TK_ARGS(&p, &count, &off));
		tk_sync();
		best = tk_ms() - began < best ? tk_ms() - began : best;
	}
	return best;
}

int main(void)
{
	double intact, damaged;

	ik_alloc(MANY, 64);
	tk_sync(); /* there is a heap, and its guard is not to be in the way */
	REQUIRE(!gmod_device_stop || gmod_device_stop() == GMOD_OK);
	/* Beside other work a round may be held up; the next one need not be. */
	for (int i = 0; i == 0 || (damaged > 10 * intact + 0.2 && i < ROUNDS); i++) {
		intact = frees("d_free");
		damaged = frees("d_underrun_and_free");
	}
	if (damaged > 10 * intact + 0.2)
		fprintf(stderr, "%.3f ms, but %.3f with heads that are damaged\n", intact, damaged);
	REQUIRE(damaged <= 10 * intact + 0.2);
	REQUIRE(!gmod_device_start || gmod_device_start() == GMOD_OK);
}
