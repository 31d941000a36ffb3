// expect: heap-buffer-overflow size 12345 offset +0 in make_buffer
// options: log_path=report.log:backend=device:scan_interval_us=60000000:max_overhead=100
/*
 * The damage is found when the buffer is freed, and no other one comes from that place. What lies there next is not
 * written to when the suspects are launched again.
 */
#include "steps.h"

static CUdeviceptr make_other(void)
{
	CUdeviceptr p;

	CK(cuMemAlloc(&p, 2 * STEP_SIZE));
	return p;
}

int main(void)
{
	static unsigned char bytes[2 * STEP_SIZE];
	CUstream stream = tk_stream();
	CUdeviceptr p = make_buffer(STEP_SIZE), other;

	step_on(stream, p, 1, STEP_SIZE);
	CK(cuStreamSynchronize(stream));
	CK(cuMemFree(p));
	REQUIRE(wait_for_report("[finding 1]", 5000));
	other = make_other();
	CK(cuMemsetD8(other, 0, sizeof(bytes)));
	for (int i = 0; i < 300; i++) {
		step_on(stream, other + 64, 0, STEP_SIZE);
		CK(cuStreamSynchronize(stream));
	}
	CK(cuMemcpyDtoH(bytes, other + STEP_SIZE, STEP_SIZE));
	for (int i = 0; i < STEP_SIZE; i++)
		REQUIRE(!bytes[i]);
	CK(cuMemFree(other));
}
