// case: bad_then_abort SIGABRT => exit: 134
// case: bad_then_kill SIGKILL => exit: 137
// expect: heap-buffer-overflow size 4096 offset +0 in make_buffer
// suspect: k_flip
// options: log_path=report.log
/* The overflow is found, then the program dies of a signal: what was reported stays reported. */
#include "make_buffer.h"
#include "report_log.h"
#include <signal.h>

int main(void)
{
	CUdeviceptr p = make_buffer(4096);

	tk_flip(p, 4096, 1);
	tk_sync();
	REQUIRE(wait_for_report("SUMMARY", 10000));
	raise(CASE);
}
