// expect: double-free size 4000 in make_buffer
// expect: double-free size 3000 in make_pinned
// options: log_path=report.log
/* What destructors do that run behind a cudaDeviceReset: they free what has gone with the context. */
#include "make_buffer.h"
#include "report_log.h"

int main(void)
{
	CUdeviceptr p = make_buffer(4000);
	void *host = make_pinned(3000);

	CK(cuDevicePrimaryCtxReset(tk_device));
	CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	CK(cuCtxSetCurrent(tk_context));
	EXPECT(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
	REQUIRE(wait_for_reports("had gone with its context", 2, 5000));
}
