// options: max_overhead=100:log_path=report.log
// expect: heap-buffer-overflow size 1000 offset +0 in make_pooled
// suspect: k_flip
/*
 * The monitor comes to a buffer before its fill has. It is looked at as soon as it may be, not by the heartbeat of 1 s
 * that the monitor has where nothing more happens.
 */
#include "pooled.h"
#include "report_log.h"

int main(void)
{
	CUstream stream = tk_stream();
	volatile int *flag = hold(stream);
	CUdeviceptr p = make_pooled(SIZE, stream);

	flip_end(p, SIZE, stream, 1);
	tk_sleep_ms(50);
	*flag = 1;
	CK(cuStreamSynchronize(stream));
	REQUIRE(wait_for_report("past the end", 800));
	CK(cuMemFreeAsync(p, stream));
	tk_sync();
}
