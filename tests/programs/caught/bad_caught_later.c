// expect: heap-buffer-overflow size 12345 offset +0 in make_buffer
// says: heap-buffer-overflow: caught: k_fill
// options: log_path=report.log:backend=device:max_reports=1
/* Each step has a buffer of its own, which is gone when its damage is told: a later one of that place shows who did it.
 */
#include "steps.h"

int main(void)
{
	CUstream stream = tk_stream();
	int caught = 0;

	for (int i = 0; i < STEPS && !caught; i++) {
		CUdeviceptr p = make_buffer(STEP_SIZE);

		for (int k = 0; k < 3; k++)
			step_on(stream, p, i % 3 == 0 && k == 1, STEP_SIZE);
		CK(cuStreamSynchronize(stream));
		usleep(1000);
		CK(cuMemFree(p));
		caught = i % 20 == 0 && is_said("caught]");
	}
	REQUIRE(caught);
}
