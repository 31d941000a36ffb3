// expect: api-out-of-bounds size 4000 in make_buffer
/* A copy to the host, from inside the buffer to past its end: refused natively too, and now explained. */
#include "make_buffer.h"

int main(void)
{
	static char host[8192];
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4000);
	EXPECT(cuMemcpyDtoH(host, p + 100, 3901), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemFree(p));
	return 0;
}
