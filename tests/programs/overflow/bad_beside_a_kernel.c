// expect: heap-buffer-overflow size 1000 offset +0 in make_buffer
// suspect: k_wait_flip
/* The kernel that overruns a buffer has been running since before that was made, where an earlier one was. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr guess = make_buffer(1000), p;
	volatile int *flag = tk_flags(1);
	long long size = 1000, one = 1;

	CK(cuMemFree(guess));
	tk_launch(tk_kernel("k_wait_flip"), 1, 1, tk_stream(), TK_ARGS(&guess, &size, &one, &flag));
	p = make_buffer(1000);
	REQUIRE(p == guess);
	*flag = 1;
	CK(cuMemFree(p));
}
