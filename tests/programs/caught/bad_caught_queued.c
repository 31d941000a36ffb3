// expect: heap-buffer-overflow size 12345 offset +0 in make_buffer
// options: log_path=report.log:backend=device:max_overhead=100
// limit: 120
/*
 * After the finding a stream holds as many launches as it takes behind a kernel that waits for the host: a look that
 * added without end to what is queued would make the launching thread wait, and the host would never let them go.
 */
#include "steps.h"

enum { QUEUED = 900 };

int main(void)
{
	CUdeviceptr p = make_buffer(STEP_SIZE);
	volatile int *flag = tk_flag();
	CUstream stream = tk_stream();
	long long from = 0, count = 1;

	REQUIRE(step_until("[finding 1]", stream, p, 1, STEP_SIZE));
	for (int round = 0; round < 20; round++) {
		*flag = 0;
		tk_launch(tk_kernel("k_wait_flip"), 1, 1, stream, TK_ARGS(&p, &from, &count, &flag));
		for (int i = 0; i < QUEUED / 3; i++)
			step_on(stream, p, 0, STEP_SIZE);
		*flag = 1;
		CK(cuStreamSynchronize(stream));
	}
	CK(cuMemFree(p));
}
