// expect: heap-buffer-overflow size 60 offset +0
// suspect: d_flip
// exit: 5
/* The program waits for nothing that GMOD could know of: the overflow is found while it exits. */
#include "inkernel.h"

int main(void)
{
	CUstream stream;
	long long index = 9, off = 60, one = 1;
	CUdeviceptr p = ik_alloc(20, 60);

	tk_sync();
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	tk_launch_n(ik_kernel("d_flip"), 1, stream, TK_ARGS(&p, &index, &off, &one));
	while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
		;
	return 5;
}
