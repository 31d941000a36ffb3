// expect: heap-buffer-overflow size 4096 offset +8 in make_buffer
// suspect: k_flip_and_spin
// options: log_path=report.log
/* First one byte; when that has been seen, while the first kernel still runs, another one nearer to the end: one final
 * report, of both, which does not wait for the kernel either. */
#include "make_buffer.h"
#include "report_log.h"

int main(void)
{
	long long off = 4096 + 40, count = 1;
	int reported;
	CUfunction f = tk_kernel("k_flip_and_spin");
	volatile int *go_on = tk_flag();
	CUstream first = tk_stream();
	CUstream second = tk_stream();
	CUdeviceptr p = make_buffer(4096);
	double seen;

	tk_kernel("k_flip");
	tk_launch(f, 1, 1, first, TK_ARGS(&p, &off, &count, &go_on));
	REQUIRE(wait_for_report("40 bytes past the end of a 4096-byte buffer [finding 1, provisional", 10000));
	seen = tk_ms();
	tk_flip_on(second, p, 4096 + 8, 1);
	CK(cuStreamSynchronize(second));
	if (tk_ms() - seen > 60) {
		/* A report is final after 100 ms. */
		*go_on = 1;
		tk_sync();
		tk_skip("this machine is too busy");
	}
	reported = wait_for_report("SUMMARY", 10000);
	*go_on = 1;
	tk_sync();
	REQUIRE(reported);
	CK(cuMemFree(p));
}
