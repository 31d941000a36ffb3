// case: bad_static_tls_504 504
// case: bad_static_tls_600 600
// expect: heap-buffer-overflow size 4096 offset +0 in make_buffer
// suspect: k_flip
// options: log_path=report.log
/*
 * KiB of static thread-local storage, which come off each thread's stack: the overflow is seen while it runs. The first
 * leaves of the half MiB that is ours what a thread begins with, and too little to look at a damage.
 */
#include "make_buffer.h"
#include "report_log.h"

static __thread volatile char storage[CASE << 10];

int main(void)
{
	CUdeviceptr p;

	storage[0] = 1;
	tk_start();
	p = make_buffer(4096);
	tk_flip(p, 4096, 1);
	tk_sync();
	REQUIRE(wait_for_report("SUMMARY", 10000));
	return storage[1];
}
