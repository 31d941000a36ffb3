// expect: heap-buffer-overflow size 60 offset +0
// suspect: d_flip
/* The only module with kernels that allocate is not unloaded, because a stream captures: it is guarded as before. */
#include "inkernel.h"

int main(void)
{
	CUstream captured;
	CUgraph graph = NULL;
	CUdeviceptr p;

	ik_start();
	CK(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING));
	p = ik_alloc(20, 60);
	tk_sync();
	CK(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
	REQUIRE(cuModuleUnload(ik_module) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	REQUIRE(cuStreamEndCapture(captured, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	ik_flip(p, 9, 60, 1);
	tk_sync();
	CK(cuStreamDestroy(captured));
}
