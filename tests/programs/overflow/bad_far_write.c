// expect: heap-buffer-overflow size 3145728 offset +0 in make_buffer
// suspect: k_flip
// under unified: expect: heap-buffer-overflow size 3145728 offset +0 in make_buffer
// under unified: expect: post-mortem
// under unified: exit: 3
/*
 * 5120 bytes past the end of one of two buffers, which natively does no harm: the driver rounds both up to 4 MiB. With
 * backend=unified the pages behind the canary are nobody's.
 */
#include "make_buffer.h"

enum { SIZE = 3 << 20 };

int main(void)
{
	CUdeviceptr p = make_buffer(SIZE), q = make_buffer(SIZE);
	unsigned char byte = 1;

	CK(cuMemsetD8(q, 0, SIZE));
	tk_flip(p, SIZE, 5120);
	tk_sync();
	CK(cuMemcpyDtoH(&byte, q, 1));
	REQUIRE(byte == 0);
	CK(cuMemFree(p));
	CK(cuMemFree(q));
}
