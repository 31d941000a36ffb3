// expect: heap-buffer-overflow size 24 offset +0
// expect: heap-buffer-underflow size 24 offset -16
// suspect: d_flip
/* A run of bytes that goes behind one buffer into the canary before the next: both have been hit, and say so. */
#include "inkernel.h"

enum { COUNT = 2000, SIZE = 24, BLOCK = 48 };

/* One that has another next to it. */
static int with_neighbour(const uint64_t *at)
{
	for (int i = 0; i < COUNT; i++)
		for (int j = 0; j < COUNT; j++)
			if (at[j] == at[i] + BLOCK)
				return i;
	return 0;
}

int main(void)
{
	static uint64_t at[COUNT];
	CUdeviceptr p = ik_alloc(COUNT, SIZE);

	ik_addresses(p, COUNT, at);
	ik_flip(p, with_neighbour(at), SIZE, 12);
	tk_sync();
	ik_free(p, COUNT, 0);
	tk_sync();
}
