// case: bad_inkernel_while_kernel_runs
// case: bad_inkernel_unwatched => options: scan_interval_us=60000000
// expect: heap-buffer-overflow size 100 offset +0
// suspect: d_overflow_and_wait
/*
 * The kernel does not end before the finding is there: the program waits for it and fails without it. The monitor
 * pauses already when the heap is made, for a minute in the last case.
 */
#include "inkernel.h"

int main(void)
{
	volatile int *go_on;
	long long size = 100;
	double end;

	tk_start();
	tk_alloc(100);
	tk_spin(NULL, 1);
	tk_sleep_ms(10);
	CK(cuModuleLoad(&ik_module, ik_file()));
	go_on = tk_flag();
	tk_launch(ik_kernel("d_overflow_and_wait"), 1, 32, NULL, TK_ARGS(&size, &go_on));
	for (end = tk_ms() + 10000; gmod_findings_seen && !gmod_findings_seen() && tk_ms() < end;)
		tk_sleep_ms(1);
	REQUIRE(cuStreamQuery(NULL) == CUDA_ERROR_NOT_READY);
	REQUIRE(gmod_findings_seen && gmod_findings_seen() == 1);
	*go_on = 1;
	tk_sync();
}
