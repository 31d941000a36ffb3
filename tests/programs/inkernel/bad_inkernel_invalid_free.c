// case: bad_inkernel_invalid_free 480, 32 => invalid-free
// case: bad_inkernel_free_inside_large 300000, 65536, 131072 - 16, 1 => 3 x invalid-free
/* A kernel frees addresses inside a buffer: of a large one on boundaries of the heap's own and off them. */
#include "inkernel.h"

static const long long size_and_offsets[] = {CASE};

int main(void)
{
	CUdeviceptr p = ik_alloc(1, size_and_offsets[0]);

	for (size_t i = 1; i < sizeof(size_and_offsets) / sizeof(*size_and_offsets); i++)
		ik_free(p, 1, size_and_offsets[i]);
	ik_free(p, 1, 0);
	tk_sync();
}
