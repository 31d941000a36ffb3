// expect: heap-buffer-overflow size 5242880 offset +0 in make_buffer
// suspect: k_flip
// options: log_path=report.log
/*
 * The primary context ends while it is current, and a call that is made then fails. It comes to life again with the
 * same handle, and what is allocated then is guarded as it was before.
 */
#include "make_buffer.h"
#include "report_log.h"

enum { LARGE = 5 << 20 };

int main(void)
{
	CUdeviceptr p = make_buffer(LARGE);

	CK(cuMemFree(p));
	CK(cuDevicePrimaryCtxReset(tk_device));
	REQUIRE(cuMemAlloc(&p, 1000) != CUDA_SUCCESS);
	CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	CK(cuCtxSetCurrent(tk_context));
	tk_module = tk_load_kernels();
	p = make_buffer(LARGE);
	tk_flip(p, LARGE, 1);
	tk_sync();
	CK(cuMemFree(p));
	REQUIRE(wait_for_report("SUMMARY", 1000));
}
