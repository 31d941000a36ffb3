// options: faults=exact:log_path=report.log
// needs: cuCtxCreate_v4
// case: bad_fault_given_load "k_sum", 0 => gpu-fault; suspect: k_sum;
//    says: .* those that the kernel's arguments point into, the latest first:$
// case: bad_fault_given_store "k_stencil", 0 => gpu-fault; suspect: k_stencil;
//    says: .* those that its latest launches were given, the latest first:$
// case: bad_fault_given_address_again "k_stencil", 1 => gpu-fault; suspect: k_stencil;
//    says: .* those that its latest launches were given, the latest first:$
// says: buffer of an? (argument|launch): 3002 bytes
/*
 * An access near no buffer, by a kernel that was given one of many: that one is named, and none of the later ones, also
 * where a freed one that it was given before has left its address to another. A store's grid has left, and the dump has
 * no parameters of it.
 */
#include <unistd.h>

#include "make_buffer.h"
#include "report_log.h"

enum { AGAIN = 9000, INSIDE = 400 };

static CUresult until_it_is_said(void)
{
	CUresult r = CUDA_SUCCESS;

	for (double end = tk_ms() + 5000; r == CUDA_SUCCESS && tk_ms() < end; usleep(1000))
		r = cuCtxSynchronize();
	return r;
}

static void stencil(CUdeviceptr out, CUdeviceptr in)
{
	long long one = 1;

	tk_launch(tk_kernel("k_stencil"), 1, 32, NULL, TK_ARGS(&out, &in, &one, &one));
}

static void run(const char *kernel, int again)
{
	CUdeviceptr given = 0, inside, nowhere = 0x10000000, freed;
	long long one = 1;

	for (size_t i = 0; i < 12; i++) {
		CUdeviceptr p = make_buffer(3000 + i);

		given = i == 2 ? p : given;
	}
	inside = given + INSIDE;
	if (again) {
		freed = make_buffer(AGAIN);
		stencil(freed, inside);
		tk_sync();
		CK(cuMemFree(freed));
		make_buffer(AGAIN);
	}
	if (!strcmp(kernel, "k_sum"))
		tk_launch(tk_kernel(kernel), 1, 32, NULL, TK_ARGS(&inside, &nowhere, &one));
	else
		stencil(nowhere, inside);
	REQUIRE(until_it_is_said() != CUDA_SUCCESS);
	REQUIRE(wait_for_report("next step", 2000));
	REQUIRE(!wait_for_report(" 9000 bytes [", 1));
}

int main(void)
{
	run(CASE);
	return 0;
}
