// expect: heap-buffer-overflow size 4000 offset +0 in make_buffer
// suspect: k_flip
// exit: 5
/* The program frees nothing and waits for nothing: the overflow is found while it exits. */
#include "make_buffer.h"

int main(void)
{
	CUstream stream = tk_stream();
	CUdeviceptr p = make_buffer(4000);

	tk_flip_on(stream, p, 4000, 8);
	while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
		;
	return 5;
}
