// expect: heap-buffer-overflow size 900 offset +0 in make_buffer
// suspect: k_flip
/* Every call goes to its _ptsz or _ptds sibling. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p = make_buffer(900);

	CK(cuMemsetD8(p, 0, 900));
	tk_flip(p, 900, 3);
	CK(cuStreamSynchronize(NULL));
	CK(cuMemFree(p));
}
