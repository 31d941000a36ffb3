// expect: heap-buffer-overflow size 60 offset +0
// suspect: d_flip
/* The same while a stream captures, which goes on. */
#include "inkernel.h"

int main(void)
{
	long long index = 9, off = 60, one = 1;
	CUstream stream, captured;
	CUgraph graph;
	CUdeviceptr p;

	ik_start();
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CK(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING));
	p = ik_alloc(20, 60);
	tk_sync();
	CK(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
	tk_spin(captured, 1);
	tk_spin(stream, 100);
	tk_launch_n(ik_kernel("d_flip"), 1, stream, TK_ARGS(&p, &index, &off, &one));
	CK(cuModuleUnload(ik_module));
	CK(cuStreamEndCapture(captured, &graph));
	CK(cuGraphDestroy(graph));
	CK(cuStreamDestroy(captured));
	CK(cuStreamDestroy(stream));
}
