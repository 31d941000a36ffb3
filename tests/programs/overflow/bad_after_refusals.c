// expect: heap-buffer-overflow size 2097152 offset +0 in make_buffer
// suspect: k_flip
// options: redzone_mb=4
/* Room for redzones of two such buffers, and more refused allocations than that: these leave the room as it was. */
#include "make_buffer.h"

enum { SIZE = 2 << 20, REFUSALS = 8 };

int main(void)
{
	size_t available, total;
	CUdeviceptr p;

	tk_start();
	CK(cuMemGetInfo(&available, &total));
	for (int i = 0; i < REFUSALS; i++)
		EXPECT(cuMemAlloc(&p, total / SIZE * SIZE), CUDA_ERROR_OUT_OF_MEMORY);
	p = make_buffer(SIZE);
	tk_flip(p, SIZE, 1);
	tk_sync();
	CK(cuMemFree(p));
}
