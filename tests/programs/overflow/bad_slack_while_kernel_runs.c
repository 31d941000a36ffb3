// expect: heap-buffer-overflow size 4000 offset +0 in make_buffer
// suspect: k_flip_and_spin
// options: log_path=report.log
/* As bad_while_kernel_runs, but the changed byte lies in the rounding behind the buffer, on the device. */
#include "make_buffer.h"
#include "report_log.h"

int main(void)
{
	long long off = 4000, count = 1;
	volatile int *go_on;
	CUfunction f;
	CUdeviceptr p;
	int reported;

	tk_start();
	f = tk_kernel("k_flip_and_spin");
	go_on = tk_flag();
	p = make_buffer(4000);
	tk_launch(f, 1, 1, NULL, TK_ARGS(&p, &off, &count, &go_on));
	reported = wait_for_report("heap-buffer-overflow", 10000);
	*go_on = 1;
	tk_sync();
	REQUIRE(reported);
	CK(cuMemFree(p));
	return 0;
}
