// expect: post-mortem
// suspect: k_illegal
/* A kernel stores to an address that nobody owns: the error the program gets is explained. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr wild = 16;
	int value = 1;

	tk_start();
	make_buffer(4000);
	tk_launch(tk_kernel("k_illegal"), 1, 1, NULL, TK_ARGS(&wild, &value));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}
