// expect: 4 x heap-buffer-overflow size 4095 in make_buffer
// expect: 4 x heap-buffer-overflow size 1001 in make_buffer
// suspect: k_flip
/* The last byte of what lies behind a buffer of an odd size, and the first one; and none. */
#include "make_buffer.h"

static void overrun(size_t size, size_t to)
{
	for (int i = 0; i < 4; i++) {
		CUdeviceptr p = make_buffer(size);

		tk_flip(p, i % 2 ? (long long)size : (long long)to - 1, 1);
		CK(cuMemFree(p));
	}
}

int main(void)
{
	CUdeviceptr p;

	overrun(4095, 4608);
	overrun(1001, 1536);
	p = make_buffer(777);
	tk_flip(p, 776, 1);
	CK(cuMemFree(p));
}
