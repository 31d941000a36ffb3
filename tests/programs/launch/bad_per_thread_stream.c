// expect: heap-buffer-overflow size 900 offset +0 in make_buffer
// suspect: k_flip x1
/* Every call goes to its _ptsz or _ptds sibling. What the thread's own stream captures has not run, and is no suspect.
 */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p = make_buffer(900);
	CUgraph graph;

	CK(cuMemsetD8(p, 0, 900));
	tk_kernel("k_flip");
	CK(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
	tk_flip(p, 900, 3);
	CK(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
	tk_flip(p, 900, 3);
	CK(cuStreamSynchronize(NULL));
	CK(cuMemFree(p));
}
