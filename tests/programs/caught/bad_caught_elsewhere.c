// expect: heap-buffer-overflow size 12345 offset +0 in make_buffer
// options: log_path=report.log:backend=device:max_overhead=100
/* After the finding the same kernels are launched in another context: no look at the buffer goes there. */
#include "steps.h"

int main(void)
{
	CUdeviceptr p = make_buffer(STEP_SIZE), other;
	CUmodule module;
	CUcontext own;
	int caught;
	CUstream stream = tk_stream();

	REQUIRE(step_until("[finding 1]", stream, p, 2, STEP_SIZE));
	CK(cuMemcpyDtoD(p, p + 64, 64)); /* nothing is under way */
	tk_sleep_ms(100);
	caught = is_said("caught]");
	module = tk_module;
	own = tk_new_context();
	CK(cuMemAlloc(&other, 2 * STEP_SIZE));
	stream = tk_stream();
	for (int i = 0; i < 300; i++) {
		step_on(stream, other, 1, STEP_SIZE);
		CK(cuStreamSynchronize(stream));
	}
	REQUIRE(is_said("caught]") == caught);
	CK(cuMemFree(other));
	CK(cuCtxDestroy(own));
	CK(cuCtxSetCurrent(tk_context));
	tk_module = module;
	CK(cuMemFree(p));
}
