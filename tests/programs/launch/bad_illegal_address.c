// case: bad_illegal_address make_buffer(4000)
// case: bad_illegal_address_without_buffers (void)0
// case: bad_illegal_address_beside_many make_many()
// expect: post-mortem
// suspect: k_illegal
/* A kernel stores to an address that nobody owns: the error the program gets is explained. */
#include "make_buffer.h"

static TK_UNUSED void make_many(void)
{
	for (size_t i = 1; i <= 12; i++)
		make_buffer(1000 + i);
}

int main(void)
{
	CUdeviceptr wild = 16;
	int value = 1;

	tk_start();
	CASE;
	tk_launch(tk_kernel("k_illegal"), 1, 1, NULL, TK_ARGS(&wild, &value));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}
