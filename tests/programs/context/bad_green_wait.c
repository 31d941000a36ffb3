// expect: 2 x heap-buffer-overflow size 4096 offset +0 in make_buffer
// suspect: k_flip
// options: log_path=report.log
/*
 * Launched into a stream of the primary context while a green one is current, which is then waited for: the kernel
 * still runs, and remains a suspect. What went to a stream of the green context itself is done, and is none.
 */
#include "green.h"
#include "make_buffer.h"
#include "report_log.h"

#if CUDA_VERSION < 13000
int main(void)
{
	tk_skip("no cuCtxSynchronize_v2 in this toolkit");
}
#else
static void overrun(CUstream s)
{
	long long off = 4096, count = 4;
	CUdeviceptr p = make_buffer(4096);

	tk_launch_n(tk_kernel("k_flip"), 4, s, TK_ARGS(&p, &off, &count));
}

static CUresult wait_for_current(CUcontext c TK_UNUSED)
{
	return cuCtxSynchronize();
}

/* The wait is over before the kernel is. */
static void not_waited_for(CUstream s, CUcontext c, CUresult (*wait)(CUcontext))
{
	tk_spin(s, 300);
	overrun(s);
	CK(wait(c));
	tk_sleep_ms(100);
	CK(cuStreamSynchronize(s));
}

int main(void)
{
	CUstream ours, theirs, here;
	CUgreenCtx green;
	CUcontext c;

	tk_start();
	CK(cuStreamCreate(&theirs, CU_STREAM_NON_BLOCKING));
	green = make_green(&c);
	tk_module = tk_load_kernels();
	CK(cuGreenCtxStreamCreate(&ours, green, CU_STREAM_NON_BLOCKING, 0));
	CK(cuStreamCreate(&here, CU_STREAM_NON_BLOCKING));
	tk_spin(ours, 1);
	tk_spin(here, 1);
	CK(cuCtxSynchronize());
	tk_sleep_ms(20);
	not_waited_for(theirs, c, wait_for_current);
	REQUIRE(wait_for_report("suspects: k_flip x1", 1000));
	/* A provisional report may come before the kernel itself is done, and says so. */
	REQUIRE(!wait_for_report("k_spin_ms x2", 1) && !wait_for_report("k_spin_ms x3", 1));
	not_waited_for(theirs, c, cuCtxSynchronize_v2);
	CK(cuStreamDestroy(here));
	CK(cuCtxSetCurrent(tk_context));
	CK(cuGreenCtxDestroy(green));
	return 0;
}
#endif
