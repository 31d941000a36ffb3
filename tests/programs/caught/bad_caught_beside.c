// expect: heap-buffer-overflow size 12345 offset +0 in make_buffer
// says: heap-buffer-overflow: caught: k_fill
// options: log_path=report.log:backend=device
/* A kernel that nobody waits for runs in another stream all the time: it may have done it as well, and that is said. */
#include "steps.h"

int main(void)
{
	CUdeviceptr p = make_buffer(STEP_SIZE);
	volatile int *flag = tk_flag();
	CUstream other = tk_stream();
	long long from = 0, count = 1;
	int caught;

	tk_launch(tk_kernel("k_wait_flip"), 1, 1, other, TK_ARGS(&p, &from, &count, &flag));
	caught = step_until("or what ran beside it", tk_stream(), p, 5, STEP_SIZE);
	REQUIRE(caught);
	*flag = 1;
	CK(cuStreamSynchronize(other));
	CK(cuMemFree(p));
}
