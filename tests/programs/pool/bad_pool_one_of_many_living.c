// options: max_overhead=100:log_path=report.log
// expect: heap-buffer-overflow size 1000 offset +0 in make_pooled
// suspect: k_flip
/* One of 128 buffers that live as long as the program is overrun. It is found while they live and the device is in use:
 * each has its turn. */
#include "pooled.h"
#include "report_log.h"

enum { COUNT = 128, OVERRUN = 77 };

int main(void)
{
	CUstream stream = tk_stream();
	CUdeviceptr p[COUNT];
	double end;

	for (int i = 0; i < COUNT; i++) {
		p[i] = make_pooled(SIZE, stream);
		flip_end(p[i], SIZE, stream, i == OVERRUN);
	}
	CK(cuStreamSynchronize(stream));
	end = tk_ms() + 5000;
	for (int i = 0; tk_ms() < end && !wait_for_report("past the end", 1); i = (i + 1) % COUNT) {
		flip_end(p[i], SIZE, stream, 0);
		CK(cuStreamSynchronize(stream));
	}
	REQUIRE(wait_for_report("past the end", 1));
	tk_sync();
}
