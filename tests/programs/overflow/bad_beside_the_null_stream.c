// expect: heap-buffer-overflow size 1000 offset +0 in make_buffer
// suspect: k_flip
// options: log_path=report.log
/*
 * The default stream waits for the host while a buffer is made, overrun on another stream, and reported: neither the
 * canaries nor the look at them go through the default stream.
 */
#include "make_buffer.h"
#include "report_log.h"

int main(void)
{
	CUdeviceptr first = make_buffer(1000), p;
	volatile int *flag = tk_flag();
	long long zero = 0, one = 1;
	CUstream stream = tk_stream();
	int early, reported;

	/* Its code is loaded: that would wait for whatever runs. */
	tk_flip_on(stream, first, 0, 1);
	CK(cuStreamSynchronize(stream));
	tk_launch(tk_kernel("k_wait_flip"), 1, 1, NULL, TK_ARGS(&first, &zero, &one, &flag));
	p = make_buffer(1000);
	early = wait_for_report("[finding 1", 100);
	tk_flip_on(stream, p, 1000, 1);
	CK(cuStreamSynchronize(stream));
	reported = wait_for_report("[finding 1", 5000);
	*flag = 1;
	tk_sync();
	REQUIRE(!early && reported);
	CK(cuMemFree(p));
}
