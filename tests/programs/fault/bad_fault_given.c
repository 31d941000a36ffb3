// options: faults=exact
// needs: cuCtxCreate_v4
// expect: gpu-fault
// suspect: k_sum
// says: .*; those that the kernel's arguments point into, the latest first:$
// says: buffer of an argument: 3002 bytes
/* A load near no buffer, by a kernel that was given one of many: that one is named, and none of the later ones. */
#include <unistd.h>

#include "make_buffer.h"

static CUresult until_it_is_said(void)
{
	CUresult r = CUDA_SUCCESS;

	for (double end = tk_ms() + 5000; r == CUDA_SUCCESS && tk_ms() < end; usleep(1000))
		r = cuCtxSynchronize();
	return r;
}

int main(void)
{
	CUdeviceptr given = 0, nowhere = 0x10000000;
	long long count = 32;

	for (size_t i = 0; i < 12; i++) {
		CUdeviceptr p = make_buffer(3000 + i);

		given = i == 2 ? p : given;
	}
	tk_launch(tk_kernel("k_sum"), 1, 32, NULL, TK_ARGS(&given, &nowhere, &count));
	REQUIRE(until_it_is_said() != CUDA_SUCCESS);
	return 0;
}
