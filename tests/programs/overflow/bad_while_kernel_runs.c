// expect: heap-buffer-overflow size 4096 offset +0 in make_buffer
// suspect: k_flip_and_spin
// options: log_path=report.log
/* The kernel does not end before the report is there: the program waits for it and fails without it. */
#include "make_buffer.h"
#include "report_log.h"

int main(void)
{
	long long off = 4096, count = 4;
	volatile int *go_on;
	CUfunction f;
	CUdeviceptr p;
	int reported;

	tk_start();
	f = tk_kernel("k_flip_and_spin");
	go_on = tk_flag();
	p = make_buffer(4096);
	tk_launch(f, 1, 4, NULL, TK_ARGS(&p, &off, &count, &go_on));
	reported = wait_for_report("heap-buffer-overflow", 10000);
	*go_on = 1;
	tk_sync();
	REQUIRE(reported);
	CK(cuMemFree(p));
	return 0;
}
