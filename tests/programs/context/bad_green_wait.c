// expect: 2 x heap-buffer-overflow size 4096 offset +0 in make_buffer
// suspect: k_flip
// options: log_path=report.log
/*
 * Launched into a stream of the primary context while a green one is current, which is then waited for: the kernel
 * still runs, and remains a suspect. What is guarded is the primary context's, also after a reset that a green context
 * forbids.
 */
#include "green.h"
#include "make_buffer.h"
#include "report_log.h"

static void overrun(CUdeviceptr p, CUstream s)
{
	long long off = 4096, count = 4;

	tk_launch_n(tk_kernel("k_flip"), 4, s, TK_ARGS(&p, &off, &count));
}

static CUresult wait_for_current(CUcontext c TK_UNUSED)
{
	return cuCtxSynchronize();
}

/* The wait is over before the kernel is. */
static void not_waited_for(CUdeviceptr p, CUstream s, CUcontext c, CUresult (*wait)(CUcontext))
{
	tk_spin(s, 300);
	overrun(p, s);
	CK(wait(c));
	tk_sleep_ms(100);
	CK(cuStreamSynchronize(s));
}

int main(void)
{
	CUcontext c;
	CUdeviceptr first = make_buffer(4096);
	CUdeviceptr second = make_buffer(4096);
	CUstream stream = tk_stream();
	CUgreenCtx green = make_green(&c);

	EXPECT(cuDevicePrimaryCtxReset(tk_device), CUDA_ERROR_NOT_PERMITTED);
	tk_module = tk_load_kernels();
	not_waited_for(first, stream, c, wait_for_current);
	REQUIRE(wait_for_report("1. k_flip x1", 1000));
	not_waited_for(second, stream, c, cuCtxSynchronize_v2);
	CK(cuCtxSetCurrent(tk_context));
	CK(cuGreenCtxDestroy(green));
}
