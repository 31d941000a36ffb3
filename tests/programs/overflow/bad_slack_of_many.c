// expect: 3 x heap-buffer-overflow size 1000 offset +0 in make_buffer
// suspect: k_flip
// options: log_path=report.log
/* More buffers than the gather looks at together: those whose slack was changed are named, while all of them live. */
#include "make_buffer.h"
#include "report_log.h"

enum { BUFFERS = 400 };

int main(void)
{
	const int overrun[] = {3, 170, 390};
	CUdeviceptr p[BUFFERS];
	int reported;

	/* Without a patrol, which would look at them, too. */
	REQUIRE(!setenv("CUDA_MODULE_LOADING", "EAGER", 1));
	tk_start();
	for (int i = 0; i < BUFFERS; i++)
		p[i] = make_buffer(1000);
	for (int i = 0; i < 3; i++)
		tk_flip(p[overrun[i]], 1000, 1);
	tk_sync();
	reported = wait_for_report("[finding 3]", 10000);
	REQUIRE(reported);
	for (int i = 0; i < BUFFERS; i++)
		CK(cuMemFree(p[i]));
}
