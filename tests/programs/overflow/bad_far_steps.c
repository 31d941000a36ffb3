// expect: heap-buffer-overflow size 12345 offset +300 in make_buffer
// first: k_stride x1
// options: log_path=report.log:backend=device
/*
 * Two bytes far behind a small buffer, by one kernel. Rounds of the patrol that look at what lies between them do not
 * say that the bytes were intact.
 */
#include "flip_rounds.h"
#include "make_buffer.h"
#include "report_log.h"

enum { BEFORE = 40, BEHIND = 200 };

int main(void)
{
	long long first = 12345 + 300, stride = 3600, count = 2;
	CUdeviceptr p, other;
	int reported;

	tk_start();
	other = make_buffer(64);
	p = make_buffer(12345); /* nothing lies behind it */
	flip_rounds(other, BEFORE);
	tk_launch_n(tk_kernel("k_stride"), 2, NULL, TK_ARGS(&p, &first, &stride, &count));
	tk_sync();
	flip_rounds(other, BEHIND);
	reported = wait_for_report("[finding 1]", 10000);
	REQUIRE(reported);
	CK(cuMemFree(p));
	CK(cuMemFree(other));
}
