// expect: heap-buffer-overflow size 2097153 offset +10 in make_buffer
// suspect: k_flip
/* Ten bytes past the end, in device memory, of a large buffer that is never freed. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p = make_buffer(2097153);

	tk_sync(); /* the canaries beside it, too, have arrived */
	tk_flip(p, 2097153 + 10, 1);
	tk_sync();
}
