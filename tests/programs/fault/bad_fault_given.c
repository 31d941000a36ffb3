// options: faults=exact:log_path=report.log
// needs: cuCtxCreate_v4
// case: bad_fault_given_load "k_sum", 0 => gpu-fault; suspect: k_sum;
//    says: .* those that the kernel's arguments point into, the latest first:$
// case: bad_fault_given_store "k_stencil", 0 => gpu-fault; suspect: k_stencil;
//    says: .* those that its latest launches were given, the latest first:$
// case: bad_fault_given_address_again "k_stencil", 1 => gpu-fault; suspect: k_stencil;
//    says: .* those that its latest launches were given, the latest first:$
// case: bad_fault_given_freed "k_stencil", 2 => gpu-fault; suspect: k_stencil;
//    says: buffer of a launch: 9000 bytes .*, freed since, by make_buffer; skip-on: gpu
// says: buffer of an? (argument|launch): 3002 bytes
/*
 * An access near no buffer, by a kernel that was given one of many: that one is named, and none of the later ones, also
 * where a freed one that it was given before has left its address to another. A store's grid has left, and the dump has
 * no parameters of it: the program may have freed what it was given by then.
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

/* No call of the program's knows of the fault yet. */
static void free_at_once(CUdeviceptr nowhere)
{
	CUdeviceptr freed = make_buffer(AGAIN);

	make_buffer(AGAIN + 1);
	stencil(nowhere, freed);
	tk_sync();
	CK(cuMemFree(freed));
	REQUIRE(until_it_is_said() != CUDA_SUCCESS);
	REQUIRE(wait_for_report("next step", 2000));
	REQUIRE(!wait_for_report(" 9001 bytes [", 1));
}

static void run(const char *kernel, int how)
{
	CUdeviceptr given = 0, inside, nowhere = 0x10000000, freed;
	long long one = 1;

	for (size_t i = 0; i < 12; i++) {
		CUdeviceptr p = make_buffer(3000 + i);

		given = i == 2 ? p : given;
	}
	inside = given + INSIDE;
	if (how == 2) {
		free_at_once(nowhere);
		return;
	}
	if (how == 1) {
		freed = make_buffer(AGAIN);
		stencil(freed, inside);
		tk_sync();
		CK(cuMemFree(freed));
		make_buffer(AGAIN + 1);
	}
	if (!strcmp(kernel, "k_sum"))
		tk_launch(tk_kernel(kernel), 1, 32, NULL, TK_ARGS(&inside, &nowhere, &one));
	else
		stencil(nowhere, inside);
	REQUIRE(until_it_is_said() != CUDA_SUCCESS);
	REQUIRE(wait_for_report("next step", 2000));
	REQUIRE(!wait_for_report(" 9001 bytes [", 1));
}

int main(void)
{
	run(CASE);
	return 0;
}
