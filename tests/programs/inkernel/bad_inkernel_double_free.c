// case: bad_inkernel_double_free 1, 0
// case: bad_inkernel_double_free_last 1, 100
// case: bad_inkernel_double_free_released 32, 100
// expect: double-free size 48
/*
 * A kernel frees a buffer twice; or after the memory has been given back to the heap, where the first free was the last
 * one of a chunk, so that nothing is left of what kind of chunk it was, and where a neighbour keeps the place.
 */
#include "inkernel.h"

static void free_twice(long long count, int ms)
{
	CUdeviceptr p = ik_alloc(count, 48);

	ik_free(p, 1, 0);
	if (ms)
		tk_sync();
	tk_sleep_ms(ms);
	ik_free(p, 1, 0);
	tk_sync();
}

int main(void)
{
	ik_start();
	free_twice(CASE);
}
