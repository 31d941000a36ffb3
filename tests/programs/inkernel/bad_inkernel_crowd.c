// expect: 600 x heap-buffer-overflow size 100
// options: max_reports=600:device_guard_us=60000000:log_path=report.log
/*
 * More buffers are overrun at once than the ring of findings has room for: one check says them all, and of each of them
 * who did it.
 */
#include "inkernel.h"
#include "report_log.h"

#include "include/gmod.h"

#pragma weak gmod_device_check

int main(void)
{
	long long count = 600, more = 102;
	CUdeviceptr p = ik_alloc(count, 100);

	tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &more));
	tk_sync();
	REQUIRE(!gmod_device_check || (gmod_device_check() == GMOD_OK && gmod_findings_seen() == 600));
	REQUIRE(!gmod_device_check || wait_for_reports("1. d_fill", 600, 10000));
}
