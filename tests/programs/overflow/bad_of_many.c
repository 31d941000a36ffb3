// expect: heap-buffer-overflow size 100 offset +0 in make_buffer
// first: k_fill x1
// options: log_path=report.log:backend=device
/*
 * One of more buffers than the patrol shows to the device at a time. Where the driver refuses the rest of the list, no
 * round has seen this one intact.
 */
#include "flip_rounds.h"
#include "make_buffer.h"
#include "report_log.h"

enum { BUFFERS = 5000, ROUNDS = 200 };

int main(void)
{
	static CUdeviceptr p[BUFFERS];
	long long end = 100, count = 8;
	int reported, value = 0; /* no byte of a canary is 0 */

	tk_start();
	for (int i = 0; i < BUFFERS; i++)
		p[i] = make_buffer(100);
	flip_rounds(p[0], ROUNDS);
	tk_launch_n(tk_kernel("k_fill"), 64, NULL, TK_ARGS(&p[BUFFERS - 1], &end, &count, &value));
	tk_sync();
	flip_rounds(p[0], ROUNDS);
	reported = wait_for_report("[finding 1]", 10000);
	REQUIRE(reported);
	for (int i = 0; i < BUFFERS; i++)
		CK(cuMemFree(p[i]));
}
