// expect: heap-buffer-overflow size 12345 offset +7 in make_buffer
// options: log_path=report.log:backend=device:max_overhead=100
/*
 * Two threads launch into one stream, and what one of them launches does harm between the looks around the kernel of
 * the other one, which is never named alone.
 */
#include "steps.h"

static CUdeviceptr p;
static CUstream stream;
static atomic_int told, stop;

static void *launch(void *number)
{
	long long at = STEP_SIZE + 7, some = 8;
	double end = tk_ms() + 4000;
	int value = 0; /* no byte of a canary is 0 */

	CK(cuCtxSetCurrent(tk_context));
	for (int i = 0; tk_ms() < end && !stop; i++) {
		if (number && told)
			tk_launch(tk_kernel("k_store16"), 1, 1, stream, TK_ARGS(&p, &at));
		else if (number && !i)
			tk_launch_n(tk_kernel("k_fill"), 64, stream, TK_ARGS(&p, &at, &some, &value));
		else if (!number)
			tk_flip_on(stream, p, 0, 64);
		if (i % 64 == 0)
			CK(cuStreamSynchronize(stream));
		if (!number && i % 200 == 0) {
			told = told || is_said("[finding 1]");
			stop = is_caught_alone("k_flip");
		}
	}
	stop = 1;
	return NULL;
}

int main(void)
{
	stream = tk_stream();
	p = make_buffer(STEP_SIZE);
	tk_in_threads(2, launch);
	REQUIRE(!is_caught_alone("k_flip"));
	CK(cuMemFree(p));
}
