// expect: heap-buffer-overflow size 900 offset +0
// suspect: d_flip
/* Every call goes to its _ptsz or _ptds sibling. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p = ik_alloc(300, 900);

	ik_flip(p, 299, 900, 3);
	CK(cuStreamSynchronize(NULL));
}
