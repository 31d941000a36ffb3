// expect: heap-buffer-overflow size 100 offset +0
// options: log_path=report.log:device_guard_us=300000
/*
 * Two bytes behind a kernel's buffer, not next to each other: so many have changed, of a longer run. The kernel that
 * allocated it is no suspect: a guard pass has seen the heap intact since.
 */
#include "inkernel.h"
#include "report_log.h"

int main(void)
{
	CUdeviceptr p = ik_alloc(3, 100);
	long long index = 1, end = 100;

	tk_sync();
	tk_sleep_ms(1000);
	tk_launch(ik_kernel("d_flip_two"), 1, 1, NULL, TK_ARGS(&p, &index, &end));
	tk_sync();
	ik_free(p, 3, 0);
	tk_sync();
	REQUIRE(wait_for_report("2 bytes changed", 5000));
	REQUIRE(!wait_for_report("d_alloc", 1));
}
