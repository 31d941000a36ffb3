// expect: 2 x heap-buffer-overflow size 12345 offset +0 in make_buffer
// options: log_path=report.log:backend=device:scan_interval_us=60000000:max_overhead=100:stack_depth=2
/*
 * The next buffer of that place is damaged by a kernel that is no suspect, and nobody has seen that when the suspects
 * are launched again: a look at them must not write the canary anew.
 */
#include "steps.h"

static void find(CUstream stream, CUdeviceptr p)
{
	step_on(stream, p, 1, STEP_SIZE);
	CK(cuStreamSynchronize(stream));
	CK(cuMemFree(p));
	REQUIRE(wait_for_report("[finding 1]", 5000));
}

static void damage(CUstream stream, CUdeviceptr p)
{
	long long end = STEP_SIZE, some = 8;

	tk_launch_n(tk_kernel("k_coop"), some, stream, TK_ARGS(&p, &end, &some));
	CK(cuStreamSynchronize(stream));
	for (int i = 0; i < 300; i++) {
		step_on(stream, p, 0, STEP_SIZE);
		CK(cuStreamSynchronize(stream));
	}
	REQUIRE(!is_said("caught]"));
	CK(cuMemFree(p));
}

/* With two frames of a stack one place that allocates, however the loop is built. */
static __attribute__((noinline, noclone)) CUdeviceptr make_one(void)
{
	CUdeviceptr p = make_buffer(STEP_SIZE);

	REQUIRE(p);
	return p;
}

int main(void)
{
	CUstream stream = tk_stream();

	for (int i = 0; i < 2; i++) {
		CUdeviceptr p = make_one();

		if (i)
			damage(stream, p);
		else
			find(stream, p);
	}
}
