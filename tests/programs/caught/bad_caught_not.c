// case: bad_caught_not_asked PLAIN => heap-buffer-overflow size 12345 offset +0 in make_buffer;
//    options: log_path=report.log:backend=device:confirm=0
// case: bad_caught_not_one_way PLAIN => heap-buffer-overflow size 12345 offset +0 in make_buffer;
//    env: CUDA_DEVICE_MAX_CONNECTIONS=1
// case: bad_caught_not_thread PER_THREAD => heap-buffer-overflow size 12345 offset +0 in make_buffer
// case: bad_caught_not_free PLAIN => heap-buffer-overflow size 12345 offset +0 in make_buffer;
//    options: log_path=report.log:backend=device:max_overhead=0
// case: bad_caught_not_unified PLAIN => heap-buffer-overflow size 12345 offset +0 in make_buffer;
//    options: log_path=report.log:backend=unified
// options: log_path=report.log:backend=device
/*
 * Where looks could change the order of the program's work, or cost what nobody wants to pay, there are none: not where
 * all streams share one way, or in a thread's own.
 */
#include "steps.h"

enum kind { PLAIN, PER_THREAD };

static void run(CUdeviceptr p, enum kind kind)
{
	CUstream stream = NULL;
	int caught;

	if (kind == PER_THREAD)
		stream = CU_STREAM_PER_THREAD;
	if (kind == PLAIN)
		stream = tk_stream();
	REQUIRE(step_until("[finding 1]", stream, p, 2, STEP_SIZE));
	for (int i = 0; i < 300; i++) {
		step_on(stream, p, 1, STEP_SIZE);
		CK(cuStreamSynchronize(stream));
		usleep(1000);
	}
	caught = is_said("caught]");
	REQUIRE(!caught);
	CK(cuMemFree(p));
}

int main(void)
{
	CUdeviceptr p = make_buffer(STEP_SIZE);

	run(p, CASE);
}
