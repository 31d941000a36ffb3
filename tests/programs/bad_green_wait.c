// expect: heap-buffer-overflow size 4096 offset +0 in make_buffer
// suspect: k_flip
/*
 * Launched into a stream of the primary context while a green one is current, which is then waited for: the kernel
 * still runs, and remains a suspect.
 */
#include "green.h"
#include "make_buffer.h"

#if CUDA_VERSION < 12050
int main(void)
{
	tk_skip("no green contexts, or no cuStreamGetCtx_v2, in this toolkit");
}
#else
int main(void)
{
	long long off = 4096, count = 4;
	CUgreenCtx green;
	CUdeviceptr p;
	CUstream s;
	CUcontext c;

	tk_start();
	CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	p = make_buffer(4096);
	green = make_green(&c);
	tk_module = tk_load_kernels();
	tk_spin(s, 300);
	tk_launch_n(tk_kernel("k_flip"), 4, s, TK_ARGS(&p, &off, &count));
	CK(cuCtxSynchronize());
	CK(cuCtxSetCurrent(tk_context));
	tk_sleep_ms(600);
	CK(cuMemFree(p));
	CK(cuGreenCtxDestroy(green));
	return 0;
}
#endif
