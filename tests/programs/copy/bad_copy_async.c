// expect: api-out-of-bounds size 4000 in make_buffer
/* An asynchronous copy of two bytes to the last one: refused natively too, and now explained. */
#include "make_buffer.h"

int main(void)
{
	static char host[8192];
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4000);
	EXPECT(cuMemcpyHtoDAsync(p + 3999, host, 2, NULL), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemFree(p));
	return 0;
}
