// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// suspect: k_flip
// options: log_path=report.log
/* A kernel that the driver has refused to launch is no suspect. */
#include "make_buffer.h"
#include "report_log.h"

int main(void)
{
	CUdeviceptr p = make_buffer(3000);
	long long inside = 0, count = 4;
	int value = 1;

	EXPECT(cuLaunchKernel(tk_kernel("k_fill"), 1, 1, 1, 4096, 1, 1, 0, NULL, TK_ARGS(&p, &inside, &count, &value),
			      NULL),
	       CUDA_ERROR_INVALID_VALUE);
	tk_flip(p, 3000, 4);
	tk_sync();
	REQUIRE(wait_for_report("k_flip", 5000));
	REQUIRE(!wait_for_report("k_fill", 1));
	CK(cuMemFree(p));
}
