// expect: heap-buffer-underflow size 1000 offset -8 in make_buffer
// suspect: k_flip
// options: sample_rate=2
// under device: options: sample_rate=1
/* Before a buffer; the one in front of it is native where the backend does not need it. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr first = make_buffer(1000), second = make_buffer(1000), third = make_buffer(1000);

	tk_flip(third, -8, 8);
	tk_sync();
	CK(cuMemFree(first));
	CK(cuMemFree(second));
	CK(cuMemFree(third));
}
