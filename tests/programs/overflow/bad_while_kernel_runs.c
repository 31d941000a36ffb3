// case: bad_while_kernel_runs 4096, 4 => heap-buffer-overflow size 4096 offset +0 in make_buffer
// case: bad_slack_while_kernel_runs 4000, 1 => heap-buffer-overflow size 4000 offset +0 in make_buffer
// suspect: k_flip_and_spin
// options: log_path=report.log
/*
 * The kernel does not end before the report is there: the program waits for it and fails without it. The changed bytes
 * lie on the host, or in the rounding behind the buffer, on the device.
 */
#include "make_buffer.h"
#include "report_log.h"

static void overrun(long long size, long long count)
{
	int reported;
	CUfunction f = tk_kernel("k_flip_and_spin");
	volatile int *go_on = tk_flag();
	CUdeviceptr p = make_buffer((size_t)size);

	tk_launch_n(f, count, NULL, TK_ARGS(&p, &size, &count, &go_on));
	reported = wait_for_report("heap-buffer-overflow", 10000);
	*go_on = 1;
	tk_sync();
	REQUIRE(reported);
	CK(cuMemFree(p));
}

int main(void)
{
	tk_start();
	overrun(CASE);
}
