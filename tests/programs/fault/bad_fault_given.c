// options: faults=exact
// needs: cuCtxCreate_v4
// case: bad_fault_given_load "k_sum" => gpu-fault; suspect: k_sum
// case: bad_fault_given_store "k_stencil" => gpu-fault; suspect: k_stencil
// says: .*; those that the kernel's arguments point into, the latest first:$
// says: buffer of an argument: 3002 bytes
/*
 * An access near no buffer, by a kernel that was given one of many: that one is named, and none of the later ones. A
 * store's grid has left, and the dump has no parameters of it.
 */
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
	CUdeviceptr given = 0, inside, nowhere = 0x10000000;
	const char *kernel = CASE;
	long long count = 1;

	for (size_t i = 0; i < 12; i++) {
		CUdeviceptr p = make_buffer(3000 + i);

		given = i == 2 ? p : given;
	}
	inside = given + 400;
	if (!strcmp(kernel, "k_sum"))
		tk_launch(tk_kernel(kernel), 1, 32, NULL, TK_ARGS(&inside, &nowhere, &count));
	else
		tk_launch(tk_kernel(kernel), 1, 32, NULL, TK_ARGS(&nowhere, &inside, &count, &count));
	REQUIRE(until_it_is_said() != CUDA_SUCCESS);
	return 0;
}
