// expect: heap-buffer-overflow size 12345 offset +0 in make_buffer
// options: log_path=report.log:backend=device
/*
 * Several threads launch into streams of their own, and only one of them does harm: whoever is named alone is that
 * one's kernel.
 */
#include "steps.h"

static CUdeviceptr p;
static atomic_int stop;

static void *launch(void *number)
{
	CUstream stream;

	CK(cuCtxSetCurrent(tk_context));
	stream = tk_stream();
	for (int i = 0; i < STEPS && !stop; i++) {
		step_on(stream, p, !number && i % 3 == 0, STEP_SIZE);
		CK(cuStreamSynchronize(stream));
		usleep(500);
		if (!number && i % 20 == 0 && is_said("caught]"))
			stop = 1;
	}
	return NULL;
}

int main(void)
{
	p = make_buffer(STEP_SIZE);
	tk_in_threads(3, launch);
	REQUIRE(stop);
	REQUIRE(!is_caught_alone("k_flip"));
	REQUIRE(!is_caught_alone("k_stride"));
	CK(cuMemFree(p));
}
