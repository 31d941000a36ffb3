// expect: heap-buffer-overflow size 12345 offset +4000 in make_buffer
// first: k_flip x1
// options: log_path=report.log:backend=device
/*
 * 4000 bytes past the end of a small buffer that lives on. A round of the patrol looks there once in a while: kernels
 * that were done long before are no suspects.
 */
#include <unistd.h>

#include "make_buffer.h"
#include "report_log.h"

enum { BEFORE = 20, BETWEEN = 400, BEHIND = 10 };

static void work(const char *kernel, void **arguments, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		tk_launch_n(tk_kernel(kernel), 64, NULL, arguments);
		tk_sync();
		usleep(1000);
	}
}

int main(void)
{
	long long first = 0, stride = 1, count = 64;
	CUdeviceptr p, other;
	int reported, value = 5;

	tk_start();
	other = make_buffer(64);
	p = make_buffer(12345); /* nothing lies behind it */
	work("k_fill", TK_ARGS(&other, &first, &count, &value), BEFORE);
	work("k_stride", TK_ARGS(&other, &first, &stride, &count), BETWEEN);
	tk_flip(p, 12345 + 4000, 1);
	tk_sync();
	work("k_stride", TK_ARGS(&other, &first, &stride, &count), BEHIND);
	reported = wait_for_report("[finding 1]", 10000);
	REQUIRE(reported);
	CK(cuMemFree(p));
	CK(cuMemFree(other));
}
