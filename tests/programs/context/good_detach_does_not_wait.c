/*
 * A kernel waits for the host, which detaches from its context before it lets the kernel go on: another is attached,
 * the context stays, and so nothing may wait. Small buffers have come and gone before.
 */
#include "testkit.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

int main(void)
{
	long long zero = 0, one = 1;
	CUcontext same;
	CUstream stream;
	double start;
	CUcontext context = tk_start_in_new_context();
	CUfunction f = tk_kernel("k_wait_flip");
	volatile int *go_on = tk_flag();
	CUdeviceptr p = tk_alloc(4096);
	CUdeviceptr q = tk_alloc(4096);

	CK(cuMemFree(q));
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	tk_launch(f, 1, 1, stream, TK_ARGS(&p, &zero, &one, &go_on));
	start = tk_ms();
	CK(cuCtxAttach(&same, 0));
	CK(cuCtxDetach(same));
	printf("still running: %d\n", cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
	*go_on = 1;
	CK(cuStreamSynchronize(stream));
	REQUIRE(tk_ms() - start < 10000);
	CK(cuMemFree(p));
	CK(cuCtxDestroy(context));
}
