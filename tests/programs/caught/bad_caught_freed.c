// expect: heap-buffer-overflow size 12345 offset +0 in make_buffer
// options: log_path=report.log:backend=device:max_overhead=100:max_reports=1
/*
 * Buffers are freed by another thread, right behind the launches that are looked at and beside them; contexts end with
 * looks on their way. No look reads what is gone.
 */
#include "steps.h"

enum { ROUNDS = 300 };

static CUdeviceptr shared;

static void *free_it(void *unused)
{
	(void)unused;
	CK(cuCtxSetCurrent(tk_context));
	CK(cuMemFree(shared));
	return NULL;
}

static void leave_a_context(void)
{
	CUmodule module = tk_module;
	CUcontext own = tk_new_context();
	CUdeviceptr p = make_buffer(STEP_SIZE);
	CUstream stream = tk_stream();

	for (int i = 0; i < 20; i++)
		step_on(stream, p, 0, STEP_SIZE);
	CK(cuCtxDestroy(own));
	CK(cuCtxSetCurrent(tk_context));
	tk_module = module;
}

int main(void)
{
	CUdeviceptr first = make_buffer(STEP_SIZE);
	CUstream stream = tk_stream();

	REQUIRE(step_until("[finding 1]", stream, first, 1, STEP_SIZE));
	CK(cuMemFree(first));
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t thread;

		shared = make_buffer(STEP_SIZE);
		for (int k = 0; k < 4; k++)
			step_on(stream, shared, 0, STEP_SIZE);
		if (i % 2)
			CK(cuStreamSynchronize(stream));
		thread = tk_begin_thread(free_it, NULL);
		tk_end_thread(thread);
		if (i % 50 == 0)
			leave_a_context();
	}
}
